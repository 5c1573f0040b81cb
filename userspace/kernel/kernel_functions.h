// SPDX-License-Identifier: GPL-2.0-only
// What the scheduler needs of the kernel beyond the first version of sched_ext: the table in
// pctctl/kernel_needs.h, looked up in the kernel's type information (BTF).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace pctctl {

// The remedy for a kernel that lacks one of them.
constexpr const char* kNewerKernel = "boot a newer kernel with CONFIG_SCHED_CLASS_EXT=y (Linux 7.3 "
                                     "has all that is needed) or use --vm";
constexpr const char* kKernelTypes = "/sys/kernel/btf/vmlinux";

// The first function or enumerator of the table that is not in this file of kernel types. Nothing
// if all are there, or if the file cannot be read.
std::optional<std::string> missing_in_kernel(const std::string& types);

// The scheduler's flags (PCT_KERNEL_OPS_FLAGS), as that kernel numbers them. Nothing when one of
// them is missing, or the file cannot be read.
std::optional<std::uint64_t> scheduler_flags(const std::string& types = kKernelTypes);

} // namespace pctctl
