// SPDX-License-Identifier: GPL-2.0-only
// The threads of a random history, with what the scheduler's log and the witness record about them.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <vector>

#include "pct.h"
#include "pctctl/identity.h"
#include "witness/strictness.h"

namespace pctctl::test {

enum class Fault {
    none,
    any_thread,       // the scheduler chooses any ready thread
    no_change_points, // a thread does not give way at its change point
    no_demotions,     // it does not give way when it is demoted at a step
    no_wake_ups,      // nor to threads that become ready while it runs
    two_cpus,         // another thread executes on the other CPU meanwhile
    starved_run,      // a starved thread executes when it is passed through a CPU
    drops_thread,     // the log lacks a thread
    drops_step,       // the log lacks a step
    wrong_priority,   // a thread has a priority that the seed does not give
};

// Once faults() > 0, the fault has had an effect, and a checker has to see it.
class SimulatedThreads {
public:
    int faults() const { return faults_; }
    StrictnessReport check() const {
        return check_strictness(
            {.seed = seed_, .algorithm = {.depth = depth_}, .log = log_, .records = records_});
    }

protected:
    SimulatedThreads(std::uint32_t seed, Fault fault) : random_(seed), fault_(fault) {}

    struct Thread {
        std::uint32_t parent;
        std::uint32_t ordinal;
        std::uint64_t identity;
        std::uint64_t priority;
        std::uint64_t task;
        std::uint64_t registers = 1;
        std::uint32_t children = 0;
        std::uint32_t cpu = 0;
        bool ready = false;
        bool known = false; // was ready at the last step or when the last thread was chosen
        bool gone = false;
        bool reported = true;
    };

    std::uint32_t below(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
    bool chance(std::uint32_t n) { return below(n) == 0; } // one in n
    void pass_time() { now_ += 1 + below(1000); }

    void add_thread(std::uint32_t parent, std::uint32_t ordinal, std::uint64_t identity) {
        const auto index = static_cast<std::uint32_t>(threads_.size());
        threads_.push_back({.parent = parent,
                            .ordinal = ordinal,
                            .identity = identity,
                            .priority = pct_initial_priority(seed_.stream, identity, 0),
                            .task = 0x1000 + 64 * index});
        if (index > 0 && fault_ == Fault::drops_thread && chance(8)) {
            threads_[index].reported = false;
            return;
        }
        if (index > 0 && fault_ == Fault::wrong_priority && chance(8)) {
            threads_[index].priority ^= 1;
            faults_++;
        }
        event(index, PCT_EVENT_THREAD);
    }

    pct_event& event(std::uint32_t thread, std::uint32_t type) {
        static pct_event unreported;
        pass_time();
        pct_event& e = threads_[thread].reported ? log_.emplace_back() : unreported;
        e.time_ns = now_;
        e.type = type;
        e.thread = log_index(thread);
        e.pid = static_cast<int>(500 + thread);
        e.identity = threads_[thread].identity;
        e.priority = threads_[thread].priority;
        e.parent = log_index(threads_[thread].parent);
        e.ordinal = threads_[thread].ordinal;
        return e;
    }

    // Threads that the scheduler does not know have no index in its log.
    std::uint32_t log_index(std::uint32_t thread) const {
        return static_cast<std::uint32_t>(
            std::count_if(threads_.begin(), threads_.begin() + thread,
                          [](const Thread& t) { return t.reported; }));
    }

    pct_witness_record& record(std::uint32_t thread, std::uint8_t type, std::uint32_t cpu) {
        pass_time();
        pct_witness_record& r = records_.emplace_back();
        r.time_ns = now_;
        r.task = threads_[thread].task;
        r.pid = 500 + thread;
        r.cpu = cpu;
        r.type = type;
        return r;
    }

    void look(std::uint32_t thread, std::uint8_t type) {
        pct_witness_record& r = record(thread, type, threads_[thread].cpu);
        r.user_state = threads_[thread].registers;
    }
    void in(std::uint32_t thread) { look(thread, PCT_WITNESS_IN); }
    void out(std::uint32_t thread, bool ready) {
        look(thread, PCT_WITNESS_OUT);
        records_.back().ready = ready;
        threads_[thread].ready = ready;
        threads_[thread].known &= ready;
    }
    void user_code(std::uint32_t thread) { threads_[thread].registers += 1 + below(5); }

    bool over() const {
        return std::ranges::all_of(threads_, [](const Thread& t) { return t.gone; });
    }
    std::uint32_t best(std::uint32_t except = ~0u) const {
        std::uint32_t result = ~0u;
        for (std::uint32_t i = 0; i < threads_.size(); i++)
            if (i != except && threads_[i].ready &&
                (result == ~0u || threads_[i].priority > threads_[result].priority))
                result = i;
        return result;
    }
    // Was a better thread ready that the scheduler must have known about?
    bool known_better_than(std::uint32_t thread) const {
        return std::ranges::any_of(threads_, [&](const Thread& t) {
            return t.known && t.ready && t.priority > threads_[thread].priority;
        });
    }
    void note_ready() {
        for (Thread& thread : threads_)
            thread.known = thread.ready;
    }
    bool better_than(std::uint32_t thread) const {
        const std::uint32_t other = best(thread);
        return other != ~0u && threads_[other].priority > threads_[thread].priority;
    }

    std::mt19937_64 random_;
    const Fault fault_;
    int faults_ = 0;
    RunSeed seed_;
    unsigned depth_ = 1;
    std::vector<Thread> threads_;
    std::uint64_t now_ = 1'000'000'000;
    std::vector<pct_event> log_;
    std::vector<pct_witness_record> records_;
};

} // namespace pctctl::test
