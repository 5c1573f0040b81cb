// SPDX-License-Identifier: GPL-2.0-only
// Where the parts of an ELF file lie that holds probed libc operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "kernel/private_libc.h"
#include "pctctl/run.h"

namespace pctctl {

// File offsets of the text segment, of the function syscall(2) and of the points.
Result<pct_object> describe_object(int fd, std::span<const LibcPoint> points);

// Size of the dynamic loader at path as mapped in memory, up to the end of its text.
Result<std::uint64_t> loader_text_size(const std::string& path);

// The dynamic loader (PT_INTERP) that started this process. Empty: the process is static.
std::string own_loader();

} // namespace pctctl
