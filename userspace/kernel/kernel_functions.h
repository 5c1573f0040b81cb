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

struct KernelSupport {
    // The first function or enumerator of the table that the kernel lacks.
    std::optional<std::string> missing;
    // The scheduler's flags (PCT_KERNEL_OPS_FLAGS), as this kernel numbers them. Nothing when it
    // lacks one of them.
    std::optional<std::uint64_t> scheduler_flags;
};

// Reads a file of kernel types, which takes some tenths of a second on an emulated CPU. Nothing is
// set if it cannot be read.
KernelSupport read_kernel_support(const std::string& types);

} // namespace pctctl
