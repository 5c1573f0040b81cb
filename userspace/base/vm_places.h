// SPDX-License-Identifier: GPL-2.0-only
// Where things are, on the host and in the guest, as launcher and controller must agree on.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <unistd.h>

namespace vm {

// Can this directory (absolute, without links) be shared with the guest for writing? Not "/" as a
// whole, nor what the guest has of its own.
inline bool is_shareable(std::string_view directory) {
    const std::string slashed = std::string(directory) + "/";
    return directory != "/" && !slashed.starts_with("/proc/") && !slashed.starts_with("/sys/") &&
           !slashed.starts_with("/dev/");
}

// The program that emulates this machine's architecture, or empty. One that setup/deps has put
// beside the kernel comes first. path: PATH.
inline std::string find_qemu(const std::string& kernel_directory, std::string_view path) {
    const auto executable = [](const std::string& file) {
        return ::access(file.c_str(), X_OK) == 0;
    };
    if (std::string own = kernel_directory + "/../qemu/bin/qemu-system-x86_64"; executable(own))
        return own;
    const std::string directories = std::string(path) + ":/usr/bin:/usr/local/bin:/usr/libexec";
    for (const char* name : {"qemu-system-x86_64", "qemu-kvm"})
        for (std::size_t start = 0; start < directories.size();) {
            const std::size_t end = std::min(directories.find(':', start), directories.size());
            const std::string file = directories.substr(start, end - start) + "/" + name;
            if (executable(file))
                return file;
            start = end + 1;
        }
    return {};
}

} // namespace vm
