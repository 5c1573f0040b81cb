// SPDX-License-Identifier: GPL-2.0-only
// An executor whose runs are made up by a function, for tests of everything around runs.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <mutex>
#include <set>
#include <thread>
#include <utility>
#include <vector>

#include "plan/executor.h"

namespace pctctl {

inline RunResult passing_run(std::uint64_t steps = 10, std::uint32_t threads = 2) {
    RunResult run;
    run.arrivals = run.steps = run.concurrent = run.longest_phase = steps;
    run.threads = threads;
    run.switches = 1;
    run.order_hash = 0x1234;
    run.duration_ms = 1.5;
    return run;
}

inline RunResult failing_run(std::uint64_t steps = 10, std::uint32_t threads = 2) {
    RunResult run = passing_run(steps, threads);
    run.outcome = Outcome::signal;
    run.exit_code = -1;
    run.signal = 11;
    run.detail = "process app (thread 1) died by SIGSEGV";
    run.err = "first line\nlast words\n";
    return run;
}

class FakeExecutor : public Executor {
public:
    using Behaviour = std::function<Result<RunResult>(const RunPlan&)>;

    explicit FakeExecutor(Behaviour behaviour) : behaviour_(std::move(behaviour)) {}

    Result<RunResult> execute(unsigned slot, const RunPlan& plan) override {
        {
            const std::lock_guard lock(mutex_);
            plans_.push_back(plan);
            if (!busy_.insert(slot).second)
                slot_clash_ = true;
            most_at_once_ = std::max(most_at_once_, busy_.size());
        }
        auto result = behaviour_(plan);
        const std::lock_guard lock(mutex_);
        busy_.erase(slot);
        return result;
    }

    void cancel() override { cancelled_ = true; }
    std::vector<std::string> warnings() const override { return warnings_; }
    void warn(std::string text) { warnings_.push_back(std::move(text)); }
    bool cancelled() const { return cancelled_; }

    // All plans, in the order of the runs' numbers.
    std::vector<RunPlan> plans() const {
        const std::lock_guard lock(mutex_);
        std::vector<RunPlan> sorted = plans_;
        std::sort(sorted.begin(), sorted.end(),
                  [](const RunPlan& a, const RunPlan& b) { return a.number < b.number; });
        return sorted;
    }
    bool slot_clash() const { return slot_clash_; }
    std::size_t most_at_once() const { return most_at_once_; }

private:
    Behaviour behaviour_;
    mutable std::mutex mutex_;
    std::vector<RunPlan> plans_;
    std::set<unsigned> busy_;
    std::vector<std::string> warnings_;
    std::size_t most_at_once_ = 0;
    bool slot_clash_ = false;
    std::atomic<bool> cancelled_ = false;
};

} // namespace pctctl
