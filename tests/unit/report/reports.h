// SPDX-License-Identifier: GPL-2.0-only
// Made-up reports, for tests of what is printed about them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plan/policies.h"
#include "report/report.h"
#include "support/fake_executor.h"

namespace pctctl {

inline RunResult run_of(RunResult run, std::uint32_t number, std::uint32_t k) {
    run.number = number;
    run.seed = {k, 0x100U + number};
    return run;
}

// Computes again what follows from the runs, after they have been changed.
inline void retally(Report& report) {
    report.tally = tally(report.campaign.runs, report.options);
}

inline Report report_of(std::vector<RunResult> runs, unsigned depth = 2) {
    Report report;
    for (RunResult& run : runs)
        run.algorithm.depth = depth;
    report.options.command = {"./app", "a b"};
    report.options.depth = depth;
    report.campaign.runs = std::move(runs);
    report.campaign.elapsed_s = 12.3;
    retally(report);
    report.planned = static_cast<std::uint32_t>(report.campaign.runs.size());
    report.campaign_seed = 0xabc;
    return report;
}

// Three runs of 2 threads and 10 steps; the last one fails.
inline Report failing_report() {
    return report_of(
        {run_of(passing_run(), 1, 0), run_of(passing_run(), 2, 10), run_of(failing_run(), 3, 10)});
}

inline Report passing_report() {
    return report_of(
        {run_of(passing_run(), 1, 0), run_of(passing_run(), 2, 10), run_of(passing_run(), 3, 10)});
}

inline bool contains(const std::string& text, const std::string& part) {
    return text.find(part) != std::string::npos;
}

// Runs 1 .. 6 of 2 threads and 10 steps, taking turns; run 3 fails.
inline Report portfolio_report(const std::string& policies, unsigned depth = 2) {
    Report report = report_of({}, depth);
    report.options.policy = policies;
    const auto names = *portfolio(policies);
    for (std::uint32_t i = 1; i <= 6; ++i) {
        RunResult run = run_of(i == 3 ? failing_run() : passing_run(), i, i == 1 ? 0 : 10);
        run.algorithm = {names[(i - 1) % names.size()], depth};
        report.campaign.runs.push_back(run);
    }
    retally(report);
    return report;
}

} // namespace pctctl
