// SPDX-License-Identifier: GPL-2.0-only
// What the tests inside the virtual machine share: calling pctctl as a user would, reading its
// JSON, the headers of the zoo, a little statistics.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

namespace vmtest {

using Arguments = std::vector<std::string>;

// Set by `ctest` for the tests labelled "long": all of what the short ones take samples of.
bool long_tests();

// pctctl and its relatives, as built beside the running test.
std::string built(std::string_view name); // "pctctl", "zoo/order_violation_bug"

// One element of "results".
struct RunResult {
    unsigned number = 0;
    std::string seed;
    std::uint32_t seed_k = 0; // the seed's two parts
    std::uint64_t seed_stream = 0;
    std::string policy;
    std::string strides; // empty: of another policy
    std::string outcome;
    int exit_code = 0;
    int signal = 0;
    double duration_ms = 0;
    double time_limit_s = 0;
    unsigned threads = 0;
    std::uint64_t steps = 0;
    std::uint64_t k_eff = 0; // steps with another thread enabled
    std::uint64_t order_hash = 0;
};

// One element of "policies".
struct PolicySummary {
    std::string policy;
    std::uint64_t runs = 0;
    std::uint64_t failures = 0;
    std::string promise;
};

struct Summary {
    unsigned depth = 0;
    std::uint64_t runs_done = 0;
    std::uint64_t failures = 0;
    std::uint64_t unfinished = 0;
    std::optional<std::uint64_t> first_failure;
    std::uint64_t threads = 0;
    std::uint64_t steps = 0;
    std::uint64_t k_eff = 0;
    double bound_run = 0;
    std::optional<std::uint64_t> races; // that the first policy's statement is for
    std::uint64_t interventions = 0;
    std::optional<std::uint64_t> violations;
    std::vector<PolicySummary> policies;
    std::vector<RunResult> results;
};

// How a call of pctctl went.
struct Call {
    int status = -1;         // exit status; 128 + N: killed by signal N; -1: not ended in time
    std::string out;         // without the JSON
    std::string err;         //
    bool reported = false;   // there was JSON, and it had all the keys it has to have
    std::string json_defect; // what it lacked
    Summary summary;
    std::string command; // for messages
};
std::ostream& operator<<(std::ostream& stream, const Call& call);

// A pctctl under way. Killed with the object.
class Process {
public:
    explicit Process(const Arguments& argv);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    void kill(int signal);
    // Exit status as in Call::status; the process is killed when it is not over in time.
    int wait(std::chrono::seconds limit);
    std::string out() const;
    std::string err() const;

private:
    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
};

// Calls `program` (pctctl, or pctctl-broken) with --json, --out to a directory of its own that is
// removed, and these arguments. Those of a replay begin with "replay".
Call pctctl(const Arguments& arguments, std::chrono::seconds limit = std::chrono::seconds(120),
            const std::string& program = built("pctctl"));

// An empty directory that is removed with the object.
class Directory {
public:
    Directory();
    Directory(const Directory&) = delete;
    Directory& operator=(const Directory&) = delete;
    ~Directory();
    const std::string& path() const { return path_; }

private:
    std::string path_;
};

// Several programs for one campaign or replay: its first `times` runs execute the first command,
// the next ones the second, and so on. Loading the scheduler takes longer than many runs. With two
// jobs, two runs that begin at the same time may have changed places.
class InTurn {
public:
    // Commands: words separated by blanks.
    InTurn(const std::vector<std::string>& commands, unsigned times);

    const Arguments& command() const { return command_; } // for behind "--"
    unsigned runs() const { return runs_; }               // of all of them

private:
    Directory directory_;
    Arguments command_;
    unsigned runs_ = 0;
};

// p = A / (B k^E) for one depth.
struct Rate {
    unsigned depth = 0;
    double numerator = 0;
    double denominator = 1;
    unsigned exponent = 0;

    double at(double k) const;
};

struct Animal {
    std::string name;
    bool healthy = false;
    std::string bug;
    unsigned depth = 2; // healthy: what is used for lack of one
    unsigned threads = 0;
    std::string outcome;
    std::string points = "pthread,syscall";
    bool timers = false;
    std::vector<Rate> rates;

    std::string path() const;
    bool is_rate() const { return bug == "rate"; }
    bool heavy() const { return threads > 100; }
    // The most --jobs it bears. Every run has its own process ids but not its own files: programs
    // that name a file after their id meet their twin's.
    std::string jobs() const { return name.starts_with("shm_size") ? "1" : "2"; }
};
std::ostream& operator<<(std::ostream& stream, const Animal& animal);

// The headers of tests/zoo/*.c, by name. Throws when one is malformed.
std::vector<Animal> zoo();
Animal animal(std::string_view name);

// Name of a parameterized test.
template <typename Info> std::string name_of(const Info& info) {
    return info.param.name;
}

struct Interval {
    double low = 0;
    double high = 1;
};
// Clopper and Pearson's exact interval for a probability, with that confidence.
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence);

// Runs after which a bug that each finds with probability p is found with probability 1 - miss.
std::uint64_t runs_needed(double p, double miss);

std::string contents(const std::string& file);
std::vector<std::string> lines(std::string_view text);

// What a machine holds that pctctl could have left behind.
struct Traces {
    std::vector<std::string> processes; // all but kernel threads and this process' ancestry
    std::vector<std::string> cgroups;
    std::vector<std::string> bpf;   // programs and links
    std::vector<std::string> files; // in the places for temporary files
    std::string scheduler;          // /sys/kernel/sched_ext/state

    static Traces now();
    // One line for each thing that is here and not in `before`.
    std::vector<std::string> beyond(const Traces& before) const;
};

// Waits until nothing is there that was not before; what still is after that time.
std::vector<std::string> left_behind(const Traces& before, std::chrono::seconds limit);

} // namespace vmtest
