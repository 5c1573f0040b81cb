// SPDX-License-Identifier: GPL-2.0-only
// The command line of vm/run.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace vm {

struct Options {
    std::string init;   // static program for the initramfs
    std::string kernel; // directory with vmlinux, release and modules/
    int cpus = 2;
    std::string memory = "2G"; // as QEMU takes it; pages are taken from the host when first used
    std::optional<std::chrono::milliseconds> timeout; // of the whole run, boot included
    std::vector<std::string> writable;                // absolute, from --rw
    std::vector<std::string> command;

    // Guests that stay up, by name. At most one of these is there.
    std::string start_pool; // --pool
    std::string in_pool;    // --in: the command is run in one of them
    std::string end_pool;   // --end
    unsigned guests = 2;
    double idle = 300; // seconds
    bool with_parent = false;
};

// Prints help or the error itself and returns the exit status to end with in that case.
std::optional<int> parse_options(int argc, char** argv, Options& options);

} // namespace vm
