// SPDX-License-Identifier: GPL-2.0-only
// Where things lie in an ELF file that holds probed libc operations.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "base/result.h"
#include "kernel/private_libc.h"
#include "pctctl/run.h"

namespace pctctl {

// Text segment, syscall(2) and the points of the open file, in file offsets.
Result<pct_object> describe_object(int fd, std::span<const LibcPoint> points);

// Size of the image of the program interpreter at path, up to the end of its text.
Result<std::uint64_t> loader_text_size(const std::string& path);

// The interpreter (PT_INTERP) that this process itself was started with; empty: static.
std::string own_loader();

} // namespace pctctl
