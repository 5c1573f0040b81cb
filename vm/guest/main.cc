// SPDX-License-Identifier: GPL-2.0-only
// The guest's init: runs commands for the launcher, one after the other, each in a machine as it
// was after boot. It is process 1 and the only program in the initramfs, hence linked statically.
//
//   ports      how it talks with the launcher    mounts   which files there are
//   command    one command                       machine  clock, limits, what a command leaves
//   relay      its streams
#include <csignal>
#include <cstdio>
#include <sys/signalfd.h>

#include "command.h"
#include "machine.h"
#include "mounts.h"
#include "ports.h"

using namespace vm;
using namespace vm::init;

namespace {

[[noreturn]] void serve() {
    Fd port = wait_for_port(kControlPort);
    if (!port) {
        std::fprintf(stderr, "init: the launcher's port does not appear\n");
        power_off();
    }
    Control control(std::move(port));
    const Message boot = control.wait();
    if (boot.type != MessageType::kBoot)
        control.fail("launcher and init are of different builds");
    const std::vector<std::string> shares = Reader(boot.payload).list();
    const StreamPorts ports{wait_for_port(kStdinPort), wait_for_port(kStdoutPort),
                            wait_for_port(kStderrPort)};
    if (!ports.in || !ports.out || !ports.err)
        control.fail("a stream's port does not appear");
    if (const std::string error = mount_host(shares); !error.empty())
        control.fail(error);
    prepare_machine();

    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    const Fd children(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    ::signal(SIGPIPE, SIG_IGN);
    for (;;) {
        const Message message = control.wait();
        if (message.type != MessageType::kCommand)
            continue; // about the command before, and too late
        auto command = Command::decode(message.payload);
        if (!command)
            control.fail("launcher and init are of different builds");
        set_clock(control);
        CommandRun(control, ports, children.get(), shares, std::move(*command)).run();
        if (const std::string error = clean_machine(); !error.empty())
            control.fail(error);
        control.send(MessageType::kIdle);
    }
}

} // namespace

int main() {
    mount_devices();
    serve();
}
