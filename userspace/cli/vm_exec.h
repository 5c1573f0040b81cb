// SPDX-License-Identifier: GPL-2.0-only
// --vm: replaces this process by vm/run, which executes the same command line in the virtual
// machine.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/log.h"
#include "base/result.h"
#include "cli/options.h"

namespace pctctl {

// Finds vm/run. `from_environment` (PCTCTL_VM_RUN) wins if set. Else it is looked for beside the
// executable: in the source tree, or in the installation (`libexec`, relative to the executable's
// directory).
Result<std::string> find_vm_run(const std::filesystem::path& executable,
                                const std::filesystem::path& libexec, const char* from_environment);

// Absolute paths of the directories that the virtual machine must be able to write to: --out, that
// of the JSON file, that of the log, and `program_cwd`, where a replay starts the program. Makes
// --out if it is absent: else its runs would be lost with the machine. `cwd` is not among them,
// since the machine shares it anyway, if it can.
Result<std::vector<std::string>> writable_directories(const Options& options,
                                                      const std::filesystem::path& cwd,
                                                      const std::filesystem::path& program_cwd);

// The whole command line of vm/run.
std::vector<std::string> vm_command(const std::string& vm_run, const Options& options,
                                    const std::vector<std::string>& writable,
                                    std::span<const std::string> argv,
                                    const std::string& executable);

// Finds vm/run for the running program, with its environment.
Result<std::string> find_vm_run(const std::filesystem::path& libexec);

// All of the above. Returns only on error.
Error exec_in_vm(const Options& options, std::span<const std::string> argv,
                 const std::filesystem::path& libexec, const Log& log);

} // namespace pctctl
