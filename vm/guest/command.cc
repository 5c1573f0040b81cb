// SPDX-License-Identifier: GPL-2.0-only
#include "command.h"

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/signalfd.h>
#include <sys/wait.h>

#include "files.h"
#include "mounts.h"

namespace vm::init {
namespace {

void set_nonblocking(const Fd& fd) {
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

// What the child tells before it becomes the command: why it does not.
[[noreturn]] void give_up(int outcome, int error, const std::string& text) {
    const std::string message =
        std::string(reinterpret_cast<const char*>(&error), sizeof error) + text;
    std::_Exit(::write(outcome, message.data(), message.size()) < 0 ? 126 : 127);
}

} // namespace

void CommandRun::run() {
    if (start()) {
        while (!status_)
            step();
        drain(out_, pipe_out_);
        drain(err_, pipe_err_);
        tell_end();
    }
    close_stdin();
    close_out(out_, pipe_out_);
    close_out(err_, pipe_err_);
    wait_for_done();
}

bool CommandRun::start() {
    pipe_in_ = make_pipe();
    pipe_out_ = make_pipe();
    pipe_err_ = make_pipe();
    in_ = InStream(ports_.in.get(), pipe_in_.write.get());
    out_ = OutStream(pipe_out_.read.get(), ports_.out.get());
    err_ = OutStream(pipe_err_.read.get(), ports_.err.get());
    Pipe outcome = make_pipe();
    child_ = ::fork();
    if (child_ < 0)
        control_.fail(error_text("cannot fork"));
    if (child_ == 0)
        execute(outcome.write.get());
    outcome.write.reset();
    pipe_in_.read.reset();
    pipe_out_.write.reset();
    pipe_err_.write.reset();
    int error = 0;
    char message[512];
    const ssize_t n = ::read(outcome.read.get(), message, sizeof message);
    if (n > static_cast<ssize_t>(sizeof error))
        control_.fail(std::string(message + sizeof error, message + n));
    control_.send(MessageType::kReady);
    if (n == sizeof error) {
        std::memcpy(&error, message, sizeof error);
        control_.send(MessageType::kNotRun, Writer().number(error).take());
        return false;
    }
    set_nonblocking(pipe_in_.write);
    set_nonblocking(pipe_out_.read);
    set_nonblocking(pipe_err_.read);
    return true;
}

void CommandRun::execute(int outcome) {
    ::setsid();
    if (::unshare(CLONE_NEWNS | CLONE_NEWIPC | CLONE_NEWUTS))
        give_up(outcome, errno, error_text("cannot create namespaces"));
    if (const std::string error = enter_machine(shares_); !error.empty())
        give_up(outcome, errno, error);
    write_small_file("/proc/self/oom_score_adj", "0");
    ::dup2(pipe_in_.read.get(), 0);
    ::dup2(pipe_out_.write.get(), 1);
    ::dup2(pipe_err_.write.get(), 2);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    std::vector<char*> arguments;
    std::vector<char*> environment;
    for (auto& argument : command_.arguments)
        arguments.push_back(argument.data());
    for (auto& variable : command_.environment)
        environment.push_back(variable.data());
    arguments.push_back(nullptr);
    environment.push_back(nullptr);
    ::environ = environment.data();
    if (::chdir(command_.directory.c_str()) == 0)
        ::execvp(arguments[0], arguments.data());
    give_up(outcome, errno, "");
}

void CommandRun::step() {
    pollfd fds[6];
    int n = 0;
    auto add = [&](int fd, bool wanted, short events) {
        fds[n] = {wanted ? fd : -1, events, 0};
        return n++;
    };
    const int control_events = POLLIN | (control_.pending() ? POLLOUT : 0);
    const int control = add(control_.fd(), true, static_cast<short>(control_events));
    const int children = add(children_, true, POLLIN);
    const int in_port = add(in_.port(), in_.wants_input(), POLLIN);
    const int in_pipe = add(in_.pipe(), in_.pipe() >= 0, in_.wants_output() ? POLLOUT : 0);
    const int out = add(out_.wait_fd(), out_.open(), out_.wait_events());
    const int err = add(err_.wait_fd(), err_.open(), err_.wait_events());
    if (::poll(fds, static_cast<nfds_t>(n), -1) < 0)
        return;
    if (fds[control].revents)
        handle_messages();
    if (fds[in_port].revents & POLLIN)
        in_.input();
    if (in_.wants_output() || (fds[in_pipe].revents & POLLERR)) {
        // POLLERR: the command has closed its stdin; what is left goes nowhere.
        if ((fds[in_pipe].revents & POLLERR) || !in_.output())
            close_stdin();
    }
    if (stdin_end_ && in_.ended_after(*stdin_end_))
        close_stdin();
    if (fds[out].revents && out_.open() && !out_.move())
        close_out(out_, pipe_out_);
    if (fds[err].revents && err_.open() && !err_.move())
        close_out(err_, pipe_err_);
    if (fds[children].revents)
        reap();
}

void CommandRun::close_stdin() {
    pipe_in_.write.reset();
    in_.close();
}

void CommandRun::close_out(OutStream& stream, Pipe& pipe) {
    stream.close();
    pipe.read.reset();
}

void CommandRun::handle_messages() {
    control_.flush();
    control_.receive();
    while (auto message = control_.next())
        handle(*message);
}

void CommandRun::handle(const Message& message) {
    Reader reader(message.payload);
    switch (message.type) {
    case MessageType::kSignal:
        if (!status_)
            ::kill(-child_, static_cast<int>(reader.number()));
        break;
    case MessageType::kStdinEnd:
        stdin_end_ = reader.number();
        break;
    case MessageType::kClosed:
        // The command shall see a broken pipe, as it would on the host.
        if (reader.number() == 2)
            close_out(err_, pipe_err_);
        else
            close_out(out_, pipe_out_);
        break;
    case MessageType::kPing:
        control_.send(MessageType::kPong);
        break;
    case MessageType::kDone:
        done_ = reader.number();
        break;
    default:
        break;
    }
}

void CommandRun::reap() {
    signalfd_siginfo info;
    while (::read(children_, &info, sizeof info) > 0)
        ;
    int status = 0;
    while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
        if (pid < 0)
            return;
        if (pid == child_)
            status_ = status;
    }
}

// What the command has written before it ended is all delivered; processes it has left behind
// may hold its pipes open, and are not waited for.
void CommandRun::drain(OutStream& stream, Pipe& pipe) {
    const std::uint64_t end = stream.total() + static_cast<std::uint64_t>(stream.queued());
    while (stream.open() && stream.total() < end) {
        pollfd fds[2] = {{stream.wait_fd(), stream.wait_events(), 0}, {control_.fd(), POLLIN, 0}};
        ::poll(fds, 2, -1);
        if (!stream.move())
            close_out(stream, pipe);
        handle_messages();
    }
}

void CommandRun::tell_end() {
    ::sync(); // shared directories: everything is on the host before it hears of the end
    control_.send(MessageType::kExit, Writer()
                                          .number(static_cast<std::uint32_t>(*status_))
                                          .number(out_.total())
                                          .number(err_.total())
                                          .take());
}

// The launcher's last word on the command; then the stdin that nobody has read goes.
void CommandRun::wait_for_done() {
    while (!done_ || !in_.drop_until(*done_)) {
        const short events = static_cast<short>(POLLIN | (control_.pending() ? POLLOUT : 0));
        pollfd fds[2] = {{control_.fd(), events, 0}, {done_ ? in_.port() : -1, POLLIN, 0}};
        ::poll(fds, 2, -1);
        handle_messages();
    }
}

} // namespace vm::init
