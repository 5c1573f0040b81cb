// SPDX-License-Identifier: GPL-2.0-only
// Plan and result of one run: what a campaign asks for, and what it gets back.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "plan/focus.h"
#include "plan/strides.h"

namespace pctctl {

// A run's scheduling algorithm. A seed means something only together with it.
struct Algorithm {
    std::string policy = "pct"; // one of known_policies()
    unsigned depth = 2;         // d, 1 .. PCT_MAX_DEPTH
    Strides strides = {};       // of policy stride
    bool operator==(const Algorithm&) const = default;
};

// Together with the algorithm, its parameters and the points, this decides a run's schedule: the
// random stream, and the k that the change points are drawn from. k = 0: none are drawn, as in the
// first run of a campaign, which measures k. Written as 24 hex digits: 8 of k, 16 of the stream.
struct RunSeed {
    std::uint32_t k = 0;
    std::uint64_t stream = 0;

    std::string text() const;
    static Result<RunSeed> parse(std::string_view text); // optional 0x; fewer than 17 digits: k = 0
    bool operator==(const RunSeed&) const = default;
};

// The wall time that a run is given as long as nothing is known about the program.
constexpr std::chrono::nanoseconds kFirstTimeLimit = std::chrono::seconds(60);

struct RunPlan {
    std::uint32_t number = 1; // from 1, in the campaign
    RunSeed seed;
    Algorithm algorithm;
    Focus focus;
    bool live_output = false;                              // also copy the program's output to ours
    bool verify = false;                                   // let the witness check the run
    std::chrono::nanoseconds time_limit = kFirstTimeLimit; // of wall time; > 0
};

// When a run's time limit ends it is a timeout if no thread has made progress for long (a failure
// of the program), and unfinished otherwise: the program is only slow (no failure). See
// run/liveness.h.
enum class Outcome { pass, exit, signal, deadlock, timeout, unfinished };
std::string_view name(Outcome outcome);
std::optional<Outcome> outcome_from(std::string_view name);

struct RunResult {
    std::uint32_t number = 0;
    RunSeed seed;
    Algorithm algorithm;
    Focus focus;             // a campaign keeps the names of failed runs only
    std::uint32_t known = 0; // names that it began with
    Outcome outcome = Outcome::pass;
    int exit_code = 0;  // of the main process; -1 when it did not exit by itself
    int signal = 0;     // with outcome signal the one that killed; else 0
    std::string detail; // one line about a failure: process, thread, what the threads wait for
    std::uint32_t threads = 0;       // all that were created, the first one included
    std::uint64_t arrivals = 0;      // at points
    std::uint64_t steps = 0;         // of them, those that count
    std::uint64_t concurrent = 0;    // steps with another thread enabled; 1 if there is none
    std::uint64_t longest_phase = 0; // the most in a phase (policies/policy.h); 1 if there is none
    std::uint64_t switches = 0;
    std::uint64_t interventions = 0; // demotions for lack of progress and other departures from PCT
    // Times that the kernel did not call a program of the scheduler, in this run or another one
    // under way, and that hooks of the policy were not kept apart.
    std::uint64_t skipped_calls = 0;
    std::uint64_t unlocked_hooks = 0;
    double duration_ms = 0;
    std::chrono::nanoseconds time_limit = kFirstTimeLimit; // that it had
    std::uint64_t order_hash = 0;
    std::vector<std::uint64_t> learned;      // names of what matters, besides those of `focus`
    std::optional<std::uint64_t> races;      // with policy pos: of its partial order, see races.h
    std::vector<ThreadLength> lengths;       // of the threads that made steps
    std::optional<std::uint64_t> violations; // with RunPlan::verify
    std::vector<std::string> violation_details; // a line for each of the first few
    std::string out;                            // what the program wrote to stdout, stderr
    std::string err;

    bool failed() const { return outcome != Outcome::pass && outcome != Outcome::unfinished; }
    // Its time limit ended it, so it could have gone on.
    bool cut_off() const { return outcome == Outcome::timeout || outcome == Outcome::unfinished; }
    // The scheduler may not have been what the bounds are about: the run does not count.
    bool disturbed() const { return skipped_calls > 0 || unlocked_hooks > 0; }
};

} // namespace pctctl
