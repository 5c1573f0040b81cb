// SPDX-License-Identifier: GPL-2.0-only
// One QEMU process: started with everything it needs as descriptors, so that nothing of it is in
// any file system, and killed with its owner.
#pragma once

#include <string>
#include <sys/types.h>
#include <vector>

#include "guest.h"

namespace vm {

// QEMU's emulation executes one of the guest's CPUs at a time. With a thread for each of them it
// loses a race that kills the guest now and then: the kernel patches its own code, and the other
// CPU may go on with a translation of what stood there in between (int3).
enum class Accelerator { kKvm, kTcg, kTcgParallel };

struct MachineSettings {
    std::string qemu;
    std::string qemu_data; // its boot code, when not in its usual place
    std::string kernel_image;
    int initramfs = -1; // descriptor of a memory file
    int cpus = 2;
    std::string memory;
    std::vector<std::string> shares;
};

// Life cycle: start() once; the destructor (or kill()) ends the process and waits for it.
class Machine {
public:
    Machine() = default;
    Machine(const Machine&) = delete;
    Machine& operator=(const Machine&) = delete;
    ~Machine() { kill(); }

    // Empty, or why it could not be started.
    std::string start(const MachineSettings& settings, Accelerator accelerator);
    void kill();
    bool exited(); // does not block

    Guest& guest() { return guest_; }

private:
    Guest guest_;
    pid_t pid_ = -1;
};

// An initramfs with this init and the modules of the kernel directory, as a memory file.
Fd build_initramfs(const std::string& init, const std::string& kernel_directory,
                   std::string& error);

} // namespace vm
