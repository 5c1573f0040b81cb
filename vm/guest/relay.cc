// SPDX-License-Identifier: GPL-2.0-only
#include "relay.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "ports.h"

namespace vm::init {
namespace {

constexpr int kPipe = 1 << 20;                 // larger pipes, fewer switches between processes
constexpr std::size_t kHighWater = 256 * 1024; // more than this unsent: stop reading

} // namespace

Pipe make_pipe() {
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC))
        return {};
    ::fcntl(fds[0], F_SETPIPE_SZ, kPipe);
    return {Fd(fds[0]), Fd(fds[1])};
}

bool InStream::wants_input() const {
    return pipe_ >= 0 && buffer_.size() - sent_ < kHighWater;
}

void InStream::input() {
    char chunk[kChunk];
    const ssize_t n = ::read(port_, chunk, sizeof chunk);
    if (n > 0) {
        buffer_.append(chunk, static_cast<std::size_t>(n));
        total_ += static_cast<std::uint64_t>(n);
    }
}

bool InStream::output() {
    while (sent_ < buffer_.size()) {
        const ssize_t n = ::write(pipe_, buffer_.data() + sent_, buffer_.size() - sent_);
        if (n < 0)
            return errno == EAGAIN || errno == EINTR;
        sent_ += static_cast<std::size_t>(n);
    }
    buffer_.clear();
    sent_ = 0;
    return true;
}

bool InStream::drop_until(std::uint64_t total) {
    while (total_ < total) {
        char chunk[kChunk];
        const ssize_t n =
            ::read(port_, chunk, std::min<std::uint64_t>(sizeof chunk, total - total_));
        if (n <= 0)
            return false;
        total_ += static_cast<std::uint64_t>(n);
    }
    return true;
}

short OutStream::wait_events() const {
    return full_ ? POLLOUT : POLLIN;
}

int OutStream::queued() const {
    int bytes = 0;
    return pipe_ >= 0 && ::ioctl(pipe_, FIONREAD, &bytes) == 0 ? bytes : 0;
}

bool OutStream::move() {
    for (;;) {
        const ssize_t n = ::splice(pipe_, nullptr, port_, nullptr, kPipe, SPLICE_F_NONBLOCK);
        if (n > 0) {
            total_ += static_cast<std::uint64_t>(n);
            continue;
        }
        // Zero, for a port, means no more than that the pipe is empty at the moment.
        full_ = queued() > 0;
        pollfd p{pipe_, POLLIN, 0};
        return full_ || ::poll(&p, 1, 0) == 0 || (p.revents & POLLIN);
    }
}

} // namespace vm::init
