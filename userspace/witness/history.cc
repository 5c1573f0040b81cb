// SPDX-License-Identifier: GPL-2.0-only
#include "witness/history.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "pctctl/points.h"

namespace pctctl {
namespace {

class Reader {
public:
    History read(std::span<const pct_event> log, std::span<const pct_witness_record> records) {
        read_threads(log);
        if (history_.flaws.empty()) {
            merge(log, records);
            turn_of_.resize(history_.threads.size(), History::kNone);
            find_first_thread();
            for (History::Moment& moment : history_.moments)
                moment.event ? on_event(moment) : on_record(moment);
            std::erase_if(history_.moments,
                          [](const auto& m) { return m.thread == History::kNone; });
        }
        return std::move(history_);
    }

private:
    // What is known of a task while it lives.
    struct Life {
        std::size_t thread = History::kNone;
        std::size_t turn = History::kNone; // the one that it is in
        std::uint64_t user_state = 0;      // pct_witness_record.user_state when that began
    };

    void read_threads(std::span<const pct_event> log) {
        const auto is_thread = [](const pct_event& e) { return e.type == PCT_EVENT_THREAD; };
        std::vector<History::Thread>& threads = history_.threads;
        threads.resize(static_cast<std::size_t>(std::ranges::count_if(log, is_thread)));
        for (const pct_event& event : log) {
            if (event.thread >= threads.size()) {
                flaw(fmt::format("the log speaks of thread {}, which it never created",
                                 event.thread));
            } else if (is_thread(event)) {
                History::Thread& thread = threads[event.thread];
                if (std::exchange(thread.created, &event))
                    flaw(fmt::format("the log creates thread {} twice", event.thread));
                thread.pid = static_cast<std::uint32_t>(event.pid);
            }
        }
        if (threads.empty())
            flaw("the log has no thread");
    }

    void flaw(std::string text) { history_.flaws.push_back(std::move(text)); }

    // The order is that of the times alone. On one CPU they grow; between CPUs they follow the
    // kernel's locks (see strictness.cc). Of equal times the log's comes first, which demands less
    // of the scheduler.
    void merge(std::span<const pct_event> log, std::span<const pct_witness_record> records) {
        std::vector<History::Moment>& moments = history_.moments;
        moments.reserve(log.size() + records.size());
        for (const pct_event& event : log)
            moments.push_back({.time_ns = event.time_ns, .event = &event, .thread = event.thread});
        for (const pct_witness_record& record : records)
            moments.push_back({.time_ns = record.time_ns, .record = &record});
        std::ranges::stable_sort(moments, {}, &History::Moment::time_ns);
    }

    // Another process creates the run's first thread, so there may be no record of that. The thread
    // is found by its pid.
    void find_first_thread() {
        History::Thread& thread = history_.threads[0];
        for (const History::Moment& moment : history_.moments) {
            const pct_witness_record* record = moment.record;
            if (!record)
                continue;
            const bool creates =
                record->type == PCT_WITNESS_NEW && record->parent_pid == thread.pid;
            if (!creates && record->pid != thread.pid)
                continue;
            Life& life = lives_[creates ? record->parent : record->task] = {.thread = 0};
            thread.starts_on_cpu = creates || record->type == PCT_WITNESS_OUT;
            if (thread.starts_on_cpu) {
                begin_turn(life);
                history_.turns[life.turn].user_code = true;
            }
            return;
        }
    }

    void on_event(History::Moment& moment) {
        const pct_event& event = *moment.event;
        // At its beginning a thread arrives while its creator makes it.
        const bool begins = event.type == PCT_EVENT_STEP && event.kind == PCT_KIND_BEGIN;
        moment.turn = turn_of(begins ? event.parent : event.thread);
        if (event.type == PCT_EVENT_THREAD && event.thread != 0) {
            unborn_[static_cast<std::uint32_t>(event.pid)].push_back(event.thread);
            const std::size_t turn = turn_of(event.parent);
            history_.threads[event.thread].not_before_ns =
                turn == History::kNone ? event.time_ns : history_.turns[turn].last_sign_ns;
        }
        // The thread may have arrived at the step in an earlier turn. It executes it in this one.
        if (event.type == PCT_EVENT_STEP && moment.turn != History::kNone) {
            history_.turns[moment.turn].user_code = true;
            history_.turns[moment.turn].last_sign_ns = event.time_ns;
        }
    }

    void on_record(History::Moment& moment) {
        const pct_witness_record& record = *moment.record;
        if (record.type == PCT_WITNESS_NEW)
            on_new(record);
        const auto known = lives_.find(record.task);
        if (known == lives_.end())
            return; // of another run
        Life& life = known->second;
        moment.thread = life.thread;
        if (record.type == PCT_WITNESS_IN) {
            begin_turn(life);
            history_.turns[life.turn].last_sign_ns = record.time_ns;
            life.user_state = record.user_state;
        }
        moment.turn = life.turn;
        if (record.type == PCT_WITNESS_OUT) {
            if (life.turn != History::kNone) {
                History::Turn& turn = history_.turns[life.turn];
                turn.user_code |= life.user_state != record.user_state;
                turn.slept = !record.ready;
            }
            end_turn(life);
            if (record.exiting && !record.ready)
                lives_.erase(known);
        }
    }

    // The log tells of a thread before its record. If it tells of several with this pid, then the
    // creation of all but the last failed, and the kernel used the pid again.
    void on_new(const pct_witness_record& record) {
        lives_.erase(record.task); // of an ended thread whose address is used again
        const auto creator = lives_.find(record.parent);
        if (creator == lives_.end())
            return;
        std::vector<History::Thread>& threads = history_.threads;
        std::vector<std::size_t>& candidates = unborn_[record.pid];
        std::size_t index = threads.size();
        if (candidates.empty())
            threads.emplace_back();
        else
            index = candidates.back();
        candidates.clear();
        threads[index].pid = record.pid;
        threads[index].creator = creator->second.thread;
        threads[index].controlled = record.controlled;
        lives_[record.task] = {.thread = index};
    }

    std::size_t turn_of(std::size_t thread) const {
        return thread < turn_of_.size() ? turn_of_[thread] : History::kNone;
    }

    void begin_turn(Life& life) {
        life.turn = history_.turns.size();
        history_.turns.push_back({.thread = life.thread});
        if (life.thread < turn_of_.size())
            turn_of_[life.thread] = life.turn;
    }

    void end_turn(Life& life) {
        life.turn = History::kNone;
        if (life.thread < turn_of_.size())
            turn_of_[life.thread] = History::kNone;
    }

    History history_;
    std::unordered_map<std::uint64_t, Life> lives_; // by pct_witness_record.task
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> unborn_; // by pid
    std::vector<std::size_t> turn_of_; // the turn each of the log's threads is in
};

} // namespace

std::string History::name(std::size_t thread) const {
    return fmt::format("thread {} (pid {})", thread, threads[thread].pid);
}

History read_history(std::span<const pct_event> log, std::span<const pct_witness_record> records) {
    return Reader().read(log, records);
}

} // namespace pctctl
