// SPDX-License-Identifier: GPL-2.0-only
// Which policy finds which of the zoo's bugs, how soon and how often? See docs/benchmarks.md. It
// runs in the virtual machine and calls pctctl as a user would.
//
//   zoo [RUNS [WHAT]]    RUNS runs of each policy and program (default 30). WHAT: one program
//   (NAME_bug),
//                        or "rates", the comparison of rates (4 RUNS of each); everything if left
//                        out
//
// Exit status: 3 if something could not be measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <spdlog/fmt/fmt.h>

#include "harness.h"
#include "plan/policies.h"

namespace {

using vmtest::Animal;
using Clock = std::chrono::steady_clock;

constexpr const char* kTimeout = "10"; // seconds; runs take some hundredths of a second

// What the runs of one policy found.
struct Found {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0; // with the bug's own outcome
    std::uint64_t others = 0;   // with another one
    std::uint64_t first = 0;    // among the policy's runs, from 1
};

struct Campaign {
    std::map<std::string, Found> policies;
    std::uint64_t steps = 0; // k
    bool complete = false;
};

// Makes that many runs of each of these policies, in turns, whatever they find.
Campaign campaign(const Animal& program, const std::vector<std::string>& policies, unsigned depth,
                  unsigned runs, unsigned seed, const vmtest::Arguments& options = {}) {
    std::string list;
    for (const std::string& policy : policies)
        list += (list.empty() ? "" : ",") + policy;
    const std::size_t all = runs * policies.size();
    const auto start = Clock::now();
    vmtest::Arguments arguments = options;
    for (const std::string& word :
         vmtest::Arguments{"--policy", list, "--seed", std::to_string(seed), "--runs",
                           std::to_string(all), "--keep-going", "--timeout", kTimeout, "--depth",
                           std::to_string(depth), "--points", program.points, "--", program.path()})
        arguments.push_back(word);
    const vmtest::Call call = vmtest::pctctl(arguments, std::chrono::seconds(120 + 2 * all));
    Campaign result;
    result.complete = call.reported && call.summary.runs_done == all;
    result.steps = call.summary.steps;
    for (const vmtest::RunResult& run : call.summary.results) {
        Found& found = result.policies[run.policy];
        ++found.runs;
        if (run.outcome == "pass")
            continue;
        if (run.outcome != program.outcome || (run.outcome == "exit" && run.exit_code != 1)) {
            ++found.others;
            continue;
        }
        ++found.failures;
        if (!found.first)
            found.first = found.runs;
    }
    std::fprintf(stderr, "%s, %s: %lu of %zu runs failed; %.1f s\n", program.name.c_str(),
                 policies.size() > 1 ? "all" : list.c_str(), call.summary.failures, all,
                 std::chrono::duration<double>(Clock::now() - start).count());
    if (!result.complete)
        std::fprintf(stderr, "  NOT COMPLETE, %lu runs: status %d, %s%s\n", call.summary.runs_done,
                     call.status, call.json_defect.c_str(), call.err.c_str());
    for (const auto& [policy, found] : result.policies)
        if (found.others)
            std::fprintf(stderr, "  %s: %lu runs that failed otherwise, not counted\n",
                         policy.c_str(), found.others);
    return result;
}

std::string text(const vmtest::Interval& interval) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3f-%.3f", interval.low, interval.high);
    return buffer;
}

void print_summary(const std::vector<std::string>& policies, const std::vector<Campaign>& all,
                   unsigned runs) {
    std::printf(
        "\n| policy | bugs found | runs that failed | 95 %% interval | median of first runs "
        "|\n|---|---|---|---|---|\n");
    for (const std::string& policy : policies) {
        std::uint64_t bugs = 0, failures = 0, total = 0;
        std::vector<std::uint64_t> first;
        for (const Campaign& one : all) {
            const auto found = one.policies.find(policy);
            if (found == one.policies.end())
                continue;
            bugs += found->second.failures > 0;
            failures += found->second.failures;
            total += found->second.runs;
            first.push_back(found->second.first ? found->second.first : runs + 1);
        }
        if (first.empty())
            continue;
        std::sort(first.begin(), first.end());
        const std::uint64_t middle = first[first.size() / 2];
        std::printf("| %s | %lu of %zu | %lu of %lu | %s | %s%lu |\n", policy.c_str(), bugs,
                    first.size(), failures, total,
                    text(vmtest::clopper_pearson(failures, total, 0.95)).c_str(),
                    middle > runs ? "> " : "", std::min<std::uint64_t>(middle, runs));
    }
}

bool measure_bugs(unsigned runs, const std::string& only) {
    std::vector<Animal> bugs = vmtest::zoo();
    std::erase_if(bugs, [&](const Animal& one) {
        return one.healthy || one.is_rate() || (!only.empty() && one.name != only);
    });
    std::vector<std::string> policies;
    for (const pctctl::PolicyInfo& policy : pctctl::known_policies())
        policies.emplace_back(policy.name);
    std::printf("Runs of %u that failed @ the first one; --depth as the bug's.\n\n"
                "| program | depth |",
                runs);
    for (const std::string& policy : policies)
        std::printf(" %s |", policy.c_str());
    std::printf("\n|---|---|");
    for (std::size_t i = 0; i < policies.size(); ++i)
        std::printf("---|");
    std::fflush(stdout);
    std::vector<Campaign> all;
    bool complete = true;
    unsigned seed = 41;              // another one for each program, so that rows are independent
    for (const Animal& bug : bugs) { // prints each row at once, since all together take long
        Campaign& one = all.emplace_back(campaign(bug, policies, bug.depth, runs, seed++));
        complete = complete && one.complete;
        std::printf("\n| %s | %u |", bug.name.substr(0, bug.name.rfind("_bug")).c_str(), bug.depth);
        for (const std::string& policy : policies) {
            const Found& found = one.policies[policy];
            if (!found.runs)
                std::printf(" ?");
            else if (found.failures)
                std::printf(" %lu @ %lu", found.failures, found.first);
            else
                std::printf(" 0");
            if (found.runs && found.runs < runs)
                std::printf(" of %lu", found.runs);
            std::printf(" |");
        }
        std::fflush(stdout);
    }
    std::printf("\n\n95 %% intervals of a rate:");
    for (const unsigned failures : {0u, 1u, runs / 10, runs / 2})
        std::printf(" %u of %u %s;", failures, runs,
                    text(vmtest::clopper_pearson(failures, runs, 0.95)).c_str());
    std::printf("\n");
    print_summary(policies, all, runs);
    return complete;
}

// Programs that fail with known probability: PPCT must find them as often as PCT, at each depth.
// With all steps counted a seed has the same change points under both, drawn from the k that the
// probability is for.
bool measure_rates(unsigned runs) {
    const struct {
        const char* program;
        unsigned depth;
    } cases[] = {
        {"rate_d1_four", 1}, {"rate_d2_window", 2}, {"rate_d3_window", 3}, {"rate_d3_window", 4}};
    std::vector<std::string> rows;
    bool complete = true;
    for (const auto& [name, depth] : cases) {
        const Animal program = vmtest::animal(name);
        std::string row = "| " + program.name + " | " + std::to_string(depth) + " | ";
        double exact = -1;
        std::string cells;
        for (const char* policy : {"pct", "ppct", "none"}) {
            vmtest::Arguments options;
            if (policy == std::string_view("pct"))
                options = {"--skip-sequential", "off"};
            Campaign result = campaign(program, {policy}, depth, runs, 41, options);
            complete = complete && result.complete;
            for (const vmtest::Rate& rate : program.rates)
                if (rate.depth == depth && exact < 0 && result.steps)
                    exact = rate.at(static_cast<double>(result.steps));
            const Found& found = result.policies[policy];
            cells += fmt::format(" {} of {}, {} |", found.failures, found.runs,
                                 text(vmtest::clopper_pearson(found.failures, found.runs, 0.95)));
        }
        char known[32] = "-";
        if (exact >= 0)
            std::snprintf(known, sizeof known, "%.4f", exact);
        rows.push_back(row + known + " |" + cells);
    }
    std::printf("\nThe same seeds; failures, 95 %% interval of the rate\n\n"
                "| program | --depth | exact for pct | pct | ppct | none |\n"
                "|---|---|---|---|---|---|\n");
    for (const std::string& row : rows)
        std::printf("%s\n", row.c_str());
    return complete;
}

} // namespace

int main(int argc, char** argv) {
    const int number = argc > 1 ? std::atoi(argv[1]) : 30; // NOLINT
    if (number < 1 || argc > 3) {
        std::fprintf(stderr, "usage: zoo [RUNS [WHAT]]\n");
        return 2;
    }
    const unsigned runs = static_cast<unsigned>(number);
    const std::string only = argc > 2 ? argv[2] : "";
    bool complete = only == "rates" || measure_bugs(runs, only);
    if (only.empty() || only == "rates")
        complete = measure_rates(4 * runs) && complete;
    return complete ? 0 : 3;
}
