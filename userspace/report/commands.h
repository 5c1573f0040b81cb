// SPDX-License-Identifier: GPL-2.0-only
// Command lines that repeat a run, for the user to copy.
#pragma once

#include <string>
#include <string_view>

#include "plan/executor.h"
#include "report/report.h"

namespace pctctl {

// From the directory that the run is kept in, or from its seed.
std::string replay_command(const Caller& caller, std::string_view kept_in);
std::string replay_command(const Caller& caller, const RunSeed& seed,
                           const ExecutorOptions& options);

} // namespace pctctl
