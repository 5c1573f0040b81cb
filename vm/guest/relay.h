// SPDX-License-Identifier: GPL-2.0-only
// Bytes between the command's pipes and the launcher's ports.
#pragma once

#include <cstdint>
#include <string>

#include "base/fd.h"

namespace vm::init {

struct Pipe {
    pctctl::Fd read;
    pctctl::Fd write;
};
Pipe make_pipe();

// The command's stdin: bytes from the port, held until the pipe takes them.
class InStream {
public:
    InStream() = default;
    InStream(int port, int pipe) : port_(port), pipe_(pipe) {}

    int port() const { return port_; }
    int pipe() const { return pipe_; }
    bool wants_input() const;
    bool wants_output() const { return pipe_ >= 0 && sent_ < buffer_.size(); }
    bool ended_after(std::uint64_t total) const {
        return pipe_ >= 0 && total_ >= total && sent_ == buffer_.size();
    }
    void input();
    bool output(); // false: nobody reads any longer
    // What still comes stays in the port.
    void close() { pipe_ = -1; }
    // Throws away what comes until this many bytes have come in all; false: not all are here yet.
    bool drop_until(std::uint64_t total);

private:
    int port_ = -1;
    int pipe_ = -1;
    std::string buffer_;
    std::size_t sent_ = 0;
    std::uint64_t total_ = 0;
};

// The command's stdout or stderr: pages move from the pipe into the port without being copied.
class OutStream {
public:
    OutStream() = default;
    OutStream(int pipe, int port) : pipe_(pipe), port_(port) {}

    // The one descriptor to wait for: data in the pipe first, room in the port then.
    int wait_fd() const { return full_ ? port_ : pipe_; }
    short wait_events() const;
    bool open() const { return pipe_ >= 0; }
    std::uint64_t total() const { return total_; }
    int queued() const;
    bool move(); // false: the last writer has closed
    void close() { pipe_ = -1; }

private:
    int pipe_ = -1;
    int port_ = -1;
    bool full_ = false;
    std::uint64_t total_ = 0;
};

} // namespace vm::init
