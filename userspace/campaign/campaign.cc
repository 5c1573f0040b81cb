// SPDX-License-Identifier: GPL-2.0-only
#include "campaign/campaign.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>

#include "campaign/time_limit.h"
#include "plan/depth.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

// The state that the workers of a campaign share.
class Board {
public:
    Board(const CampaignPlan& plan, Executor& executor, const Campaign::OnFinished& on_finished)
        : plan_(plan), executor_(executor), on_finished_(on_finished), focus_(plan.focus) {}

    // What one worker does: it executes runs until none is left to start.
    void work(unsigned slot, const std::stop_token& stop) {
        // An exception must not end the process, or the results of earlier runs would be lost.
        try {
            while (const auto plan = next(stop)) {
                auto result = executor_.execute(slot, *plan);
                finish(*plan, std::move(result), stop);
            }
        } catch (const std::exception& exception) {
            fail(Error::environment(exception.what()));
        }
    }

    CampaignResult take_result() {
        CampaignResult result;
        std::sort(done_.begin(), done_.end(),
                  [](const RunResult& a, const RunResult& b) { return a.number < b.number; });
        // A request that came too late has interrupted nothing: then no run is missing.
        result.interrupted =
            interrupted_ && done_.size() < plan_.runs && !error_ && (!failed_ || plan_.keep_going);
        result.runs = std::move(done_);
        result.error = std::move(error_);
        return result;
    }

private:
    struct Measured {
        std::uint64_t steps = 0;
        std::uint64_t k_eff = 0;
        std::vector<ThreadLength> lengths;
        std::vector<std::uint64_t> learned;
        std::optional<double> duration_ms; // if it ended by itself
    };

    bool over() const { return error_ || (failed_ && !plan_.keep_going) || started_ == plan_.runs; }

    // Waits until the seed of the next run is known, and returns its plan. Nothing: no more runs.
    std::optional<RunPlan> next(const std::stop_token& stop) {
        std::unique_lock lock(mutex_);
        const auto ready = [this] {
            return over() || plan_.fixed ||
                   finished_prefix_ >= measured_before(started_ + 1, plan_.jobs);
        };
        changed_.wait(lock, stop, ready);
        if (stop.stop_requested()) {
            interrupted_ = true;
            return std::nullopt;
        }
        if (over())
            return std::nullopt;
        RunPlan plan;
        plan.number = ++started_;
        if (!plan_.fixed)
            take_measured(measured_before(plan.number, plan_.jobs));
        plan.seed = plan_.fixed ? *plan_.fixed : seed_of(plan.number);
        plan.algorithm = algorithm_of(plan);
        plan.focus = focus_.focus();
        plan.time_limit = plan_.timeout.value_or(time_limit_.value());
        plan.live_output = plan_.live_output;
        plan.verify = plan_.verify;
        return plan;
    }

    const std::string& policy_of(std::uint32_t number) const {
        return plan_.policies[(number - 1) % plan_.policies.size()];
    }

    Algorithm algorithm_of(const RunPlan& plan) const {
        const std::string& policy = policy_of(plan.number);
        Algorithm algorithm{.policy = policy, .depth = plan_.depth};
        if (plan_.depth == kDepthAuto)
            algorithm.depth = uses_depth(find_policy(policy)->id) ? draw_depth(plan.seed) : 1;
        if (policy == "stride")
            algorithm.strides =
                plan_.strides ? *plan_.strides : lengths_.strides(plan_.stride_ratio);
        return algorithm;
    }

    // Takes in what the runs up to this number have measured.
    void take_measured(std::uint32_t number) {
        for (; taken_ < number; ++taken_) {
            k_ = std::max(k_, ended_[taken_]->steps);
            k_eff_ = std::max(k_eff_, ended_[taken_]->k_eff);
            lengths_.add(ended_[taken_]->lengths);
            if (ended_[taken_]->duration_ms)
                time_limit_.add(*ended_[taken_]->duration_ms);
            ended_[taken_]->lengths = {};
            focus_.add(ended_[taken_]->learned);
            ended_[taken_]->learned = {};
        }
    }

    RunSeed seed_of(std::uint32_t number) const {
        constexpr std::uint64_t kLargest = std::numeric_limits<std::uint32_t>::max();
        const std::uint64_t k =
            skips_sequential(find_policy(policy_of(number))->id, plan_.parameters) ? k_eff_ : k_;
        return {static_cast<std::uint32_t>(std::min(k, kLargest)),
                pct_random(plan_.seed, PCT_RAND_RUN_SEED, number)};
    }

    void finish(const RunPlan& plan, Result<RunResult> result, const std::stop_token& stop) {
        if (!result && !stop.stop_requested())
            return fail(result.error());
        const std::lock_guard lock(mutex_);
        if (result)
            record(plan, std::move(*result));
        else
            interrupted_ = true; // cancelled: counts as not started
        changed_.notify_all();
    }

    void fail(Error error) {
        const std::lock_guard lock(mutex_);
        if (!error_)
            error_ = std::move(error);
        changed_.notify_all();
    }

    void record(const RunPlan& plan, RunResult run) {
        run.number = plan.number;
        run.seed = plan.seed;
        run.algorithm = plan.algorithm;
        run.focus = plan.focus;
        run.known = static_cast<std::uint32_t>(plan.focus.names.size());
        run.time_limit = plan.time_limit;
        failed_ = failed_ || run.failed();
        if (ended_.size() < plan.number)
            ended_.resize(plan.number);
        ended_[plan.number - 1] = Measured{
            run.steps, k_eff(run, plan_.parameters), std::move(run.lengths), std::move(run.learned),
            run.cut_off() ? std::nullopt : std::optional(run.duration_ms)};
        while (finished_prefix_ < ended_.size() && ended_[finished_prefix_])
            ++finished_prefix_;
        on_finished_(run);
        // Else the output of thousands of runs would stay in memory.
        run.out = {};
        if (!run.failed())
            run.focus.names = {};
        if (run.err.size() > kKeptOutput)
            run.err.erase(0, run.err.size() - kKeptOutput);
        run.err.shrink_to_fit();
        done_.push_back(std::move(run));
    }

    const CampaignPlan& plan_;
    Executor& executor_;
    const Campaign::OnFinished& on_finished_;
    std::mutex mutex_; // for all below
    std::condition_variable_any changed_;
    std::vector<RunResult> done_;
    std::vector<std::optional<Measured>> ended_; // by run number - 1
    std::optional<Error> error_;
    std::uint32_t started_ = 0;         // number of the run started last
    std::uint32_t finished_prefix_ = 0; // all runs up to this number have ended
    std::uint32_t taken_ = 0;           // what follows covers the runs up to this number
    std::uint64_t k_ = 0;
    std::uint64_t k_eff_ = 0;
    ThreadLengths lengths_;
    FocusLearner focus_;
    TimeLimit time_limit_;
    bool failed_ = false;
    bool interrupted_ = false;
};

} // namespace

std::uint32_t measured_before(std::uint32_t run, unsigned jobs) {
    if (run <= 1)
        return 0;
    if (jobs <= 1)
        return run - 1;
    const std::uint32_t lag = 2 * jobs;
    return run > lag ? std::max(1U, run - lag) : 1;
}

Campaign::Campaign(const CampaignPlan& plan, Executor& executor, OnFinished on_finished)
    : plan_(plan), executor_(executor), on_finished_(std::move(on_finished)) {}

CampaignResult Campaign::run(std::stop_token stop) {
    const auto start = std::chrono::steady_clock::now();
    Board board(plan_, executor_, on_finished_);
    {
        const std::stop_callback cancel(stop, [this] { executor_.cancel(); });
        const unsigned workers = std::min(plan_.jobs, plan_.runs);
        std::vector<std::jthread> threads;
        for (unsigned slot = 0; slot < workers; ++slot)
            threads.emplace_back([&board, &stop, slot] { board.work(slot, stop); });
    } // joins
    CampaignResult result = board.take_result();
    result.elapsed_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return result;
}

} // namespace pctctl
