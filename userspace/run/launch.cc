// SPDX-License-Identifier: GPL-2.0-only
#include "run/launch.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/files.h"
#include "base/text.h"
#include "run/zygote.h"

namespace pctctl {

using zygote::Kind;
using zygote::Message;
using zygote::Step;

namespace launch_detail {

struct Slot {
    Fd socket;
    std::string program;
    bool active = false; // between `run` and `gone`
    bool dead = false;   // the zygote is gone
    pid_t root_pid = -1;
    std::optional<int> status;
    std::optional<Message> failure;
    bool released = false;
};

} // namespace launch_detail

using launch_detail::Slot;

namespace {

// The helpers' steps take milliseconds. If one takes this long, something is broken.
constexpr int kPatienceMs = 60 * 1000;
constexpr int kDeathMs = 60 * 1000; // a thousand threads end one at a time, on a slow machine

std::string describe(Step step) {
    switch (step) {
    case Step::none:
        break;
    case Step::input:
        return "open /dev/null for the program's input";
    case Step::mount_namespace:
        return "make a mount namespace";
    case Step::private_file:
        return "bind the private C library";
    case Step::read_only_cgroups:
        return "make the cgroup file systems read-only for the program";
    case Step::seccomp:
        return "install a system call filter";
    case Step::start_zygote:
        return "start a helper process";
    case Step::clone_stub:
        return "start a process in the run's cgroup and namespaces";
    case Step::clone_root:
        return "start the program's process";
    case Step::session:
        return "start a session for the program";
    case Step::output:
        return "redirect the program's output";
    case Step::mount_proc:
        return "mount /proc for the program";
    case Step::groups:
        return "set the program's groups";
    case Step::group_id:
        return "set the program's group id";
    case Step::user_id:
        return "set the program's user id";
    case Step::policy:
        return "put the program under the scheduler";
    case Step::execute:
        return "execute the program";
    }
    return "start the program";
}

Error explain(const Message& message, const std::string& program) {
    int error = message.value;
    if (message.step == Step::execute)
        return cannot_run(program, error);
    std::string text = "cannot " + describe(message.step) + ": " + errno_text(error);
    if (message.step == Step::policy && error == EINVAL)
        text += "; the kernel has no SCHED_EXT, use --vm";
    else if (message.step == Step::clone_stub && error == EBUSY)
        text += "; the cgroup has controllers enabled for groups below it, choose another --cgroup";
    else if ((message.step == Step::clone_stub || message.step == Step::clone_root) &&
             error == EAGAIN)
        text +=
            "; a limit of processes is reached, raise pids.max of the cgroup or of one above it, "
            "or ulimit -u";
    else if (error == EPERM || error == EACCES)
        text += "; run as root, outside containers, or use --vm";
    return Error::environment(text);
}

Error vanished() {
    return Error::environment("the helper process that starts the program ('pct-slot') was killed, "
                              "so no further run of the campaign can start");
}

// Receives one message. False if none comes within the time (-1: no limit).
bool receive(Slot& slot, int timeout_ms) {
    if (slot.dead)
        return false;
    pollfd poll_fd{slot.socket.get(), POLLIN, 0};
    int ready;
    while ((ready = ::poll(&poll_fd, 1, timeout_ms)) < 0 && errno == EINTR) {
    }
    if (ready <= 0)
        return false;
    Message message{};
    iovec part{&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))];
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    ssize_t n;
    while ((n = ::recvmsg(slot.socket.get(), &header, MSG_CMSG_CLOEXEC)) < 0 && errno == EINTR) {
    }
    if (n != static_cast<ssize_t>(sizeof message)) {
        slot.dead = true;
        slot.active = false;
        if (!slot.status)
            slot.status = SIGKILL;
        return true;
    }
    switch (message.kind) {
    case Kind::ready:
        if (cmsghdr* item = CMSG_FIRSTHDR(&header); item && item->cmsg_type == SCM_CREDENTIALS) {
            ucred credentials;
            std::memcpy(&credentials, CMSG_DATA(item), sizeof credentials);
            slot.root_pid = credentials.pid;
        }
        break;
    case Kind::failed:
        slot.failure = message;
        break;
    case Kind::released:
        slot.released = true;
        break;
    case Kind::exited:
        slot.status = message.value;
        break;
    case Kind::gone:
        slot.active = false;
        if (!slot.status)
            slot.status = message.value >= 0 ? message.value : SIGKILL;
        break;
    default:
        break;
    }
    return true;
}

bool send_run(int socket, int cgroup, int out, int err) {
    Message message{Kind::run};
    int fds[3] = {cgroup, out, err};
    iovec part{&message, sizeof message};
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)] = {};
    msghdr header{};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* item = CMSG_FIRSTHDR(&header);
    item->cmsg_level = SOL_SOCKET;
    item->cmsg_type = SCM_RIGHTS;
    item->cmsg_len = CMSG_LEN(sizeof fds);
    std::memcpy(CMSG_DATA(item), fds, sizeof fds);
    ssize_t n;
    while ((n = ::sendmsg(socket, &header, MSG_NOSIGNAL)) < 0 && errno == EINTR) {
    }
    return n == static_cast<ssize_t>(sizeof message);
}

std::vector<std::string> environment(const std::optional<Identity>& identity) {
    std::vector<std::string> result;
    auto is = [](std::string_view entry, std::string_view name) {
        return entry.substr(0, entry.find('=')) == name;
    };
    for (char** entry = environ; entry && *entry; entry++) {
        // These are for us alone. Some would make addresses depend on the width of the caller's
        // terminal.
        if (std::string_view(*entry).starts_with("PCTCTL_GUEST_"))
            continue;
        if (identity && (is(*entry, "HOME") || is(*entry, "USER") || is(*entry, "LOGNAME")))
            continue;
        result.emplace_back(*entry);
    }
    if (identity) {
        result.push_back("HOME=" + identity->home);
        if (!identity->name.empty()) {
            result.push_back("USER=" + identity->name);
            result.push_back("LOGNAME=" + identity->name);
        }
    }
    return result;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings)
        result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

// Mount points of all cgroup file systems, also of v1, as the mount table writes them.
std::vector<std::string> cgroup_mounts() {
    std::vector<std::string> result;
    for (const std::string& line : split(read_text("/proc/self/mounts").value_or(""), '\n')) {
        auto fields = split(line, ' ');
        if (fields.size() >= 3 && (fields[2] == "cgroup" || fields[2] == "cgroup2"))
            result.push_back(fields[1]);
    }
    return result;
}

} // namespace

pid_t Process::root_pid() const {
    return slot_->root_pid;
}

int Process::event_fd() const {
    return slot_->socket.get();
}

Status Process::release() {
    Slot& slot = *slot_;
    if (!zygote::send(slot.socket.get(), {Kind::go}))
        slot.dead = true;
    while (!slot.released && !slot.failure && slot.active && !slot.dead)
        if (!receive(slot, kPatienceMs))
            break;
    if (slot.failure) {
        Error error = explain(*slot.failure, slot.program);
        (void)kill_all();
        return error;
    }
    if (slot.dead)
        return vanished();
    if (!slot.released && slot.active) {
        (void)kill_all();
        return Error::environment("the program '" + slot.program +
                                  "' could not be executed within " +
                                  std::to_string(kPatienceMs / 1000) + " seconds");
    }
    return Done{}; // if it was killed from outside just now, wait_status() tells
}

std::optional<int> Process::wait_status() {
    while (!slot_->status && receive(*slot_, 0)) {
    }
    return slot_->status;
}

Status Process::kill_all() {
    if (!slot_)
        return Done{};
    Slot& slot = *slot_;
    while (slot.active && receive(slot, 0)) {
    }
    if (slot.active && !slot.dead)
        zygote::send(slot.socket.get(), {Kind::end});
    while (slot.active && !slot.dead)
        if (!receive(slot, kDeathMs))
            return Error::environment("processes of the run do not die; see 'ps -o "
                                      "pid,state,wchan,comm' for those in state D");
    if (slot.dead)
        return vanished();
    return Done{};
}

Process::~Process() {
    (void)kill_all();
}

Launcher::Launcher() = default;

Launcher::Launcher(Launcher&& other) noexcept
    : slots_(std::move(other.slots_)), mother_(std::exchange(other.mother_, -1)) {}

Launcher::~Launcher() {
    slots_.clear(); // closing the sockets ends each zygote, and then the mother
    if (mother_ > 0)
        while (::waitpid(mother_, nullptr, 0) < 0 && errno == EINTR) {
        }
}

Result<Launcher> Launcher::create(const LaunchOptions& options) {
    if (options.command.empty())
        return Error::usage("no program to run; give one after '--'");
    for (const std::string& argument : options.command)
        if (argument.find('\0') != std::string::npos)
            return Error::usage("an argument of the program contains a zero byte");

    std::vector<std::string> arguments = options.command;
    std::vector<std::string> variables = environment(options.identity);
    std::vector<std::string> mounts = cgroup_mounts();
    std::vector<char*> argv = pointers(arguments), envp = pointers(variables);

    zygote::Setup setup{};
    setup.argv = argv.data();
    setup.envp = envp.data();
    for (const PrivateFile* file : options.private_files)
        setup.binds.push_back({file->mount(), PrivateFile::kName, file->original().c_str()});
    for (const std::string& path : mounts)
        setup.read_only.push_back(path.c_str());
    if (options.identity) {
        setup.change_identity = true;
        setup.uid = options.identity->uid;
        setup.gid = options.identity->gid;
        setup.groups = options.identity->groups;
    }
    setup.policy = options.policy.value_or(-1);
    auto pattern = read_text("/proc/sys/kernel/core_pattern").value_or("");
    setup.core_pipe = pattern.starts_with('|') || pattern.starts_with('@');

    Launcher launcher;
    std::vector<Fd> inner;
    std::vector<int> inner_fds;
    for (unsigned i = 0; i < options.slots; i++) {
        int ends[2];
        if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
            return Error::environment("cannot create a socket pair: " + errno_text(errno));
        auto slot = std::make_unique<Slot>();
        slot->socket.reset(ends[0]);
        inner.emplace_back(ends[1]);
        inner_fds.push_back(ends[1]);
        slot->program = options.command[0];
        int on = 1;
        if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
            return Error::environment("cannot ask for credentials: " + errno_text(errno));
        launcher.slots_.push_back(std::move(slot));
    }
    pid_t pid = ::fork();
    if (pid < 0)
        return Error::environment("cannot start a helper process: " + errno_text(errno));
    if (pid == 0)
        zygote::mother(setup, inner_fds);
    launcher.mother_ = pid;
    inner.clear();

    for (auto& slot : launcher.slots_) {
        if (!receive(*slot, kPatienceMs))
            return Error::environment("the helper process does not answer");
        if (slot->failure)
            return explain(*slot->failure, slot->program);
        if (slot->dead)
            return vanished();
    }
    return launcher;
}

Result<Process> Launcher::prepare(unsigned index, int cgroup, int out, int err) {
    Slot& slot = *slots_.at(index);
    if (slot.dead)
        return vanished();
    if (slot.active)
        return Error::environment("processes of the slot's last run are still alive");
    slot.active = true;
    slot.released = false;
    slot.root_pid = -1;
    slot.status.reset();
    slot.failure.reset();
    Process process(&slot);
    if (!send_run(slot.socket.get(), cgroup, out, err)) {
        slot.dead = true;
        return vanished();
    }
    while (slot.root_pid < 0 && !slot.failure && !slot.status && slot.active && !slot.dead)
        if (!receive(slot, kPatienceMs))
            break;
    if (slot.failure)
        return explain(*slot.failure, slot.program);
    if (slot.dead)
        return vanished();
    if (slot.root_pid <= 0)
        return Error::environment("the program's process ended before it was started");
    return process;
}

} // namespace pctctl
