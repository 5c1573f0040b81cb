// SPDX-License-Identifier: GPL-2.0-only
#include "session.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "status.h"

namespace vm {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kChunk = 64 * 1024;
constexpr auto kPing = seconds(5);
constexpr auto kHung = seconds(90);        // without a sign of life
constexpr auto kSettle = seconds(60);      // to clean up behind a command
constexpr long kGrace = 5;                 // seconds from the first request to end to the end
constexpr auto kTwice = milliseconds(300); // signals this close together are one request
constexpr std::size_t kConsoleKept = 8192;

seconds grace() {
    const char* wish = std::getenv("PCTCTL_VM_GRACE");
    char* end = nullptr;
    const long value = wish ? std::strtol(wish, &end, 10) : -1;
    return seconds(value >= 0 && *wish && !*end ? std::min(value, 3600L) : kGrace);
}

void send_some(const Fd& to, std::string& bytes) {
    while (!bytes.empty()) {
        const ssize_t n = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
        if (n <= 0)
            return;
        bytes.erase(0, static_cast<std::size_t>(n));
    }
}

bool readable(const Fd& fd) {
    char byte = 0;
    return fd && ::recv(fd.get(), &byte, 1, MSG_PEEK) > 0;
}

} // namespace

bool is_request_to_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

Session::Session(Guest& guest, const Command& command, int signals)
    : guest_(guest), command_(command), signals_(signals), start_(Clock::now()),
      next_ping_(start_ + kPing), boot_deadline_(Clock::time_point::max()) {}

std::optional<int> Session::run() {
    control_out_ = frame(MessageType::kCommand, command_.encode());
    std::optional<int> status;
    while (!status && !gave_up_)
        status = step();
    return status;
}

bool Session::settle() {
    // Only after its own end is nothing more to come of the command.
    if (!exit_ || dead_ || out_.total < exit_->out || err_.total < exit_->err)
        return false;
    send(MessageType::kDone, Writer().number(in_.total - in_.buffer.size()).take());
    const auto until = Clock::now() + kSettle;
    while (!idle_ && !dead_) {
        const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
        if (left <= 0)
            return false;
        pollfd p{guest_.control.get(),
                 static_cast<short>(POLLIN | (control_out_.empty() ? 0 : POLLOUT)), 0};
        ::poll(&p, 1, static_cast<int>(left));
        send_some(guest_.control, control_out_);
        if (p.revents & ~POLLOUT && receive_control())
            return false;
    }
    return idle_ && control_in_.empty();
}

std::optional<int> Session::step() {
    pollfd fds[10];
    int n = 0;
    auto add = [&](int fd, bool wanted, int events) {
        fds[n] = {wanted ? fd : -1, static_cast<short>(events), 0};
        return n++;
    };
    const int signals = add(signals_, true, POLLIN);
    const int control =
        add(guest_.control.get(), true, POLLIN | (control_out_.empty() ? 0 : POLLOUT));
    const int console = add(guest_.console.get(), bool(guest_.console), POLLIN);
    const int complaints = add(guest_.complaints.get(), bool(guest_.complaints), POLLIN);
    const int in_from = add(0, ready_ && !stdin_ended_ && in_.buffer.size() < kChunk, POLLIN);
    const int in_to = add(guest_.in.get(), !in_.buffer.empty(), POLLOUT);
    const int out_from = add(guest_.out.get(), out_.buffer.size() < kChunk, POLLIN);
    const int err_from = add(guest_.err.get(), err_.buffer.size() < kChunk, POLLIN);
    const int out_to = add(1, !out_.buffer.empty() && !out_.closed, POLLOUT);
    const int err_to = add(2, !err_.buffer.empty() && !err_.closed, POLLOUT);
    if (::poll(fds, static_cast<nfds_t>(n), poll_timeout()) < 0 && errno != EINTR)
        return fail(std::string("poll: ") + std::strerror(errno));

    if (fds[console].revents)
        collect(guest_.console);
    if (fds[complaints].revents)
        collect(guest_.complaints);
    if (fds[in_from].revents)
        read_stdin();
    if (fds[in_to].revents & POLLOUT)
        send_some(guest_.in, in_.buffer);
    if (fds[out_from].revents & POLLIN)
        receive(guest_.out, out_);
    if (fds[err_from].revents & POLLIN)
        receive(guest_.err, err_);
    if (fds[out_to].revents)
        deliver(1, out_);
    if (fds[err_to].revents)
        deliver(2, err_);
    if (fds[signals].revents)
        if (auto status = take_signals())
            return status;
    if (fds[control].revents) {
        if (fds[control].revents & POLLOUT)
            send_some(guest_.control, control_out_);
        if (auto status = receive_control())
            return status;
    }
    if (exit_ && out_.total >= exit_->out && err_.total >= exit_->err &&
        (out_.buffer.empty() || out_.closed) && (err_.buffer.empty() || err_.closed))
        return lost_output_ && exit_->status == 0 ? kVmFailed : exit_->status;
    if (dead_ && !exit_)
        return fail("the virtual machine died" + reason());
    return check_time();
}

int Session::poll_timeout() const {
    auto until = next_ping_;
    if (deadline_)
        until = std::min(until, *deadline_);
    if (!ready_)
        until = std::min(until, boot_deadline_);
    if (kill_at_)
        until = std::min(until, *kill_at_);
    const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
    return static_cast<int>(std::clamp<long>(left, 0, 60000));
}

std::optional<int> Session::check_time() {
    const auto now = Clock::now();
    if (deadline_ && now >= *deadline_) {
        complain("ended after --timeout");
        return kTimedOut;
    }
    if (kill_at_ && now >= *kill_at_)
        return 128 + end_signal_;
    if (!ready_ && now >= boot_deadline_)
        return fail("the virtual machine does not boot" + reason());
    if (now >= next_ping_) {
        next_ping_ = now + kPing;
        // Only an unanswered question counts: this process may itself have been stopped.
        if (pinged_ && now - *pinged_ > kHung)
            return fail("the virtual machine hangs" + reason());
        if (ready_ && !exit_ && !pinged_) {
            pinged_ = now;
            send(MessageType::kPing);
        }
    }
    return std::nullopt;
}

void Session::send(MessageType type, std::string_view payload) {
    control_out_ += frame(type, payload);
    send_some(guest_.control, control_out_);
}

void Session::read_stdin() {
    char chunk[kChunk];
    const ssize_t n = ::read(0, chunk, sizeof chunk);
    if (n > 0) {
        in_.buffer.append(chunk, static_cast<std::size_t>(n));
        in_.total += static_cast<std::uint64_t>(n);
        send_some(guest_.in, in_.buffer);
    } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        stdin_ended_ = true;
        send(MessageType::kStdinEnd, Writer().number(in_.total).take());
    }
}

void Session::receive(const Fd& from, Relay& relay) {
    char chunk[kChunk];
    const ssize_t n = ::recv(from.get(), chunk, sizeof chunk, 0);
    if (n <= 0)
        return;
    relay.total += static_cast<std::uint64_t>(n);
    if (!relay.closed)
        relay.buffer.append(chunk, static_cast<std::size_t>(n));
}

// poll() promises room for PIPE_BUF bytes in a pipe; more might block us all.
void Session::deliver(int fd, Relay& relay) {
    struct stat status{};
    const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
    const std::size_t size = std::min<std::size_t>(relay.buffer.size(), regular ? kChunk : 4096);
    const ssize_t n = ::write(fd, relay.buffer.data(), size);
    if (n >= 0) {
        relay.buffer.erase(0, static_cast<std::size_t>(n));
    } else if (errno != EAGAIN && errno != EINTR) {
        if (errno != EPIPE) { // a reader that has seen enough is no failure; a full disk is
            complain("cannot write the command's " + std::string(fd == 1 ? "stdout" : "stderr") +
                     ": " + std::strerror(errno));
            lost_output_ = true;
        }
        relay.closed = true;
        relay.buffer.clear();
        send(MessageType::kClosed, Writer().number(static_cast<std::uint64_t>(fd)).take());
    }
}

void Session::collect(Fd& from) {
    char chunk[4096];
    const ssize_t n = ::recv(from.get(), chunk, sizeof chunk, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        from.reset();
    if (n <= 0)
        return;
    console_.append(chunk, static_cast<std::size_t>(n));
    if (console_.size() > kConsoleKept)
        console_.erase(0, console_.size() - kConsoleKept);
    static const bool show = std::getenv("PCTCTL_VM_CONSOLE") != nullptr;
    if (show && ::write(2, chunk, static_cast<std::size_t>(n)) < 0)
        return;
}

std::optional<int> Session::take_signals() {
    signalfd_siginfo info;
    while (::read(signals_, &info, sizeof info) == sizeof info) {
        const int signal = static_cast<int>(info.ssi_signo);
        if (is_request_to_end(signal)) {
            // timeout(1) sends the same signal twice, to us and to our group
            const bool again = signal != end_signal_ || Clock::now() > requested_ + kTwice;
            if (!ready_ || (kill_at_ && again))
                return 128 + signal;
            if (kill_at_)
                continue;
            requested_ = Clock::now();
            kill_at_ = Clock::now() + grace();
            end_signal_ = signal;
        }
        if (ready_)
            send(MessageType::kSignal, Writer().number(static_cast<std::uint64_t>(signal)).take());
    }
    return std::nullopt;
}

// What has been said before the end is on its way.
void Session::collect_last_words() {
    ::usleep(20000);
    while (readable(guest_.complaints))
        collect(guest_.complaints);
    while (readable(guest_.console))
        collect(guest_.console);
}

std::optional<int> Session::receive_control() {
    char chunk[kChunk];
    const ssize_t n = ::recv(guest_.control.get(), chunk, sizeof chunk, 0);
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
        dead_ = true;
        collect_last_words();
        return std::nullopt;
    }
    if (n < 0)
        return std::nullopt;
    control_in_.append(chunk, static_cast<std::size_t>(n));
    while (auto message = unframe(control_in_))
        if (const auto status = handle(*message))
            return status;
    return std::nullopt;
}

std::optional<int> Session::handle(const Message& message) {
    Reader reader(message.payload);
    switch (message.type) {
    case MessageType::kReady:
        ready_ = true;
        break;
    case MessageType::kTimePlease: {
        const auto now = std::chrono::system_clock::now().time_since_epoch();
        const auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
        send(MessageType::kTime, Writer().number(static_cast<std::uint64_t>(ns)).take());
        break;
    }
    case MessageType::kPong:
        pinged_.reset();
        break;
    case MessageType::kExit: {
        const int status = static_cast<int>(reader.number());
        exit_ = Exit{};
        exit_->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        exit_->out = reader.number();
        exit_->err = reader.number();
        kill_at_.reset();
        break;
    }
    case MessageType::kNotRun: {
        const int error = static_cast<int>(reader.number());
        complain(command_.arguments[0] + ": " + std::strerror(error));
        exit_ = Exit{};
        return error == ENOENT ? kNotFound : kNotExecutable;
    }
    case MessageType::kIdle:
        idle_ = true;
        break;
    case MessageType::kFailure:
        return fail("in the virtual machine: " + message.payload);
    default:
        break;
    }
    return std::nullopt;
}

// The last thing said on the console, in one line.
std::string Session::reason() const {
    std::string text = console_;
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
        text.pop_back();
    if (const auto panic = text.rfind("Kernel panic"); panic != std::string::npos)
        text = text.substr(panic, text.find_first_of("\r\n", panic) - panic);
    else if (const auto line = text.find_last_of("\r\n"); line != std::string::npos)
        text.erase(0, line + 1);
    return text.empty() ? "" : " (" + text + ")";
}

std::optional<int> Session::fail(const std::string& why) {
    if (!ready_ && !last_try_) {
        gave_up_ = true;
        return std::nullopt;
    }
    complain(why);
    return kVmFailed;
}

} // namespace vm
