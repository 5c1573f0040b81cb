// SPDX-License-Identifier: GPL-2.0-only
// What the policies cost: ratios of runs made in turns on one machine, see docs/benchmarks.md.
//
//   policies [ROUNDS [SECTION]]    more rounds give narrower ranges, slower (default 5). SECTION:
//   steps or
//                                  parallel; both if left out
//
// Exit status: 3 if something could not be measured.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string_view>

#include "plan/policies.h"
#include "subjects.h"
#include "table.h"

namespace {

using namespace bench;

std::string workload() {
    return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "workload";
}

std::string all_policies() {
    std::string list;
    for (const pctctl::PolicyInfo& policy : pctctl::known_policies())
        list += (list.empty() ? "" : ",") + std::string(policy.name);
    return list;
}

constexpr std::array<int, 3> kThreads = {2, 32, 1000};

// Median, smallest and largest ratio.
void print_ratios(const Pairs& pairs) {
    const std::vector<double> ratios = pairs.ratios();
    char range[32];
    std::snprintf(range, sizeof range, "(%.2f-%.2f)", ratios.front(), ratios.back());
    std::printf(" | %7.2f %-15s", median(ratios), range);
}

// The time of a step while a number of threads wait at one. Compares each policy with PCT at the
// same number of threads, and each policy with itself: with the most threads and with the fewest.
void measure_steps(Table&, int rounds) {
    std::printf("ratios: median (smallest-largest) of %d; no change points\n", rounds);
    for (const std::string objects : {"each", "one"}) {
        using Times = std::map<std::string, std::vector<double>, std::less<>>;
        std::array<Times, kThreads.size()> times;
        for (std::size_t i = 0; i < kThreads.size(); ++i) {
            Scheduled scheduled({workload(), "crowd", std::to_string(kThreads[i]), objects}, 1,
                                all_policies());
            scheduled.run(); // the first run reads files from the disk
            for (int round = 1; round <= rounds; ++round)
                for (const pctctl::PolicyInfo& policy : pctctl::known_policies()) {
                    const pctctl::Algorithm algorithm = {std::string(policy.name), 1};
                    const pctctl::RunSeed seed = {0, static_cast<std::uint64_t>(round)};
                    times[i][algorithm.policy].push_back(
                        numbers(scheduled.run(0, algorithm, seed).out).at(0));
                }
        }
        std::printf("\nsteps on %s object%s, against pct's\n%-15s | ns, %d threads",
                    objects.c_str(), objects == "each" ? " its own" : "", "policy",
                    kThreads.front());
        for (int threads : kThreads)
            std::printf(" | %4d threads            ", threads);
        std::printf(" | itself, %d / %d\n", kThreads.back(), kThreads.front());
        for (const pctctl::PolicyInfo& policy : pctctl::known_policies()) {
            const auto of = [&](std::size_t i) -> const std::vector<double>& {
                return times[i].find(policy.name)->second;
            };
            std::printf("%-15s | %13.0f", std::string(policy.name).c_str(), median(of(0)));
            for (std::size_t i = 0; i < kThreads.size(); ++i)
                print_ratios({of(i), times[i].find("pct")->second});
            print_ratios({of(kThreads.size() - 1), of(0)});
            std::printf("\n");
        }
        std::fflush(stdout);
    }
}

// Eight threads that compute and add under a lock, with the same seeds under PCT and PPCT, and
// without control. PCT counts all steps, as PPCT does: else a seed would give the two different
// change points.
void measure_parallel(Table& table, int rounds) {
    pctctl::PolicyParameters all_steps;
    all_steps.set(pctctl::Parameter::skip_sequential, 0);
    Scheduled scheduled({workload(), "parallel", "20"}, 1, "pct,ppct,none", all_steps);
    const auto k = static_cast<std::uint32_t>(scheduled.run(0, {"pct", 1}, {0, 1}).steps);
    for (unsigned depth = 1; depth <= 4; ++depth) {
        Pairs faster, free, used, free_used;
        for (int round = 0; round < rounds; ++round) {
            const pctctl::RunSeed seed = {k, static_cast<std::uint64_t>(1000 * depth + round)};
            const auto times = [&](const char* policy) {
                return numbers(scheduled.run(0, {policy, depth}, seed).out);
            };
            const auto cpus = [](const std::vector<double>& t) { return t.at(1) / t.at(0); };
            const auto pct = times("pct"), ppct = times("ppct"), none = times("none");
            faster.add(pct.at(0), ppct.at(0));
            free.add(pct.at(0), none.at(0));
            used.add(cpus(ppct), cpus(pct));
            free_used.add(cpus(none), cpus(pct));
        }
        const std::string name = "parallel program, depth " + std::to_string(depth);
        table.add(name + ", time: pct / ppct", faster, "ms");
        table.add("  pct / none", free, "ms");
        table.add("  CPUs in use: ppct / pct", used, "CPUs");
        table.add("  none / pct", free_used, "CPUs");
    }
}

} // namespace

int main(int argc, char** argv) {
    const int rounds = argc > 1 ? std::max(1, std::atoi(argv[1])) : 5; // NOLINT
    const std::string_view only = argc > 2 ? argv[2] : "";
    const Section sections[] = {
        {"parallel", measure_parallel, 4 * rounds}, // more, since the gain depends on the seed
        {"steps", measure_steps, rounds},
    };
    Table table;
    measure(sections, only, table);
    return table.complete() ? 0 : 3;
}
