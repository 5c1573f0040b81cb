// SPDX-License-Identifier: GPL-2.0-only
// Shared by the tests that run inside the virtual machine: calls of pctctl as a user would make
// them, its JSON as structs, the headers of the zoo's programs, some statistics.
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

// Are these the long tests (label "long" in ctest, which sets PCTCTL_LONG_TESTS)? They take all
// cases and many runs of each; the short ones take samples.
bool long_tests();

// The path of a program that was built together with the running test.
std::string built(std::string_view name); // e.g. "pctctl", "zoo/order_violation_bug"

// One element of "results".
struct RunResult {
    unsigned number = 0;
    std::string seed;
    std::uint32_t seed_k = 0; // the seed's two parts: k, random stream
    std::uint64_t seed_stream = 0;
    std::string policy;
    std::string strides; // empty: the policy is not stride
    std::string outcome;
    int exit_code = 0;
    int signal = 0;
    double duration_ms = 0;
    double time_limit_s = 0;
    unsigned threads = 0;
    std::uint64_t steps = 0;
    std::uint64_t k_eff = 0; // steps while another thread was enabled
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
    std::optional<std::uint64_t> races; // for which the first policy's bound holds
    std::uint64_t interventions = 0;
    std::optional<std::uint64_t> violations;
    std::vector<PolicySummary> policies;
    std::vector<RunResult> results;
};

// The result of one call of pctctl.
struct Call {
    int status = -1;         // exit status; 128 + N: killed by signal N; -1: timeout
    std::string out;         // without the JSON
    std::string err;         //
    bool reported = false;   // there is JSON with all keys that it must have
    std::string json_defect; // what is wrong with the JSON
    Summary summary;
    std::string command; // for messages
};
std::ostream& operator<<(std::ostream& stream, const Call& call);

// A running pctctl. The destructor kills it.
class Process {
public:
    explicit Process(const Arguments& argv);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    void kill(int signal);
    // Waits for its end and returns the exit status as in Call::status. A process that has not
    // ended within the limit is killed.
    int wait(std::chrono::seconds limit);
    std::string out() const;
    std::string err() const;

private:
    pid_t pid_ = -1;
    int out_ = -1;
    int err_ = -1;
};

// Calls `program` (pctctl or pctctl-broken) with these arguments, with --json, and with --out
// DIRECTORY. File and directory are temporary. For a replay the first argument is "replay".
Call pctctl(const Arguments& arguments, std::chrono::seconds limit = std::chrono::seconds(120),
            const std::string& program = built("pctctl"));

// A new empty directory. The destructor removes it.
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

// Several programs that share one campaign or replay, since loading the scheduler takes longer than
// many runs. The first `times` runs execute the first command, the next `times` runs the second,
// and so on. With two jobs, the last run of one command and the first of the next may be swapped:
// they may start at the same time.
class InTurn {
public:
    // Each command: words separated by blanks.
    InTurn(const std::vector<std::string>& commands, unsigned times);

    const Arguments& command() const { return command_; } // goes behind "--"
    unsigned runs() const { return runs_; }               // of all commands together

private:
    Directory directory_;
    Arguments command_;
    unsigned runs_ = 0;
};

// How often a program fails at one depth, computed by hand: numerator / (denominator k^exponent).
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
    unsigned depth = 2; // of the bug; a healthy program is run with this
    unsigned threads = 0;
    std::string outcome;
    std::string points = "pthread,syscall";
    bool timers = false;
    std::vector<Rate> rates;

    std::string path() const;
    bool is_rate() const { return bug == "rate"; }
    bool heavy() const { return threads > 100; }
    // The largest --jobs at which its runs do not meet. Each run has its own PID namespace, but all
    // share the file system: two runs of a program that names a file after its process id use the
    // same file.
    std::string jobs() const { return name.starts_with("shm_size") ? "1" : "2"; }
};
std::ostream& operator<<(std::ostream& stream, const Animal& animal);

// What the headers of tests/zoo/*.c say (tests/zoo/README.md), sorted by name. Throws when a header
// is malformed.
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
// Clopper and Pearson's exact confidence interval for a probability.
Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence);

// How many runs it takes to find a bug with probability 1 - miss, if each run finds it with
// probability p.
std::uint64_t runs_needed(double p, double miss);

std::string contents(const std::string& file);
std::vector<std::string> lines(std::string_view text);

// What is on the machine that pctctl could have left behind.
struct Traces {
    std::vector<std::string> processes; // without kernel threads, this one and its ancestors
    std::vector<std::string> cgroups;
    std::vector<std::string> bpf;   // programs and links
    std::vector<std::string> files; // in directories for temporary files
    std::string scheduler;          // /sys/kernel/sched_ext/state

    static Traces now();
    // One line for each entry that `before` does not have.
    std::vector<std::string> beyond(const Traces& before) const;
};

// Waits until nothing is left that was not there before. Returns what is still left at the end of
// the time limit.
std::vector<std::string> left_behind(const Traces& before, std::chrono::seconds limit);

} // namespace vmtest
