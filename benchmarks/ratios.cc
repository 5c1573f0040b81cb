// SPDX-License-Identifier: GPL-2.0-only
// What pctctl costs: ratios of things measured in turns on one machine, see docs/benchmarks.md.
//
//   ratios [ROUNDS [SECTION]]    more rounds give narrower ranges, slower (default 12). SECTION:
//   points,
//                                heavy, runs, jobs or bystander; all if left out
//
// Exit status: 3 if something could not be measured. 0 also if a goal is missed.
#include <benchmark/benchmark.h>
#include <sched.h>
#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <string_view>
#include <thread>

#include "subjects.h"
#include "table.h"

namespace {

using namespace bench;

const std::string kTrue = "/bin/true";

std::string workload() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workload";
}

// The cost of one scheduling point, and of a program that does hardly anything else.
void measure_points(Table& table, int rounds) {
    const std::vector<std::string> locks = {workload(), "locks", "2000"};
    const EmptyProbes probes;
    const EmptyProbes sleepable_probes(true);
    Unscheduled empty(locks, &probes, "pctctl-bench/empty");
    Unscheduled sleepable(locks, &sleepable_probes, "pctctl-bench/sleepable");
    Unscheduled plain(locks, nullptr, "pctctl-bench/plain");
    Pairs alone, several, sleeping, native_alone;
    {
        Scheduled ours(locks);
        ours.run(); // the first run reads files from the disk
        empty.run();
        sleepable.run();
        plain.run();
        for (int i = 0; i < rounds; ++i) {
            const auto a = numbers(ours.run());
            const auto b = numbers(empty.run());
            const auto c = numbers(plain.run());
            const auto d = numbers(sleepable.run());
            alone.add(a.at(0), b.at(0));
            several.add(a.at(1), b.at(1));
            native_alone.add(b.at(0), c.at(0));
            sleeping.add(d.at(0), b.at(0));
        }
    }
    table.add("sync point, one thread / empty uprobe", alone, "ns", Goal::at_most, 1.25);
    table.add("sync point, four threads / empty uprobe", several, "ns", Goal::at_most, 1.25);
    table.add("  empty sleepable uprobe / empty uprobe", sleeping, "ns");
    table.add("  empty uprobe / native call", native_alone, "ns");
}

void measure_heavy(Table& table, int rounds) {
    const std::vector<std::string> heavy = {workload(), "heavy", "2000"};
    Unscheduled native(heavy, nullptr, "pctctl-bench/heavy");
    Pairs slowdown;
    {
        Scheduled ours(heavy);
        ours.run();
        native.run();
        for (int i = 0; i < rounds; ++i) {
            const double a = numbers(ours.run())[0];
            slowdown.add(a, numbers(native.run())[0]);
        }
    }
    table.add("lock-heavy program / native, 2 CPUs", slowdown, "ns per step");
}

double middle_of_four(const std::function<void()>& what) { // ms
    std::vector<double> times;
    for (int i = 0; i < 4; ++i) {
        const auto start = Clock::now();
        what();
        times.push_back(ns_since(start) / 1e6);
    }
    return median(times);
}

void measure_runs(Table& table, int rounds) {
    const std::vector<std::string> spawn = {workload(), "spawn", "4", kTrue};
    Unscheduled launched({kTrue}, nullptr, "pctctl-bench/true");
    Pairs forked, spawned, launch;
    Scheduled ours({kTrue});
    ours.run();
    launched.run();
    for (int i = 0; i < rounds; ++i) {
        const double run = middle_of_four([&] { ours.run(); });
        const auto plain = numbers(Plain(spawn).output());
        launch.add(run, middle_of_four([&] { launched.run(); }));
        forked.add(run, plain.at(0) / 1e6);
        spawned.add(run, plain.at(1) / 1e6);
    }
    table.add("run of true / fork+exec+wait", forked, "ms", Goal::at_most, 2);
    table.add("  the same / posix_spawn+wait", spawned, "ms");
    table.add("  the same / namespaces alone, not scheduled", launch, "ms");
}

// Wall time in ms of one of `count` runs by `jobs` threads, each with its slot.
double duration(Scheduled& ours, unsigned jobs, int count) {
    std::atomic<int> left = count;
    std::vector<std::string> errors(jobs);
    const auto start = Clock::now();
    {
        std::vector<std::jthread> threads;
        for (unsigned slot = 0; slot < jobs; ++slot)
            threads.emplace_back([&, slot] {
                try {
                    while (left-- > 0)
                        ours.run(slot);
                } catch (const std::exception& error) {
                    errors[slot] = error.what();
                }
            });
    }
    for (const std::string& error : errors)
        if (!error.empty())
            die(error);
    return ns_since(start) / count / 1e6;
}

// The same for plain fork, execve, wait.
double plain_duration(const std::vector<std::string>& program, unsigned jobs, int count) {
    std::vector<std::string> command = {workload(), "spawn",
                                        std::to_string(count / static_cast<int>(jobs))};
    command.insert(command.end(), program.begin(), program.end());
    const auto start = Clock::now();
    std::vector<std::unique_ptr<Plain>> children;
    for (unsigned i = 0; i < jobs; ++i)
        children.push_back(std::make_unique<Plain>(command));
    for (auto& child : children)
        child->output();
    return ns_since(start) / count / 1e6;
}

// One executor with two slots serves both: with --jobs 1 the second one is unused.
void measure_jobs(Table& table, int rounds) {
    const std::pair<const char*, std::vector<std::string>> programs[] = {
        {"runs of a locking program, --jobs 2 / --jobs 1", {workload(), "locks", "400"}},
        {"runs of true, --jobs 2 / --jobs 1", {kTrue}},
    };
    for (const auto& [name, command] : programs) {
        Pairs jobs, machine;
        for (int i = 0; i < rounds; ++i) {
            const double one = plain_duration(command, 1, 8);
            machine.add(one, plain_duration(command, 2, 8));
        }
        Scheduled ours(command, 2);
        duration(ours, 2, 4);
        for (int i = 0; i < rounds; ++i) {
            const double one = duration(ours, 1, 6);
            jobs.add(one, duration(ours, 2, 6));
        }
        table.add(name, jobs, "ms", Goal::at_least, 1.8);
        table.add("  what 2 CPUs give to the same without pctctl", machine, "ms");
    }
}

/* ---- Bystanders ---- */

void getppid_loop(benchmark::State& state) {
    for (auto _ : state)
        benchmark::DoNotOptimize(syscall(SYS_getppid));
}
BENCHMARK(getppid_loop)->MinTime(0.01)->Repetitions(7)->UseRealTime();

void read_loop(benchmark::State& state) {
    const pctctl::Fd zero(open("/dev/zero", O_RDONLY | O_CLOEXEC));
    char byte;
    for (auto _ : state)
        benchmark::DoNotOptimize(read(zero.get(), &byte, 1));
}
BENCHMARK(read_loop)->MinTime(0.01)->Repetitions(7)->UseRealTime();

void mutex_loop(benchmark::State& state) {
    std::mutex mutex;
    for (auto _ : state) {
        mutex.lock();
        benchmark::ClobberMemory();
        mutex.unlock();
    }
}
BENCHMARK(mutex_loop)->MinTime(0.01)->Repetitions(7)->UseRealTime();

// Keeps the times of one iteration, by name.
class Collector : public benchmark::BenchmarkReporter {
public:
    bool ReportContext(const Context&) override { return true; }
    void ReportRuns(const std::vector<Run>& runs) override {
        for (const Run& run : runs)
            if (run.run_type == Run::RT_Iteration)
                times_[run.run_name.function_name].push_back(run.GetAdjustedRealTime());
    }
    std::map<std::string, double> medians() const { // ns
        std::map<std::string, double> result;
        for (const auto& [name, times] : times_)
            result[name] = median(times);
        return result;
    }

private:
    std::map<std::string, std::vector<double>> times_;
};

void stay_on(int cpu) {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    CPU_SET(static_cast<std::size_t>(cpu), &cpus);
    sched_setaffinity(0, sizeof cpus, &cpus);
}

std::map<std::string, double> bystander() {
    stay_on(1);
    Collector collector;
    benchmark::RunSpecifiedBenchmarks(&collector);
    stay_on(0); // whatever is started next runs there as well
    return collector.medians();
}

// What a process on CPU 1 pays, with and without pctctl, while CPU 0 is idle or starts one process
// after the other.
void measure_bystander(Table& table, int rounds) {
    std::map<std::string, Pairs> idle, busy;
    stay_on(0);
    bystander();
    for (int i = 0; i < rounds; ++i) {
        const auto without_idle = bystander();
        std::map<std::string, double> without_busy;
        {
            const Plain churn({workload(), "churn", kTrue});
            without_busy = bystander();
        }
        Scheduled ours({kTrue});
        for (const auto& [name, time] : bystander())
            idle[name].add(time, without_idle.at(name));
        std::map<std::string, double> with_busy;
        {
            const std::jthread campaign([&ours](const std::stop_token& stop) {
                try {
                    while (!stop.stop_requested())
                        ours.run();
                } catch (const std::exception& error) {
                    std::printf("the campaign beside the bystander ended: %s\n", error.what());
                }
            });
            with_busy = bystander();
        }
        for (const auto& [name, time] : with_busy)
            busy[name].add(time, without_busy.at(name));
    }
    for (const auto& [name, pairs] : idle)
        table.add("bystander's " + name + ", loaded / not", pairs, "ns");
    for (const auto& [name, pairs] : busy)
        table.add("bystander's " + name + ", campaign / plain", pairs, "ns");
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 12; // NOLINT
    const std::string_view only = argc > 2 ? argv[2] : "";
    const Section sections[] = {
        {"points", measure_points, rounds},
        {"heavy", measure_heavy, rounds},
        {"runs", measure_runs, rounds},
        {"jobs", measure_jobs, rounds},
        {"bystander", measure_bystander, std::max(1, rounds / 3)}, // loads the scheduler each time
    };
    Table table;
    measure(sections, only, table);
    std::printf("\n");
    table.print_all();
    return table.complete() ? 0 : 3;
}
