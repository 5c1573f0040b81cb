// SPDX-License-Identifier: GPL-2.0-only
// The executor that schedules through the kernel.
#pragma once

#include <memory>

#include "base/log.h"
#include "base/result.h"
#include "plan/executor.h"

namespace pctctl {

// Loads the scheduler into the running kernel. The kernel unloads it when the executor is destroyed
// or the process ends. An Error says what this machine lacks. `log` learns what was loaded and what
// each run met with.
Result<std::unique_ptr<Executor>> make_kernel_executor(const ExecutorOptions& options,
                                                       const Log& log = {});

} // namespace pctctl
