// SPDX-License-Identifier: GPL-2.0-only
// --vm: the same command line inside the virtual machine, by replacing this process with vm/run.
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

// vm/run: `from_environment` (PCTCTL_VM_RUN) when set, else beside the executable: in the source
// tree or where it is installed (`libexec`, relative to the executable's directory).
Result<std::string> find_vm_run(const std::filesystem::path& executable,
                                const std::filesystem::path& libexec, const char* from_environment);

// Directories besides `cwd` (which the machine shares anyway, if it can) that must be writable
// inside: those of --out (made here when absent, or its runs would be lost with the machine), of
// the JSON file and the log, and `program_cwd`, where a replay starts the program. Absolute.
Result<std::vector<std::string>> writable_directories(const Options& options,
                                                      const std::filesystem::path& cwd,
                                                      const std::filesystem::path& program_cwd);

// The whole command line of vm/run.
std::vector<std::string> vm_command(const std::string& vm_run, const Options& options,
                                    const std::vector<std::string>& writable,
                                    std::span<const std::string> argv,
                                    const std::string& executable);

// The same for the running program and its environment.
Result<std::string> find_vm_run(const std::filesystem::path& libexec);

// Does all of it; returns only on error. `libexec` as above.
Error exec_in_vm(const Options& options, std::span<const std::string> argv,
                 const std::filesystem::path& libexec, const Log& log);

} // namespace pctctl
