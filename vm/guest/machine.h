// SPDX-License-Identifier: GPL-2.0-only
// What the guest as a whole has, beside its files: clock, name, limits, processes, cgroups.
#pragma once

#include <string>

#include "ports.h"

namespace vm::init {

// Once, after boot.
void prepare_machine();
// Files written here and on the host shall have times that agree.
void set_clock(Control& control);
// Ends what a command has left behind and undoes what it did to the cgroups. Its files, System V
// and POSIX IPC objects have gone with its namespaces. Returns what cannot be ended.
std::string clean_machine();

} // namespace vm::init
