// SPDX-License-Identifier: GPL-2.0-only
// Command lines that repeat a run, to be copied by the user.
#pragma once

#include <string>
#include <string_view>

#include "plan/executor.h"
#include "report/report.h"

namespace pctctl {

// The command line that repeats a run: from the directory it is kept in, or from its seed.
std::string replay_command(const Caller& caller, std::string_view kept_in);
std::string replay_command(const Caller& caller, const RunSeed& seed,
                           const ExecutorOptions& options);

} // namespace pctctl
