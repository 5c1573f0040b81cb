// SPDX-License-Identifier: GPL-2.0-only
// Kernel functions that the scheduler needs and the first version of sched_ext did not have.
#pragma once

#include <optional>
#include <string>

namespace pctctl {

// The remedy for a kernel that lacks one of them.
constexpr const char* kNewerKernel = "boot a newer kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 7.3 "
                                     "has all that is needed) or use --vm";

// The first needed function that is not in this file of kernel types (/sys/kernel/btf/vmlinux).
// Nothing if all are there, or if the file cannot be read.
std::optional<std::string> missing_kernel_function(const std::string& types);

} // namespace pctctl
