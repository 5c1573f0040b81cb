// SPDX-License-Identifier: GPL-2.0-only
// What the scheduler needs of the kernel beyond the first version of sched_ext: the table in
// pctctl/kernel_needs.h, looked up in the kernel's type information (BTF).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pctctl {

// What to do about a kernel that lacks something of it.
constexpr const char* kNewerKernel = "boot a newer kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 7.3 "
                                     "has all that is needed) or use --vm";
constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

// A function or an enumerator that the scheduler cannot do without and that the kernel lacks whose
// types are in this file. Nothing also when the file cannot be read.
std::optional<std::string> missing_in_kernel(const std::string& types);

// The scheduler's flags (PCT_KERNEL_OPS_FLAGS), as that kernel numbers them. Nothing when one of
// them is missing, or the file cannot be read.
std::optional<std::uint64_t> scheduler_flags(const std::string& types = kKernelTypes);

} // namespace pctctl
