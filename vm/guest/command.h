// SPDX-License-Identifier: GPL-2.0-only
// One command: started, its streams and signals relayed, its end told.
#pragma once

#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include "ports.h"
#include "relay.h"

namespace vm::init {

// The ports of the three streams, which stay for all commands.
struct StreamPorts {
    Fd in, out, err;
};

class CommandRun {
public:
    // children: a signalfd for SIGCHLD, which is blocked.
    CommandRun(Control& control, const StreamPorts& ports, int children,
               const std::vector<std::string>& shares, Command command)
        : control_(control), ports_(ports), children_(children), shares_(shares),
          command_(std::move(command)) {}

    // From its start to the moment at which the launcher has nothing more to say about it.
    void run();

private:
    bool start();
    [[noreturn]] void execute(int outcome);
    void step();
    void handle(const Message& message);
    void handle_messages();
    void reap();
    void close_stdin();
    static void close_out(OutStream& stream, Pipe& pipe);
    void drain(OutStream& stream, Pipe& pipe);
    void tell_end();
    void wait_for_done();

    Control& control_;
    const StreamPorts& ports_;
    int children_;
    const std::vector<std::string>& shares_;
    Command command_;
    Pipe pipe_in_, pipe_out_, pipe_err_;
    InStream in_;
    OutStream out_, err_;
    std::optional<std::uint64_t> stdin_end_, done_; // bytes of stdin
    pid_t child_ = -1;
    std::optional<int> status_; // once it has ended
};

} // namespace vm::init
