// SPDX-License-Identifier: GPL-2.0-only
// File systems: init's own, which stay, and those that each command gets anew.
#pragma once

#include <string>
#include <vector>

namespace vm::init {

inline constexpr const char* kCgroups = "/sys/fs/cgroup";

// These return an empty string, or what went wrong.

// Before anything else: /dev, where the ports appear.
void mount_devices();
// The host's root file system and the shared directories, outside of any command's sight.
std::string mount_host(const std::vector<std::string>& shares);
// In a mount namespace of its own: the host's root file system below a throw-away overlay, the
// system's file systems and the shared directories over it. Becomes this process' root.
std::string enter_machine(const std::vector<std::string>& shares);

} // namespace vm::init
