// SPDX-License-Identifier: GPL-2.0-only
// The guest's init: mounts the host's root file system below a throw-away overlay and the shared
// directories over it, runs one command there and reports to the launcher. It is process 1 and the
// only program in the initramfs, hence linked statically.
#include "base/fd.h"
#include "protocol.h"

#include <algorithm>
#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

namespace {

using pctctl::Fd;
using vm::Command;
using vm::Message;
using vm::MessageType;

constexpr std::size_t kChunk = 32 * 1024;      // what one virtio-serial buffer holds
constexpr int kPipe = 1 << 20;                 // larger pipes, fewer switches between processes
constexpr std::size_t kHighWater = 256 * 1024; // more than this unsent: stop reading

std::string error_text(const std::string& what) {
    return what + ": " + std::strerror(errno);
}

[[noreturn]] void power_off() {
    ::sync();
    ::reboot(RB_POWER_OFF);
    for (;;)
        ::pause();
}

// ---------------------------------------------------------------------------------------------
// Ports

std::string read_small_file(const std::string& path) {
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    char buffer[256];
    const ssize_t n = fd ? ::read(fd.get(), buffer, sizeof buffer) : -1;
    std::string text(buffer, n > 0 ? static_cast<std::size_t>(n) : 0);
    while (!text.empty() && text.back() == '\n')
        text.pop_back();
    return text;
}

bool write_small_file(const std::string& path, std::string_view text) {
    Fd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
    return fd && ::write(fd.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

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

class Control {
public:
    explicit Control(Fd port) : port_(std::move(port)) {}

    int fd() const { return port_.get(); }
    bool pending() const { return !out_.empty(); }
    void send(MessageType type, std::string_view payload = {}) {
        out_ += frame(type, payload);
        flush();
    }
    void flush() {
        while (!out_.empty()) {
            const ssize_t n = ::write(port_.get(), out_.data(), std::min(out_.size(), kChunk));
            if (n <= 0)
                return;
            out_.erase(0, static_cast<std::size_t>(n));
        }
    }
    // Sends everything, however long it takes: for last words.
    void flush_all() {
        while (pending()) {
            pollfd p{fd(), POLLOUT, 0};
            ::poll(&p, 1, 100);
            flush();
        }
    }
    void receive() {
        char buffer[kChunk];
        for (;;) {
            const ssize_t n = ::read(port_.get(), buffer, sizeof buffer);
            if (n <= 0)
                return;
            in_.append(buffer, static_cast<std::size_t>(n));
        }
    }
    std::optional<Message> next() { return vm::unframe(in_); }
    Message wait() {
        for (;;) {
            if (auto message = next())
                return *message;
            pollfd p{fd(), POLLIN, 0};
            ::poll(&p, 1, 1000);
            receive();
        }
    }
    [[noreturn]] void fail(const std::string& reason) {
        send(MessageType::kFailure, reason);
        flush_all();
        power_off();
    }

private:
    Fd port_;
    std::string in_;
    std::string out_;
};

// ---------------------------------------------------------------------------------------------
// File systems

void make_directories(const std::string& path) {
    for (std::size_t i = 1; i <= path.size(); ++i)
        if (i == path.size() || path[i] == '/')
            ::mkdir(path.substr(0, i).c_str(), 0755);
}

bool load_module(const char* path) {
    Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
    if (!fd)
        return errno == ENOENT; // built into this kernel
    return ::syscall(SYS_finit_module, fd.get(), "", 0) == 0 || errno == EEXIST;
}

std::string mount_error(const char* type, const std::string& at) {
    return error_text("cannot mount " + std::string(type) + " on " + at);
}

// Everything below kRoot becomes the new root.
const std::string kRoot = "/root";

void mount_root(Control& control) {
    for (const char* module : {"netfs", "9pnet", "9pnet_virtio", "9p", "overlay"})
        if (!load_module((std::string("/modules/") + module + ".ko").c_str()))
            control.fail(error_text(std::string("cannot load module ") + module));
    for (const char* directory : {"/host", "/rw", "/root"})
        ::mkdir(directory, 0755);
    if (::mount(vm::kRootTag, "/host", "9p", MS_RDONLY,
                "trans=virtio,version=9p2000.L,msize=262144,cache=loose"))
        control.fail(mount_error("9p", "/"));
    if (::mount("rw", "/rw", "tmpfs", 0, "mode=755,size=80%"))
        control.fail(mount_error("tmpfs", "/rw"));
    ::mkdir("/rw/upper", 0755);
    ::mkdir("/rw/work", 0755);
    if (::mount("overlay", kRoot.c_str(), "overlay", 0,
                "lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work,index=off,metacopy=off,"
                "redirect_dir=off,xino=off"))
        control.fail(mount_error("overlay", "/"));
}

void mount_system(Control& control) {
    struct Mount {
        const char* type;
        const char* at;
        unsigned long flags;
        const char* data;
    };
    constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    constexpr Mount kMounts[] = {
        {"proc", "/proc", kPlain, ""},
        {"sysfs", "/sys", kPlain, ""},
        {"devtmpfs", "/dev", MS_NOSUID, "mode=755"},
        {"devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666"},
        {"tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777"},
        {"mqueue", "/dev/mqueue", kPlain, ""},
        {"tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755"},
        {"cgroup2", "/sys/fs/cgroup", kPlain, ""},
        {"bpf", "/sys/fs/bpf", kPlain, "mode=700"},
        {"debugfs", "/sys/kernel/debug", kPlain, ""},
        {"tracefs", "/sys/kernel/tracing", kPlain, ""},
    };
    for (const Mount& m : kMounts) {
        const std::string at = kRoot + m.at;
        make_directories(at);
        if (::mount(m.type, at.c_str(), m.type, m.flags, m.data))
            control.fail(mount_error(m.type, m.at));
    }
    ::mkdir((kRoot + "/run/lock").c_str(), 0755);
    ::chmod((kRoot + "/run/lock").c_str(), 01777); // whatever the umask
    for (const auto& [target, link] :
         {std::pair{"/proc/self/fd", "/dev/fd"}, std::pair{"/proc/self/fd/0", "/dev/stdin"},
          std::pair{"/proc/self/fd/1", "/dev/stdout"}, std::pair{"/proc/self/fd/2", "/dev/stderr"}})
        if (::symlink(target, (kRoot + link).c_str()) && errno != EEXIST)
            control.fail(error_text(std::string("cannot create ") + link));
    // All controllers there are, for cgroups below the root.
    std::string controllers = read_small_file(kRoot + "/sys/fs/cgroup/cgroup.controllers") + " ";
    for (std::size_t start = 0, end; (end = controllers.find(' ', start)) != std::string::npos;
         start = end + 1)
        if (end > start)
            write_small_file(kRoot + "/sys/fs/cgroup/cgroup.subtree_control",
                             "+" + controllers.substr(start, end - start));
}

void mount_shares(Control& control, const Command& command) {
    for (std::size_t i = 0; i < command.shares.size(); ++i) {
        const std::string at = kRoot + command.shares[i];
        const std::string tag = vm::kShareTag + std::to_string(i);
        make_directories(at);
        // cache=mmap: what is written is on the host when the file is closed, and shared writable
        // mappings work.
        if (::mount(tag.c_str(), at.c_str(), "9p", 0,
                    "trans=virtio,version=9p2000.L,msize=262144,cache=mmap"))
            control.fail(mount_error("9p", command.shares[i]));
    }
}

void enter_root(Control& control) {
    if (::chdir(kRoot.c_str()) || ::mount(".", "/", nullptr, MS_MOVE, nullptr) || ::chroot(".") ||
        ::chdir("/"))
        control.fail(error_text("cannot enter the new root"));
}

// Files written here and on the host shall have times that agree.
void set_clock(Control& control) {
    const auto now = [](clockid_t clock) {
        timespec t{};
        ::clock_gettime(clock, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1000000000 +
               static_cast<std::uint64_t>(t.tv_nsec);
    };
    const std::uint64_t asked = now(CLOCK_MONOTONIC);
    control.send(MessageType::kTimePlease);
    const Message answer = control.wait();
    const std::uint64_t host = vm::Reader(answer.payload).number();
    if (answer.type != MessageType::kTime)
        control.fail("the launcher does not tell the time");
    const std::uint64_t time = host + (now(CLOCK_MONOTONIC) - asked) / 2;
    const timespec t{static_cast<time_t>(time / 1000000000), static_cast<long>(time % 1000000000)};
    ::clock_settime(CLOCK_REALTIME, &t);
}

void prepare_machine() {
    ::sethostname("pctctl-vm", 9);
    Fd s(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ::ioctl(s.get(), SIOCSIFFLAGS, &request);
    const rlimit files{1024, 1048576};
    ::setrlimit(RLIMIT_NOFILE, &files);
    write_small_file("/proc/self/oom_score_adj", "-1000"); // rather the command than all
    const rlimit core{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_CORE, &core);
}

// ---------------------------------------------------------------------------------------------
// The command

// The command's stdin: bytes from the port, held until the pipe takes them.
class InStream {
public:
    InStream() = default;
    InStream(int port, int pipe) : port_(port), pipe_(pipe) {}

    int port() const { return port_; }
    int pipe() const { return pipe_; }
    bool wants_input() const { return port_ >= 0 && buffer_.size() - sent_ < kHighWater; }
    bool wants_output() const { return pipe_ >= 0 && sent_ < buffer_.size(); }
    bool ended_after(std::uint64_t total) const {
        return pipe_ >= 0 && total_ >= total && sent_ == buffer_.size();
    }
    void input() {
        char chunk[kChunk];
        const ssize_t n = ::read(port_, chunk, sizeof chunk);
        if (n > 0) {
            buffer_.append(chunk, static_cast<std::size_t>(n));
            total_ += static_cast<std::uint64_t>(n);
        }
    }
    bool output() { // false: nobody reads any longer
        while (sent_ < buffer_.size()) {
            const ssize_t n = ::write(pipe_, buffer_.data() + sent_, buffer_.size() - sent_);
            if (n < 0)
                return errno == EAGAIN || errno == EINTR;
            sent_ += static_cast<std::size_t>(n);
        }
        buffer_.clear();
        sent_ = 0;
        return true;
    }
    // What still comes is left in the port.
    void close() { port_ = pipe_ = -1; }

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
    short wait_events() const { return full_ ? POLLOUT : POLLIN; }
    bool open() const { return pipe_ >= 0; }
    std::uint64_t total() const { return total_; }
    int queued() const {
        int bytes = 0;
        return pipe_ >= 0 && ::ioctl(pipe_, FIONREAD, &bytes) == 0 ? bytes : 0;
    }

    bool move() { // false: the last writer has closed
        for (;;) {
            const ssize_t n = ::splice(pipe_, nullptr, port_, nullptr, kPipe, SPLICE_F_NONBLOCK);
            if (n > 0) {
                total_ += static_cast<std::uint64_t>(n);
                continue;
            }
            // Zero, for a port, means no more than that the pipe is empty at the moment.
            full_ = queued() > 0;
            pollfd p{pipe_, POLLIN, 0};
            return full_ || ::poll(&p, 1, 0) == 0 || (p.revents & POLLIN);
        }
    }
    void close() { pipe_ = -1; }

private:
    int pipe_ = -1;
    int port_ = -1;
    bool full_ = false;
    std::uint64_t total_ = 0;
};

struct Pipe {
    Fd read;
    Fd write;
};

Pipe make_pipe() {
    int fds[2] = {-1, -1};
    if (::pipe2(fds, O_CLOEXEC))
        return {};
    ::fcntl(fds[0], F_SETPIPE_SZ, kPipe);
    return {Fd(fds[0]), Fd(fds[1])};
}

void set_nonblocking(const Fd& fd) {
    ::fcntl(fd.get(), F_SETFL, O_NONBLOCK);
}

class Session {
public:
    Session(Control& control, Command command, Fd in, Fd out, Fd err)
        : control_(control), command_(std::move(command)), port_in_(std::move(in)),
          port_out_(std::move(out)), port_err_(std::move(err)) {}

    void run() {
        sigset_t mask;
        sigemptyset(&mask);
        sigaddset(&mask, SIGCHLD);
        ::sigprocmask(SIG_BLOCK, &mask, nullptr);
        child_events_.reset(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
        ::signal(SIGPIPE, SIG_IGN);
        if (!start())
            return;
        while (!finished_)
            step();
        finish();
    }

private:
    bool start() {
        pipe_in_ = make_pipe();
        pipe_out_ = make_pipe();
        pipe_err_ = make_pipe();
        Pipe outcome = make_pipe();
        control_.send(MessageType::kReady);
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
        if (::read(outcome.read.get(), &error, sizeof error) == sizeof error) {
            control_.send(MessageType::kNotRun, vm::Writer().number(error).take());
            control_.flush_all();
            return false;
        }
        set_nonblocking(pipe_in_.write);
        set_nonblocking(pipe_out_.read);
        set_nonblocking(pipe_err_.read);
        in_ = InStream(port_in_.get(), pipe_in_.write.get());
        out_ = OutStream(pipe_out_.read.get(), port_out_.get());
        err_ = OutStream(pipe_err_.read.get(), port_err_.get());
        return true;
    }

    [[noreturn]] void execute(int outcome) {
        ::setsid();
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
        const int error = errno;
        if (::write(outcome, &error, sizeof error) < 0)
            std::_Exit(126);
        std::_Exit(127);
    }

    void step() {
        pollfd fds[6];
        int n = 0;
        auto add = [&](int fd, bool wanted, short events) {
            fds[n] = {wanted ? fd : -1, events, 0};
            return n++;
        };
        const int control_events = POLLIN | (control_.pending() ? POLLOUT : 0);
        const int control = add(control_.fd(), true, static_cast<short>(control_events));
        const int children = add(child_events_.get(), true, POLLIN);
        const int in_port = add(in_.port(), in_.wants_input(), POLLIN);
        const int in_pipe = add(in_.pipe(), in_.pipe() >= 0, in_.wants_output() ? POLLOUT : 0);
        const int out = add(out_.wait_fd(), out_.open(), out_.wait_events());
        const int err = add(err_.wait_fd(), err_.open(), err_.wait_events());
        if (::poll(fds, static_cast<nfds_t>(n), -1) < 0)
            return;
        if (fds[control].revents) {
            control_.flush();
            control_.receive();
            while (auto message = control_.next())
                handle(*message);
        }
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

    void close_stdin() {
        pipe_in_.write.reset();
        in_.close();
    }
    static void close_out(OutStream& stream, Pipe& pipe) {
        stream.close();
        pipe.read.reset();
    }

    void handle(const Message& message) {
        vm::Reader reader(message.payload);
        switch (message.type) {
        case MessageType::kSignal:
            ::kill(-child_, static_cast<int>(reader.number()));
            break;
        case MessageType::kStdinEnd:
            stdin_end_ = reader.number();
            break;
        case MessageType::kClosed: {
            // The command shall see a broken pipe, as it would on the host.
            if (reader.number() == 2)
                close_out(err_, pipe_err_);
            else
                close_out(out_, pipe_out_);
            break;
        }
        case MessageType::kPing:
            control_.send(MessageType::kPong);
            break;
        default:
            break;
        }
    }

    void reap() {
        signalfd_siginfo info;
        while (::read(child_events_.get(), &info, sizeof info) > 0)
            ;
        int status = 0;
        while (const pid_t pid = ::waitpid(-1, &status, WNOHANG)) {
            if (pid < 0)
                return;
            if (pid == child_) {
                finished_ = true;
                status_ = status;
            }
        }
    }

    // What the command has written before it ended is all delivered; processes it has left behind
    // may hold its pipes open, and are not waited for.
    void drain(OutStream& stream, Pipe& pipe) {
        const std::uint64_t end = stream.total() + static_cast<std::uint64_t>(stream.queued());
        while (stream.open() && stream.total() < end) {
            pollfd fds[2] = {{stream.wait_fd(), stream.wait_events(), 0},
                             {control_.fd(), POLLIN, 0}};
            ::poll(fds, 2, -1);
            if (!stream.move())
                close_out(stream, pipe);
            control_.receive();
            while (auto message = control_.next())
                handle(*message);
        }
    }

    void finish() {
        drain(out_, pipe_out_);
        drain(err_, pipe_err_);
        ::sync(); // shared directories: everything is on the host before it hears of the end
        control_.send(MessageType::kExit, vm::Writer()
                                              .number(static_cast<std::uint32_t>(status_))
                                              .number(out_.total())
                                              .number(err_.total())
                                              .take());
        control_.flush_all();
    }

    Control& control_;
    Command command_;
    Fd port_in_, port_out_, port_err_;
    Pipe pipe_in_, pipe_out_, pipe_err_;
    Fd child_events_;
    InStream in_;
    OutStream out_, err_;
    std::optional<std::uint64_t> stdin_end_;
    pid_t child_ = -1;
    bool finished_ = false;
    int status_ = 0;
};

} // namespace

int main() {
    ::mkdir("/dev", 0755);
    ::mkdir("/sys", 0755);
    ::mkdir("/proc", 0755);
    ::mount("devtmpfs", "/dev", "devtmpfs", 0, "mode=755");
    ::mount("sysfs", "/sys", "sysfs", 0, "");
    Fd port = wait_for_port(vm::kControlPort);
    if (!port) {
        std::fprintf(stderr, "init: the launcher's port does not appear\n");
        power_off();
    }
    Control control(std::move(port));
    const Message message = control.wait();
    auto command = Command::decode(message.payload);
    if (message.type != MessageType::kCommand || !command)
        control.fail("launcher and init are of different builds");
    Fd in = wait_for_port(vm::kStdinPort);
    Fd out = wait_for_port(vm::kStdoutPort);
    Fd err = wait_for_port(vm::kStderrPort);
    if (!in || !out || !err)
        control.fail("a stream's port does not appear");
    set_clock(control);
    mount_root(control);
    mount_system(control);
    mount_shares(control, *command);
    enter_root(control);
    prepare_machine();
    Session(control, std::move(*command), std::move(in), std::move(out), std::move(err)).run();
    // The launcher ends the machine; should it not listen, do so ourselves.
    ::sleep(5);
    power_off();
}
