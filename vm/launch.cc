// SPDX-License-Identifier: GPL-2.0-only
// vm/run's host side: starts a virtual machine, relays the command's streams and signals, and ends
// with its status. Whatever way this process ends, QEMU ends too, and no file was ever created.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base/vm_places.h"
#include "launch_accelerator.h"
#include "launch_machine.h"
#include "launch_options.h"
#include "launch_status.h"
#include "protocol.h"

namespace vm {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::size_t kChunk = 64 * 1024;
constexpr auto kKvmBoot = seconds(4);   // KVM that works boots in one or two
constexpr auto kTcgBoot = seconds(120); // 4 s on an idle machine; others may be busy
constexpr auto kPing = seconds(5);
constexpr auto kHung = seconds(90);        // without a sign of life
constexpr long kGrace = 5;                 // seconds from the first request to end to the end
constexpr auto kTwice = milliseconds(300); // signals this close together are one request
constexpr std::size_t kConsoleKept = 8192;

seconds grace() {
    const char* wish = std::getenv("PCTCTL_VM_GRACE");
    char* end = nullptr;
    const long value = wish ? std::strtol(wish, &end, 10) : -1;
    return seconds(value >= 0 && *wish && !*end ? std::min(value, 3600L) : kGrace);
}

bool is_request_to_end(int signal) {
    return signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

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

class Session {
public:
    Session(const Options& options, const Command& command, int signals)
        : options_(options), command_(command), signals_(signals), start_(Clock::now()),
          next_ping_(start_ + kPing) {}

    // Empty when the machine did not come up and another accelerator may be tried.
    std::optional<int> run(const MachineSettings& settings, Accelerator accelerator,
                           std::optional<Clock::time_point> deadline, bool last_try) {
        deadline_ = deadline;
        boot_deadline_ = start_ + (last_try ? kTcgBoot : kKvmBoot);
        last_try_ = last_try;
        if (const std::string error = machine_.start(settings, accelerator); !error.empty())
            return fail(error);
        control_out_ = frame(MessageType::kCommand, command_.encode());
        std::optional<int> status;
        while (!status && !gave_up_)
            status = step();
        machine_.kill();
        return status;
    }
    bool ready() const { return ready_; } // the guest is, or was, up

private:
    std::optional<int> step() {
        pollfd fds[10];
        int n = 0;
        auto add = [&](int fd, bool wanted, int events) {
            fds[n] = {wanted ? fd : -1, static_cast<short>(events), 0};
            return n++;
        };
        const int signals = add(signals_, true, POLLIN);
        const int control =
            add(machine_.control.get(), true, POLLIN | (control_out_.empty() ? 0 : POLLOUT));
        const int console = add(machine_.console.get(), bool(machine_.console), POLLIN);
        const int complaints = add(machine_.complaints.get(), bool(machine_.complaints), POLLIN);
        const int in_from = add(0, ready_ && !stdin_ended_ && in_.buffer.size() < kChunk, POLLIN);
        const int in_to = add(machine_.in.get(), !in_.buffer.empty(), POLLOUT);
        const int out_from = add(machine_.out.get(), out_.buffer.size() < kChunk, POLLIN);
        const int err_from = add(machine_.err.get(), err_.buffer.size() < kChunk, POLLIN);
        const int out_to = add(1, !out_.buffer.empty() && !out_.closed, POLLOUT);
        const int err_to = add(2, !err_.buffer.empty() && !err_.closed, POLLOUT);
        if (::poll(fds, static_cast<nfds_t>(n), poll_timeout()) < 0 && errno != EINTR)
            return fail(std::string("poll: ") + std::strerror(errno));

        if (fds[console].revents)
            collect(machine_.console);
        if (fds[complaints].revents)
            collect(machine_.complaints);
        if (fds[in_from].revents)
            read_stdin();
        if (fds[in_to].revents & POLLOUT)
            send_some(machine_.in, in_.buffer);
        if (fds[out_from].revents & POLLIN)
            receive(machine_.out, out_);
        if (fds[err_from].revents & POLLIN)
            receive(machine_.err, err_);
        if (fds[out_to].revents)
            deliver(1, out_);
        if (fds[err_to].revents)
            deliver(2, err_);
        if (fds[signals].revents)
            if (auto status = take_signals())
                return status;
        if (fds[control].revents) {
            if (fds[control].revents & POLLOUT)
                send_some(machine_.control, control_out_);
            if (auto status = receive_control())
                return status;
        }
        if (exit_ && out_.total >= exit_->out && err_.total >= exit_->err &&
            (out_.buffer.empty() || out_.closed) && (err_.buffer.empty() || err_.closed))
            return lost_output_ && exit_->status == 0 ? kVmFailed : exit_->status;
        if (machine_dead_ && !exit_)
            return fail("the virtual machine died" + reason());
        return check_time();
    }

    int poll_timeout() const {
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

    std::optional<int> check_time() {
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

    void send(MessageType type, std::string_view payload = {}) {
        control_out_ += frame(type, payload);
        send_some(machine_.control, control_out_);
    }

    static void send_some(const Fd& to, std::string& bytes) {
        while (!bytes.empty()) {
            const ssize_t n = ::send(to.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
            if (n <= 0)
                return;
            bytes.erase(0, static_cast<std::size_t>(n));
        }
    }

    void read_stdin() {
        char chunk[kChunk];
        const ssize_t n = ::read(0, chunk, sizeof chunk);
        if (n > 0) {
            in_.buffer.append(chunk, static_cast<std::size_t>(n));
            in_.total += static_cast<std::uint64_t>(n);
            send_some(machine_.in, in_.buffer);
        } else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
            stdin_ended_ = true;
            send(MessageType::kStdinEnd, Writer().number(in_.total).take());
        }
    }

    static void receive(const Fd& from, Relay& relay) {
        char chunk[kChunk];
        const ssize_t n = ::recv(from.get(), chunk, sizeof chunk, 0);
        if (n <= 0)
            return;
        relay.total += static_cast<std::uint64_t>(n);
        if (!relay.closed)
            relay.buffer.append(chunk, static_cast<std::size_t>(n));
    }

    // poll() promises room for PIPE_BUF bytes in a pipe; more might block us all.
    void deliver(int fd, Relay& relay) {
        struct stat status{};
        const bool regular = ::fstat(fd, &status) == 0 && S_ISREG(status.st_mode);
        const std::size_t size =
            std::min<std::size_t>(relay.buffer.size(), regular ? kChunk : 4096);
        const ssize_t n = ::write(fd, relay.buffer.data(), size);
        if (n >= 0) {
            relay.buffer.erase(0, static_cast<std::size_t>(n));
        } else if (errno != EAGAIN && errno != EINTR) {
            if (errno != EPIPE) { // a reader that has seen enough is no failure; a full disk is
                complain("cannot write the command's " +
                         std::string(fd == 1 ? "stdout" : "stderr") + ": " + std::strerror(errno));
                lost_output_ = true;
            }
            relay.closed = true;
            relay.buffer.clear();
            send(MessageType::kClosed, Writer().number(static_cast<std::uint64_t>(fd)).take());
        }
    }

    void collect(Fd& from) {
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

    std::optional<int> take_signals() {
        signalfd_siginfo info;
        while (::read(signals_, &info, sizeof info) == sizeof info) {
            const int signal = static_cast<int>(info.ssi_signo);
            if (signal == SIGCHLD) {
                machine_dead_ = machine_.exited();
                continue;
            }
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
                send(MessageType::kSignal,
                     Writer().number(static_cast<std::uint64_t>(signal)).take());
        }
        return std::nullopt;
    }

    std::optional<int> receive_control() {
        char chunk[kChunk];
        const ssize_t n = ::recv(machine_.control.get(), chunk, sizeof chunk, 0);
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR)) {
            machine_dead_ = true;
            ::usleep(20000); // let the last words arrive
            while (machine_.complaints && ::recv(machine_.complaints.get(), chunk, 1, MSG_PEEK) > 0)
                collect(machine_.complaints);
            while (machine_.console && ::recv(machine_.console.get(), chunk, 1, MSG_PEEK) > 0)
                collect(machine_.console);
            return std::nullopt;
        }
        if (n < 0)
            return std::nullopt;
        control_in_.append(chunk, static_cast<std::size_t>(n));
        while (auto message = unframe(control_in_)) {
            Reader reader(message->payload);
            switch (message->type) {
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
                complain(options_.command[0] + ": " + std::strerror(error));
                return error == ENOENT ? kNotFound : kNotExecutable;
            }
            case MessageType::kFailure:
                return fail("in the virtual machine: " + message->payload);
            default:
                break;
            }
        }
        return std::nullopt;
    }

    // The last thing said on the console, in one line.
    std::string reason() const {
        std::string text = console_;
        while (!text.empty() && (text.back() == '\n' || text.back() == '\r'))
            text.pop_back();
        if (const auto panic = text.rfind("Kernel panic"); panic != std::string::npos)
            text = text.substr(panic, text.find_first_of("\r\n", panic) - panic);
        else if (const auto line = text.find_last_of("\r\n"); line != std::string::npos)
            text.erase(0, line + 1);
        return text.empty() ? "" : " (" + text + ")";
    }

    std::optional<int> fail(const std::string& why) {
        if (!ready_ && !last_try_) {
            gave_up_ = true;
            return std::nullopt;
        }
        complain(why);
        return kVmFailed;
    }

    const Options& options_;
    const Command& command_;
    Machine machine_;
    int signals_;
    Relay in_, out_, err_;
    std::string control_in_, control_out_, console_;
    Clock::time_point start_, next_ping_, boot_deadline_, requested_;
    std::optional<Clock::time_point> deadline_, kill_at_, pinged_;
    std::optional<Exit> exit_;
    int end_signal_ = 0;
    bool ready_ = false, last_try_ = true, gave_up_ = false, machine_dead_ = false,
         stdin_ended_ = false, lost_output_ = false;
};

std::vector<std::string> guest_environment(const std::string& directory) {
    std::vector<std::string> variables;
    bool path = false;
    for (char** variable = ::environ; *variable; ++variable) {
        const std::string_view v = *variable;
        const std::string_view name = v.substr(0, v.find('='));
        if (name != "PWD" && name != "OLDPWD" && !name.starts_with("PCTCTL_GUEST"))
            variables.emplace_back(v);
        path = path || name == "PATH";
    }
    if (!path)
        variables.emplace_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    variables.push_back("PWD=" + directory);
    variables.emplace_back("PCTCTL_GUEST=1");
    // The guest's streams are pipes; whoever draws for a terminal there learns of it here.
    winsize size{};
    if (::isatty(1) && ::ioctl(1, TIOCGWINSZ, &size) == 0)
        variables.push_back("PCTCTL_GUEST_STDOUT_COLUMNS=" + std::to_string(size.ws_col));
    if (::isatty(2) && ::ioctl(2, TIOCGWINSZ, &size) == 0)
        variables.push_back("PCTCTL_GUEST_STDERR_COLUMNS=" + std::to_string(size.ws_col));
    if (::getuid() != 0) {
        // The command is root in the guest; whose errand it is on is told here.
        variables.push_back("PCTCTL_GUEST_UID=" + std::to_string(::getuid()));
        variables.push_back("PCTCTL_GUEST_GID=" + std::to_string(::getgid()));
    }
    return variables;
}

// Directories to share, outer ones first, none twice.
std::vector<std::string> shared_directories(const std::string& current,
                                            std::vector<std::string> writable) {
    writable.push_back(current);
    std::sort(writable.begin(), writable.end());
    writable.erase(std::unique(writable.begin(), writable.end()), writable.end());
    std::erase_if(writable, [](const std::string& path) { return !is_shareable(path); });
    return writable;
}

int launch(int argc, char** argv) {
    // Descriptors 0 to 2 are ours to relay, even when the caller has closed them.
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd)
            return kVmFailed;
    Options options;
    if (const auto status = parse_options(argc, argv, options))
        return *status;

    char* directory = ::getcwd(nullptr, 0);
    if (!directory) {
        complain(std::string("no current directory: ") + std::strerror(errno));
        return kVmFailed;
    }
    Command command;
    command.directory = directory;
    std::free(directory);
    command.shares = shared_directories(command.directory, options.writable);
    command.arguments = options.command;
    command.environment = guest_environment(command.directory);

    MachineSettings settings;
    const char* path = std::getenv("PATH");
    settings.qemu = find_qemu(options.kernel, path ? path : "");
    if (const std::string data = options.kernel + "/../qemu/share";
        settings.qemu.rfind(options.kernel, 0) == 0)
        settings.qemu_data = data;
    if (settings.qemu.empty()) {
        complain("no qemu-system-x86_64; install qemu-system-x86");
        return kVmFailed;
    }
    settings.kernel_image = options.kernel + "/vmlinux";
    if (::access(settings.kernel_image.c_str(), R_OK)) {
        complain("cannot read the guest kernel " + settings.kernel_image + "; run setup/deps");
        return kVmFailed;
    }
    std::string error;
    const Fd initramfs = build_initramfs(options.init, options.kernel, error);
    if (!initramfs) {
        complain(error);
        return kVmFailed;
    }
    settings.initramfs = initramfs.get();
    settings.cpus = options.cpus;
    settings.memory = options.memory;
    settings.shares = command.shares;

    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH, SIGCHLD})
        sigaddset(&mask, signal);
    struct sigaction hangup{};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
        sigdelset(&mask, SIGHUP); // nohup
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    const Fd signals(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    for (const int signal : {SIGPIPE, SIGTTIN, SIGTTOU})
        ::signal(signal, SIG_IGN);

    std::optional<Clock::time_point> deadline;
    if (options.timeout)
        deadline = Clock::now() + *options.timeout;
    AcceleratorChoice choice(settings.qemu, settings.kernel_image);
    if (choice.try_kvm()) {
        Session session(options, command, signals.get());
        const auto status = session.run(settings, Accelerator::kKvm, deadline, choice.forced());
        if (status || choice.forced()) {
            if (session.ready()) // and was not ended before that could be seen
                choice.remember(Accelerator::kKvm);
            return status.value_or(kVmFailed);
        }
        choice.remember(Accelerator::kTcg);
    }
    Session session(options, command, signals.get());
    return session.run(settings, choice.emulation(), deadline, true).value_or(kVmFailed);
}

} // namespace
} // namespace vm

int main(int argc, char** argv) {
    return vm::launch(argc, argv);
}
