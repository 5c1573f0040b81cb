// SPDX-License-Identifier: GPL-2.0-only
#include "base/files.h"

#include <fcntl.h>

#include <cerrno>

#include "base/fd.h"

namespace pctctl {

std::optional<std::string> read_text(const std::string& path) {
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return std::nullopt;
    std::string text;
    char buffer[4096];
    for (;;) {
        ssize_t n = ::read(fd.get(), buffer, sizeof buffer);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return std::nullopt;
        if (n == 0)
            return text;
        text.append(buffer, static_cast<size_t>(n));
    }
}

int write_text(const std::string& path, std::string_view text) {
    Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    if (!fd)
        return errno;
    ssize_t n = ::write(fd.get(), text.data(), text.size());
    if (n < 0)
        return errno;
    return static_cast<size_t>(n) == text.size() ? 0 : EIO;
}

int write_all(int fd, std::string_view text) {
    while (!text.empty()) {
        const ssize_t written = ::write(fd, text.data(), text.size());
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return written < 0 ? errno : ENOSPC;
        text.remove_prefix(static_cast<size_t>(written));
    }
    return 0;
}

} // namespace pctctl
