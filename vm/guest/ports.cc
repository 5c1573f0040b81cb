// SPDX-License-Identifier: GPL-2.0-only
#include "ports.h"

#include <algorithm>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/reboot.h>

#include "files.h"

namespace vm::init {
namespace {

// The device of a port by its name, once it has appeared.
Fd find_port(const char* name) {
    Fd port;
    DIR* directory = ::opendir("/sys/class/virtio-ports");
    if (!directory)
        return port;
    while (const dirent* entry = ::readdir(directory)) {
        const std::string device = entry->d_name;
        if (device[0] == '.' ||
            read_small_file("/sys/class/virtio-ports/" + device + "/name") != name)
            continue;
        port.reset(::open(("/dev/" + device).c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC));
        break;
    }
    ::closedir(directory);
    return port;
}

} // namespace

// Ports appear a moment after boot, and are hung up until the host has told that it is there.
Fd wait_for_port(const char* name) {
    for (int i = 0; i < 5000; ++i) {
        Fd port = find_port(name);
        for (; port && i < 5000; ++i) {
            pollfd p{port.get(), POLLIN, 0};
            if (::poll(&p, 1, 0) >= 0 && !(p.revents & POLLHUP))
                return port;
            ::usleep(1000);
        }
        ::usleep(1000);
    }
    return Fd();
}

void power_off() {
    ::sync();
    ::reboot(RB_POWER_OFF);
    for (;;)
        ::pause();
}

void Control::send(MessageType type, std::string_view payload) {
    out_ += frame(type, payload);
    flush();
}

void Control::flush() {
    while (!out_.empty()) {
        const ssize_t n = ::write(port_.get(), out_.data(), std::min(out_.size(), kChunk));
        if (n <= 0)
            return;
        out_.erase(0, static_cast<std::size_t>(n));
    }
}

void Control::flush_all() {
    while (pending()) {
        pollfd p{fd(), POLLOUT, 0};
        ::poll(&p, 1, 100);
        flush();
    }
}

void Control::receive() {
    char buffer[kChunk];
    for (;;) {
        const ssize_t n = ::read(port_.get(), buffer, sizeof buffer);
        if (n <= 0)
            return;
        in_.append(buffer, static_cast<std::size_t>(n));
    }
}

Message Control::wait() {
    for (;;) {
        if (auto message = next())
            return *message;
        const short events = static_cast<short>(POLLIN | (pending() ? POLLOUT : 0));
        pollfd p{fd(), events, 0};
        ::poll(&p, 1, 1000);
        flush();
        receive();
    }
}

void Control::fail(const std::string& reason) {
    send(MessageType::kFailure, reason);
    flush_all();
    power_off();
}

} // namespace vm::init
