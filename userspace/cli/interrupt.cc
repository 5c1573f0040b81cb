// SPDX-License-Identifier: GPL-2.0-only
#include "cli/interrupt.h"

#include <pthread.h>
#include <unistd.h>

#include <chrono>
#include <string_view>
#include <utility>

#include "base/text.h"

namespace pctctl {
namespace {

// timeout(1) and others signal the process and then its group: that is one request, not two.
constexpr auto kSameRequest = std::chrono::milliseconds(500);

sigset_t held_signals() {
    sigset_t set;
    sigemptyset(&set);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        sigaddset(&set, signal);
    return set;
}

void say(std::string_view text) {
    if (::write(STDERR_FILENO, text.data(), text.size()) < 0)
        return; // nobody listens
}

} // namespace

void hold_signals() {
    const sigset_t set = held_signals();
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    // A reader of our output that goes away must not cost the results.
    std::signal(SIGPIPE, SIG_IGN);
}

Interrupt::Interrupt(bool over_status_line, Log log)
    : over_status_line_(over_status_line), log_(std::move(log)), listener_([this] { listen(); }) {}

Interrupt::~Interrupt() {
    closing_.request_stop();
    ::pthread_kill(listener_.native_handle(), SIGINT); // one of those it waits for
    listener_.join();
}

void Interrupt::listen() {
    const sigset_t set = held_signals();
    int signal = 0;
    ::sigwait(&set, &signal);
    if (closing_.stop_requested())
        return;
    log_.info("{}: no more runs are started, those under way are ended", signal_name(signal));
    stop_.request_stop();
    if (over_status_line_)
        say("\r\x1b[K");
    say("pctctl: stopping; once more to quit at once\n");
    const auto first = std::chrono::steady_clock::now();
    do {
        ::sigwait(&set, &signal);
        if (closing_.stop_requested())
            return;
    } while (std::chrono::steady_clock::now() - first < kSameRequest);
    // As if it had never been held: whoever started us sees what we died of.
    std::signal(signal, SIG_DFL);
    ::pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
    ::raise(signal);
}

} // namespace pctctl
