// SPDX-License-Identifier: GPL-2.0-only
// Which policy finds which of the zoo's bugs, how soon and how often; see docs/benchmarks.md. To be
// run in the virtual machine, where it calls pctctl as a user would.
//
//   zoo [RUNS [PROGRAM]]    runs of each policy and program (default 50); all programs, or one
//
// Exit status: 3 when some of it could not be measured.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "policies.h"
#include "tests/vm/harness.h"

namespace {

using vmtest::Animal;
using Clock = std::chrono::steady_clock;

constexpr const char* TIMEOUT = "10"; // seconds of a run; they take some hundredths of one

// What a campaign that goes on after failures has found.
struct Found {
    std::uint64_t runs = 0;
    std::uint64_t failures = 0; // with the bug's own outcome
    std::uint64_t first = 0;
    std::uint64_t steps = 0; // k
};

// Tells about its progress; nothing when it went wrong.
std::optional<Found> campaign(const Animal& program, const std::string& policy, unsigned depth,
                              unsigned runs) {
    const auto start = Clock::now();
    const vmtest::Call call =
        vmtest::pctctl({"--policy", policy, "--seed", "41", "--runs", std::to_string(runs),
                        "--keep-going", "--timeout", TIMEOUT, "--depth", std::to_string(depth),
                        "--points", program.points, "--", program.path()},
                       std::chrono::seconds(120 + runs));
    const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
    std::fprintf(stderr, "%s, %s: ", program.name.c_str(), policy.c_str());
    if (!call.reported || call.summary.runs_done != runs) {
        std::fprintf(stderr, "NOT MEASURED: status %d, %s%s\n", call.status,
                     call.json_defect.c_str(), call.err.c_str());
        return {};
    }
    Found found = {runs, 0, 0, call.summary.steps};
    std::uint64_t others = 0;
    for (const vmtest::RunResult& run : call.summary.results) {
        if (run.outcome == "pass")
            continue;
        if (run.outcome != program.outcome || (run.outcome == "exit" && run.exit_code != 1)) {
            ++others;
            continue;
        }
        ++found.failures;
        if (!found.first)
            found.first = run.number;
    }
    std::fprintf(stderr, "%lu of %u runs, first %lu; %.1f s\n", found.failures, runs, found.first,
                 seconds);
    if (others)
        std::fprintf(stderr, "  and %lu that ended with something else, not counted\n", others);
    return found;
}

std::string text(const vmtest::Interval& interval) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.3f-%.3f", interval.low, interval.high);
    return buffer;
}

// One column of the table.
struct Column {
    std::string policy;
    std::vector<std::optional<Found>> cells; // one for each program
};

void print_summary(const std::vector<Column>& columns, unsigned runs) {
    std::printf("\n| policy | programs | bugs found | runs that failed | of all, 95 %% interval | "
                "median of first runs |\n|---|---|---|---|---|---|\n");
    for (const auto& [policy, cells] : columns) {
        std::uint64_t measured = 0, bugs = 0, failures = 0, all = 0;
        std::vector<std::uint64_t> first;
        for (const auto& cell : cells) {
            if (!cell)
                continue;
            ++measured;
            bugs += cell->failures > 0;
            failures += cell->failures;
            all += cell->runs;
            first.push_back(cell->first ? cell->first : runs + 1);
        }
        if (first.empty())
            continue;
        std::sort(first.begin(), first.end());
        const std::uint64_t middle = first[first.size() / 2];
        std::printf("| %s | %lu | %lu | %lu of %lu | %s | %s |\n", policy.c_str(), measured, bugs,
                    failures, all, text(vmtest::clopper_pearson(failures, all, 0.95)).c_str(),
                    middle > runs ? ("> " + std::to_string(runs)).c_str()
                                  : std::to_string(middle).c_str());
    }
}

bool measure_bugs(unsigned runs, const std::string& only) {
    std::vector<Animal> bugs = vmtest::zoo();
    std::erase_if(bugs, [&](const Animal& one) {
        return one.healthy || one.is_rate() || (!only.empty() && one.name != only);
    });
    std::vector<Column> columns;
    for (const pctctl::PolicyInfo& policy : pctctl::known_policies())
        columns.push_back({std::string(policy.name), {}});
    bool complete = true;
    for (const Animal& bug : bugs)
        for (Column& column : columns) {
            column.cells.push_back(campaign(bug, column.policy, bug.depth, runs));
            complete = complete && column.cells.back();
        }

    std::printf("Runs of %u that failed @ the first one; --depth as the bug's.\n\n"
                "| program | depth |",
                runs);
    for (const Column& column : columns)
        std::printf(" %s |", column.policy.c_str());
    std::printf("\n|---|---|");
    for (std::size_t i = 0; i < columns.size(); ++i)
        std::printf("---|");
    for (std::size_t i = 0; i < bugs.size(); ++i) {
        std::printf("\n| %s | %u |", bugs[i].name.c_str(), bugs[i].depth);
        for (const Column& column : columns) {
            const std::optional<Found>& cell = column.cells[i];
            if (!cell)
                std::printf(" ? |");
            else if (cell->failures)
                std::printf(" %lu @ %lu |", cell->failures, cell->first);
            else
                std::printf(" 0 |");
        }
    }
    std::printf("\n\n95 %% intervals of a rate:");
    for (const unsigned percent : {0u, 2u, 10u, 50u}) {
        const unsigned failures = runs * percent / 100;
        std::printf(" %s%u of %u %s", percent ? "; " : "", failures, runs,
                    text(vmtest::clopper_pearson(failures, runs, 0.95)).c_str());
    }
    std::printf("\n");
    print_summary(columns, runs);
    return complete;
}

// PPCT's chances are to be PCT's, at each depth: programs that fail with known probability.
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
            const std::optional<Found> found = campaign(program, policy, depth, runs);
            complete = complete && found;
            if (!found) {
                cells += " ? |";
                continue;
            }
            for (const vmtest::Rate& rate : program.rates)
                if (rate.depth == depth && exact < 0)
                    exact = rate.at(static_cast<double>(found->steps));
            cells += " " + std::to_string(found->failures) + ": " +
                     text(vmtest::clopper_pearson(found->failures, runs, 0.95)) + " |";
        }
        char known[32] = "-";
        if (exact >= 0)
            std::snprintf(known, sizeof known, "%.4f", exact);
        rows.push_back(row + known + " |" + cells);
    }
    std::printf(
        "\n%u runs each, the same seeds: failures, 95 %% interval of the rate\n\n"
        "| program | --depth | exact for pct | pct | ppct | none |\n|---|---|---|---|---|---|\n",
        runs);
    for (const std::string& row : rows)
        std::printf("%s\n", row.c_str());
    return complete;
}

} // namespace

int main(int argc, char** argv) {
    const int number = argc > 1 ? std::atoi(argv[1]) : 50; // NOLINT
    if (number < 1 || argc > 3) {
        std::fprintf(stderr, "usage: zoo [RUNS [PROGRAM]]\n");
        return 2;
    }
    const unsigned runs = static_cast<unsigned>(number);
    const std::string only = argc > 2 ? argv[2] : "";
    bool complete = measure_bugs(runs, only);
    if (only.empty())
        complete = measure_rates(4 * runs) && complete;
    return complete ? 0 : 3;
}
