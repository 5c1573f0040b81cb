// SPDX-License-Identifier: GPL-2.0-only
// One command in a guest, seen from the host: waits for the guest to be up, relays the command's
// streams and signals, watches the time.
#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "guest.h"
#include "protocol.h"

namespace vm {

using Clock = std::chrono::steady_clock;

// Does this signal ask a command to end?
bool is_request_to_end(int signal);

class Session {
public:
    // signals: a signalfd of what is to be passed on.
    Session(Guest& guest, const Command& command, int signals);

    // The guest has to come up in that time.
    void boot_within(std::chrono::milliseconds limit) { boot_deadline_ = start_ + limit; }
    // The command has to end until then.
    void end_by(Clock::time_point deadline) { deadline_ = deadline; }
    // When the guest does not come up, nothing is said: there is another way to try.
    void fail_silently() { last_try_ = false; }

    // Exit status; empty when the guest did not come up and fail_silently() was asked for.
    std::optional<int> run();
    // After run(): leaves the guest ready for another command. False: it is of no more use.
    bool settle();

    bool ready() const { return ready_; } // the guest is, or was, up

private:
    // Bytes on their way from one descriptor to another.
    struct Relay {
        std::string buffer;
        std::uint64_t total = 0; // bytes that have come in
        bool closed = false;     // the receiver is gone; further bytes are counted and dropped
    };
    // How the command ended, and how much of its output there is to come.
    struct Exit {
        int status = 0;
        std::uint64_t out = 0;
        std::uint64_t err = 0;
    };

    std::optional<int> step();
    int poll_timeout() const;
    std::optional<int> check_time();
    void send(MessageType type, std::string_view payload = {});
    void read_stdin();
    static void receive(const Fd& from, Relay& relay);
    void deliver(int fd, Relay& relay);
    void collect(Fd& from);
    void collect_last_words();
    std::optional<int> take_signals();
    std::optional<int> receive_control();
    std::optional<int> handle(const Message& message);
    std::string reason() const;
    std::optional<int> fail(const std::string& why);

    Guest& guest_;
    const Command& command_;
    int signals_;
    Relay in_, out_, err_;
    std::string control_in_, control_out_, console_;
    Clock::time_point start_, next_ping_, boot_deadline_, requested_;
    std::optional<Clock::time_point> deadline_, kill_at_, pinged_;
    std::optional<Exit> exit_;
    int end_signal_ = 0;
    bool ready_ = false, idle_ = false, last_try_ = true, gave_up_ = false, dead_ = false,
         stdin_ended_ = false, lost_output_ = false;
};

} // namespace vm
