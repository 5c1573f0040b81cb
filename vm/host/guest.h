// SPDX-License-Identifier: GPL-2.0-only
// A guest as a session needs it: descriptors, wherever its QEMU is.
#pragma once

#include "base/fd.h"

namespace vm {

using pctctl::Fd;

struct Guest {
    // Our ends of the guest's ports, non-blocking sockets. All of them end with QEMU.
    Fd control, in, out, err;
    // The serial console, and what QEMU itself has to say.
    Fd console, complaints;
};

} // namespace vm
