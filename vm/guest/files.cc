// SPDX-License-Identifier: GPL-2.0-only
#include "files.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>

#include "base/fd.h"

namespace vm::init {

using pctctl::Fd;

std::string read_small_file(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char buffer[256];
    const ssize_t n = fd ? ::read(fd.get(), buffer, sizeof buffer) : -1;
    std::string text(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

bool write_small_file(const std::string& path, std::string_view text) {
    const Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

void make_directories(const std::string& path) {
    for (std::size_t i = 1; i <= path.size(); ++i)
        if (i == path.size() || path[i] == '/')
            ::mkdir(path.substr(0, i).c_str(), 0755);
}

std::string error_text(const std::string& what) {
    return what + ": " + std::strerror(errno);
}

} // namespace vm::init
