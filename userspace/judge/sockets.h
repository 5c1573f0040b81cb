// SPDX-License-Identifier: GPL-2.0-only
// Who can send something to a socket of the run, or read what was sent there.
#pragma once

#include <string>

#include "judge/descriptors.h"
#include "judge/run_view.h"

namespace pctctl {

// link: of the descriptor, "socket:[123]".
Source socket_source(const BlockedThread& thread, int fd, const std::string& link);

} // namespace pctctl
