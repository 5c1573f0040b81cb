// SPDX-License-Identifier: GPL-2.0-only
#include "run/guardian.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/files.h"
#include "base/text.h"

namespace pctctl {

namespace {

// Kinds of records in the pipe.
constexpr char kKill = 'k', kRemove = 'r', kKillRemove = 'b', kRestore = 'w', kTakeBack = 'p',
               kForget = 'f', kDismiss = 'd';

struct Header {
    char kind;
    std::uint32_t path_size;
    std::uint32_t text_size;
};

struct Duty {
    char kind;
    std::string path;
    std::string text;
};

bool read_exactly(int fd, void* data, size_t size) {
    auto* at = static_cast<char*>(data);
    while (size > 0) {
        ssize_t n = ::read(fd, at, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        size -= static_cast<size_t>(n);
    }
    return true;
}

bool empty(const std::string& directory) {
    auto events = read_text(directory + "/cgroup.events");
    return !events || events->find("populated 1") == std::string::npos;
}

// Waits up to ten seconds, since a process may need a moment to die.
void until_empty(const std::string& directory) {
    for (int i = 0; i < 1000 && !empty(directory); i++)
        ::usleep(10 * 1000);
}

void remove(const std::string& directory) {
    for (int i = 0; i < 200; i++) {
        if (::rmdir(directory.c_str()) == 0 || errno != EBUSY)
            return;
        ::usleep(10 * 1000);
    }
}

void carry_out(const std::vector<Duty>& duties) {
    // Kill everywhere before waiting anywhere.
    for (const Duty& duty : duties)
        if (duty.kind == kKill || duty.kind == kKillRemove)
            write_text(duty.path + "/cgroup.kill", "1");
    for (auto duty = duties.rbegin(); duty != duties.rend(); ++duty) {
        switch (duty->kind) {
        case kKill:
            until_empty(duty->path);
            break;
        case kKillRemove:
            until_empty(duty->path);
            remove(duty->path);
            break;
        case kRemove:
            ::rmdir(duty->path.c_str());
            break;
        case kRestore:
            write_text(duty->path, duty->text);
            break;
        }
    }
    // Our own groups are gone by now.
    for (auto duty = duties.rbegin(); duty != duties.rend(); ++duty)
        if (duty->kind == kTakeBack)
            take_back_pids(duty->path);
}

// Overwrites our copy of the argument vector, which we inherited from the controller. Else `ps` and
// `pkill -f` would take us for the controller.
void change_command_line(std::string_view name) {
    auto stat = read_text("/proc/self/stat").value_or("");
    size_t end_of_name = stat.rfind(')');
    if (end_of_name == std::string::npos)
        return;
    // Fields 48 and 49 of proc(5): where the arguments are. The first one here is number 3.
    auto fields = split(trimmed(std::string_view(stat).substr(end_of_name + 1)), ' ');
    if (fields.size() < 47)
        return;
    auto begin = std::strtoul(fields[45].c_str(), nullptr, 10);
    auto end = std::strtoul(fields[46].c_str(), nullptr, 10);
    if (begin == 0 || end < begin + name.size())
        return;
    auto* arguments = reinterpret_cast<char*>(begin);
    std::memset(arguments, 0, end - begin);
    std::memcpy(arguments, name.data(), name.size());
}

// Waits until the pipe has something to read. False: it has not, and the controller is dead. The
// end of the pipe is not enough to tell, since a child of the controller may keep it open.
bool more_to_read(int pipe, int controller) {
    for (;;) {
        pollfd fds[2] = {{pipe, POLLIN, 0}, {controller, POLLIN, 0}};
        if (::poll(fds, controller >= 0 ? 2 : 1, -1) < 0)
            continue; // EINTR
        if (fds[0].revents & (POLLIN | POLLHUP))
            return true;
        if (fds[1].revents)
            return false;
    }
}

[[noreturn]] void watch(int pipe, int controller) {
    ::setsid();
    change_command_line("pct-guardian");
    ::prctl(PR_SET_NAME, "pct-guardian");
    for (int sig : {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGPIPE})
        ::signal(sig, SIG_IGN);
    int null = ::open("/dev/null", O_RDWR);
    for (int fd = 0; fd < 3; fd++)
        ::dup2(null, fd);
    // Move both descriptors out of the way first, then to 3 and 4.
    pipe = ::fcntl(pipe, F_DUPFD, 10);
    controller = controller >= 0 ? ::fcntl(controller, F_DUPFD, 10) : -1;
    ::dup2(pipe, 3);
    if (controller >= 0)
        controller = ::dup2(controller, 4);
    ::close_range(controller >= 0 ? 5 : 4, ~0U, 0);
    if (::chdir("/") != 0) {
        // We keep a file system busy. There is nothing to be done about it.
    }

    std::vector<Duty> duties;
    Header header;
    while (more_to_read(3, controller) && read_exactly(3, &header, sizeof header)) {
        Duty duty{header.kind, std::string(header.path_size, 0), std::string(header.text_size, 0)};
        if (!read_exactly(3, duty.path.data(), duty.path.size()) ||
            !read_exactly(3, duty.text.data(), duty.text.size()))
            break;
        if (duty.kind == kDismiss)
            ::_exit(0);
        // A newer record about a path replaces the older one in its place.
        auto same = std::find_if(duties.begin(), duties.end(),
                                 [&](const Duty& other) { return other.path == duty.path; });
        if (duty.kind == kForget) {
            if (same != duties.end())
                duties.erase(same);
        } else if (same != duties.end()) {
            *same = duty;
        } else {
            duties.push_back(duty);
        }
    }
    carry_out(duties);
    ::_exit(0);
}

} // namespace

void take_back_pids(const std::string& control) {
    namespace fs = std::filesystem;
    std::error_code error;
    for (fs::directory_iterator entry(fs::path(control).parent_path(), error), end;
         !error && entry != end; entry.increment(error)) {
        std::error_code ignored;
        if (!entry->is_directory(ignored))
            continue;
        const std::string limit = read_text(entry->path() / "pids.max").value_or("max");
        if (trimmed(limit) != "max")
            return; // it may be another campaign's
    }
    // ENOENT: the directory is gone. EBUSY: a group below passes the controller on.
    write_text(control, "-pids");
}

Result<Guardian> Guardian::start() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0)
        return Error::environment("cannot create a pipe: " + errno_text(errno));
    Fd reader(ends[0]), writer(ends[1]);
    // Readable once the process has ended.
    Fd controller(static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0)));
    pid_t pid = ::fork();
    if (pid < 0)
        return Error::environment("cannot start the guardian process: " + errno_text(errno));
    if (pid == 0)
        watch(reader.get(), controller.get()); // closes all else, the write end too
    return Guardian(std::move(writer), pid);
}

Guardian::~Guardian() {
    if (!pipe_)
        return;
    send(kDismiss, "");
    pipe_.reset();
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
}

void Guardian::send(char kind, const std::string& path, std::string_view text) {
    Header header{};
    header.kind = kind;
    header.path_size = static_cast<std::uint32_t>(path.size());
    header.text_size = static_cast<std::uint32_t>(text.size());
    std::string record(reinterpret_cast<const char*>(&header), sizeof header);
    record += path;
    record += text;
    // A record may be larger than PIPE_BUF, or the guardian may be gone: nothing depends on it
    // while we live. SIGPIPE is blocked for the length of the call.
    sigset_t pipe_signal, old;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &old);
    for (size_t at = 0; at < record.size();) {
        ssize_t n = ::write(pipe_.get(), record.data() + at, record.size() - at);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0) {
            if (errno == EPIPE && !sigismember(&old, SIGPIPE)) {
                timespec none{};
                sigtimedwait(&pipe_signal, nullptr, &none);
            }
            break;
        }
        at += static_cast<size_t>(n);
    }
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

void Guardian::kill_in(const std::string& directory) {
    send(kKill, directory);
}
void Guardian::remove_when_empty(const std::string& directory) {
    send(kRemove, directory);
}
void Guardian::kill_and_remove(const std::string& directory) {
    send(kKillRemove, directory);
}
void Guardian::forget(const std::string& directory) {
    send(kForget, directory);
}
void Guardian::take_back_pids(const std::string& file) {
    send(kTakeBack, file);
}
void Guardian::restore(const std::string& file, std::string_view text) {
    send(kRestore, file, text);
}

} // namespace pctctl
