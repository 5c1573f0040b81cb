// SPDX-License-Identifier: GPL-2.0-only
// The virtio-serial ports, this guest's only way to the launcher.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/fd.h"
#include "protocol.h"

namespace vm::init {

using pctctl::Fd;

inline constexpr std::size_t kChunk = 32 * 1024; // what one virtio-serial buffer holds

// The port of that name, once the host is there; no descriptor when it does not come.
Fd wait_for_port(const char* name);

[[noreturn]] void power_off();

// Messages to and from the launcher.
class Control {
public:
    explicit Control(Fd port) : port_(std::move(port)) {}

    int fd() const { return port_.get(); }
    bool pending() const { return !out_.empty(); } // there is something to be sent
    void send(MessageType type, std::string_view payload = {});
    void flush();
    void flush_all(); // however long it takes: for last words
    void receive();
    std::optional<Message> next() { return unframe(in_); } // of what has been received
    Message wait();
    // Says why this guest is of no use, and ends it.
    [[noreturn]] void fail(const std::string& reason);

private:
    Fd port_;
    std::string in_;
    std::string out_;
};

} // namespace vm::init
