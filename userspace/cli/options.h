// SPDX-License-Identifier: GPL-2.0-only
// The command line of pctctl.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

enum class Mode { campaign, replay, doctor };

// What the user said about how a run is to go; what was not said is absent.
struct Given {
    std::vector<std::string> command; // empty: not said
    std::optional<std::string> cgroup;
    std::optional<unsigned> depth;
    std::optional<std::string> policy;
    PolicyParameters parameters;
    std::optional<Strides> strides; // replay; --stride-max goes before
    std::optional<Focus> focus;
    std::optional<unsigned> points;
    std::optional<std::chrono::nanoseconds> timeout;
    std::optional<std::chrono::nanoseconds> spin_limit;
    std::optional<std::string> user;
    std::optional<std::uint64_t> pids_limit;
    std::optional<unsigned> jobs;
    bool verify = false;

    // Overrides what is said here in `base`, keeps the rest.
    ExecutorOptions over(ExecutorOptions base) const;
    // Error of usage: an option is said that belongs to none of these policies.
    Status check_for(std::string_view policies) const;
};

struct Options {
    Mode mode = Mode::campaign;
    std::string invoked_as = "pctctl"; // as the user calls us, for lines to be copied
    Given given;

    std::uint32_t runs = 100;                   // campaign
    bool keep_going = false;                    // campaign
    std::optional<std::uint64_t> campaign_seed; // campaign; absent: random
    std::string out = "pctctl-out";             // campaign

    std::string replay_dir;             // replay of a kept run; empty: by seed
    std::optional<RunSeed> replay_seed; // replay by seed
    std::uint32_t times = 1;            // replay

    std::optional<std::string> json; // "-": standard output
    bool vm = false;                 // run in the virtual machine
    bool inside_vm = false;          // we are the one that --vm started
    bool verbose = false;
    bool debug = false; // then verbose as well
    bool quiet = false;
    std::optional<std::string> log; // a file for diagnostics of all levels

    // Standard output is JSON's alone.
    bool json_on_stdout() const { return json == "-"; }
    // Diagnostics from which level on go to stderr.
    Log::Level diagnostics() const {
        return debug ? Log::Level::debug : verbose ? Log::Level::info : Log::Level::warning;
    }
};

// A text to print on standard output, then exit with 0: --help, --version.
struct Print {
    std::string text;
};

using Invocation = std::variant<Options, Print>;

// Reads argv (the program's name first). An Error has status usage and one line.
Result<Invocation> parse(std::span<const std::string> argv);

// argv for the same call inside the virtual machine: `self` for the program's name, without --vm,
// marked as being inside.
std::vector<std::string> argv_inside_vm(std::span<const std::string> argv, const std::string& self);

} // namespace pctctl
