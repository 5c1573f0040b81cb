// SPDX-License-Identifier: GPL-2.0-only
// What the scheduler needs of the kernel beyond the first version of sched_ext.
#pragma once

#include <optional>
#include <string>

namespace pctctl {

// What to do about a kernel that lacks something of it.
constexpr const char* kNewerKernel = "boot a newer kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 7.3 "
                                     "has all that is needed) or use --vm";

// A function that the scheduler cannot do without and that the kernel lacks whose types are in this
// file (/sys/kernel/btf/vmlinux). Nothing also when the file cannot be read.
std::optional<std::string> missing_kernel_function(const std::string& types);

} // namespace pctctl
