// SPDX-License-Identifier: GPL-2.0-only
// Replays: was it the same run again? If not, what may be the cause?
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "plan/executor.h"
#include "plan/run_plan.h"
#include "report/report.h"
#include "report/store.h"

namespace pctctl {

// Same order of steps: same order_hash and same number of steps.
bool same_order(const RunResult& a, const RunResult& b);
// Same outcome: also the same exit status and signal.
bool same_outcome(const RunResult& a, const RunResult& b);

// Compares tries with the kept run; without one, with the first try.
ReplayVerdict judge_replay(const std::optional<RunRecord>& kept, std::span<const RunResult> tries);

// How the options differ from those of the kept run: "depth 3 instead of 2". Empty: they do not.
std::vector<std::string> changed_options(const ExecutorOptions& kept, const ExecutorOptions& used);

// The text for people. `from` names the kept run, or is empty. `kernel` is the running one.
std::string replay_text(const std::optional<RunRecord>& kept, const std::string& from,
                        const Report& report, const std::string& kernel);

} // namespace pctctl
