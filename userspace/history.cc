// SPDX-License-Identifier: GPL-2.0-only
#include "history.h"

#include <algorithm>
#include <unordered_map>

#include <spdlog/fmt/fmt.h>

namespace pctctl {
namespace {

// Has user code run between two looks at a thread in the same turn?
//
// Besides signals and rseq aborts, which the witness announces (ALTERED), the kernel changes the
// saved registers when it restarts an interrupted system call: ip goes back over the two bytes of
// the instruction. Others are system calls made to set registers (rt_sigreturn, execve) and the
// emulation of a probed instruction; all of these happen between user code and its next scheduling,
// in one turn. A thread that is given the CPU and sent away again before it returns to user mode
// does not leave the kernel's scheduler in between, so it gets to none of these places.
bool user_code_between(const pct_witness_record& before, const pct_witness_record& after) {
    if (before.user_state != after.user_state)
        return true;
    return before.ip != after.ip && before.ip - 2 != after.ip;
}

bool is_on_cpu(const pct_witness_record& record) {
    switch (record.type) {
    case PCT_WITNESS_OUT:
    case PCT_WITNESS_EXIT:
    case PCT_WITNESS_ALTERED:
        return true;
    default:
        return false;
    }
}

} // namespace

// What is known of a task while the records are read.
struct History::Life {
    std::size_t thread = none;
    std::size_t turn = none; // the one it is in
    const pct_witness_record* looked =
        nullptr; // its registers when last seen unaltered in the turn
    bool exiting = false;
};

History::History(std::span<const pct_event> log, std::span<const pct_witness_record> records) {
    read_threads(log);
    if (!flaws_.empty())
        return;
    merge(log, records);
    ascribe();
}

void History::read_threads(std::span<const pct_event> log) {
    const auto is_thread = [](const pct_event& e) { return e.type == PCT_EVENT_THREAD; };
    threads_.resize(static_cast<std::size_t>(std::ranges::count_if(log, is_thread)));
    for (const pct_event& event : log) {
        if (event.thread >= threads_.size())
            flaws_.push_back(
                fmt::format("the log speaks of thread {}, which it never created", event.thread));
        else if (!is_thread(event))
            continue;
        else if (threads_[event.thread].created)
            flaws_.push_back(fmt::format("the log creates thread {} twice", event.thread));
        else {
            threads_[event.thread].created = &event;
            threads_[event.thread].pid = static_cast<std::uint32_t>(event.pid);
        }
    }
    if (threads_.empty())
        flaws_.push_back("the log has no thread");
}

// By time alone: within one CPU it grows, and between CPUs it follows the locks (see
// strictness.cc). At equal times nothing is known; the log goes first, which demands less of the
// scheduler.
void History::merge(std::span<const pct_event> log, std::span<const pct_witness_record> records) {
    moments_.reserve(log.size() + records.size());
    for (const pct_event& event : log)
        moments_.push_back({.time_ns = event.time_ns, .event = &event, .thread = event.thread});
    for (const pct_witness_record& record : records)
        moments_.push_back({.time_ns = record.time_ns, .record = &record});
    std::ranges::stable_sort(moments_, {}, &Moment::time_ns);
}

void History::ascribe() {
    std::unordered_map<std::uint64_t, Life> lives; // by pct_witness_record.task
    std::vector<std::size_t> turn_of(threads_.size(), none);
    // The log's threads by pid, latest last: a pid may be used again.
    std::unordered_map<std::uint32_t, std::vector<std::size_t>> unborn;

    const auto begin_turn = [&](Life& life) {
        life.turn = turns_.size();
        turns_.push_back({.thread = life.thread});
        if (life.thread < turn_of.size())
            turn_of[life.thread] = life.turn;
    };
    const auto end_turn = [&](Life& life) {
        life.turn = none;
        life.looked = nullptr;
        if (life.thread < turn_of.size())
            turn_of[life.thread] = none;
    };
    const auto look = [&](Life& life, const pct_witness_record& record) {
        if (life.turn != none && life.looked && user_code_between(*life.looked, record))
            turns_[life.turn].user_code = true;
    };
    const auto born = [&](const pct_witness_record& record, std::size_t creator) {
        std::vector<std::size_t>& candidates = unborn[record.pid];
        std::size_t thread = threads_.size();
        if (candidates.empty()) {
            threads_.emplace_back();
        } else {
            thread = candidates.back();
            candidates.clear(); // the others were creations that failed
        }
        threads_[thread].pid = record.pid;
        threads_[thread].creator = creator;
        threads_[thread].controlled = record.controlled;
        lives[record.task] = {.thread = thread};
    };
    // The first thread was not created by the run; it is known by its id.
    const auto find = [&](std::uint64_t task, std::uint32_t pid, bool on_cpu) -> Life* {
        if (const auto known = lives.find(task); known != lives.end())
            return &known->second;
        if (pid != threads_[0].pid || threads_[0].seen)
            return nullptr;
        Life& first = lives[task] = {.thread = 0};
        threads_[0].seen = true;
        if (on_cpu) {
            threads_[0].starts_on_cpu = true;
            begin_turn(first);
            turns_[first.turn].user_code = true;
        }
        return &first;
    };

    for (Moment& moment : moments_) {
        if (moment.event) {
            const pct_event& event = *moment.event;
            if (event.type == PCT_EVENT_THREAD && event.thread != 0)
                unborn[static_cast<std::uint32_t>(event.pid)].push_back(event.thread);
            // To arrive at a step takes user code, at the latest in the turn before; but counting
            // it is an action of the thread in this one.
            moment.turn = turn_of[event.thread];
            if (event.type == PCT_EVENT_STEP && moment.turn != none)
                turns_[moment.turn].user_code = true;
            continue;
        }

        const pct_witness_record& record = *moment.record;
        if (record.type == PCT_WITNESS_FORK) {
            lives.erase(record.task); // whoever had that address before
            if (const Life* creator = find(record.parent, record.parent_pid, true))
                born(record, creator->thread);
        }
        Life* life = find(record.task, record.pid, is_on_cpu(record));
        if (!life)
            continue;
        threads_[life->thread].seen = true;
        moment.thread = life->thread;
        switch (record.type) {
        case PCT_WITNESS_IN:
            begin_turn(*life);
            life->looked = &record;
            break;
        case PCT_WITNESS_ALTERED:
            look(*life, record);
            life->looked = nullptr;
            break;
        case PCT_WITNESS_EXIT:
            life->exiting = true;
            break;
        case PCT_WITNESS_OUT:
            look(*life, record);
            break;
        default:
            break;
        }
        moment.turn = life->turn;
        if (record.type == PCT_WITNESS_OUT) {
            end_turn(*life);
            if (life->exiting && !record.ready)
                lives.erase(record.task);
        }
    }
    std::erase_if(moments_, [](const Moment& m) { return m.thread == none; });
}

} // namespace pctctl
