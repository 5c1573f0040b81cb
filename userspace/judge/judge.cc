// SPDX-License-Identifier: GPL-2.0-only
#include "judge/judge.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <sched.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "base/fd.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "base/syscall_numbers.h"
#include "base/text.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif

namespace pctctl {

namespace {

// What a thread waits for, in words, and whether only the run itself can bring it about.
struct Wait {
    bool internal;
    std::string text;
    bool held = false; // for what a living thread of the run has, or is
};

Wait inside(std::string text) {
    return {true, std::move(text)};
}
Wait outside(std::string text) {
    return {false, std::move(text)};
}

Wait held_inside(std::string text) {
    return {true, std::move(text), true};
}

std::string hex(std::uint64_t value) {
    char text[20] = "0x";
    auto end = std::to_chars(text + 2, text + sizeof text, value, 16).ptr;
    return {text, end};
}

std::optional<std::string> read_link(const std::string& path) {
    char target[PATH_MAX];
    ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

// Names in a directory that are numbers; nothing when it cannot be read.
std::optional<std::vector<int>> numbers_in(const std::string& directory) {
    std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), &::closedir);
    if (!dir)
        return std::nullopt;
    std::vector<int> result;
    while (const dirent* entry = ::readdir(dir.get())) {
        std::string_view name = entry->d_name;
        int value = 0;
        auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
        if (error == std::errc() && end == name.data() + name.size())
            result.push_back(value);
    }
    return result;
}

// Where a process, /proc/PID, shows its descriptors, "fd" or "fdinfo".
std::vector<std::string> descriptor_directories(const std::string& process,
                                                const std::string& kind) {
    std::vector<std::string> places{process + "/" + kind};
    // One whose first thread has ended shows them in the others only.
    if (parse_state(read_text(process + "/stat").value_or("")) == 'Z')
        for (int tid : numbers_in(process + "/task").value_or(std::vector<int>()))
            places.push_back(process + "/task/" + std::to_string(tid) + "/" + kind);
    return places;
}

// What processes outside the run hold; collected when first asked for. Processes with more rights
// than ours (a container's manager) cannot be looked into and are left out: the run would have to
// pass them a descriptor deliberately.
class Outsiders {
public:
    Outsiders(const std::string& proc, const std::set<pid_t>& run) : proc_(proc), run_(run) {}

    bool hold(const std::string& link) {
        if (!collected_)
            collect();
        return !readable_ || links_.contains(link);
    }

    // Whether one has the file "major:minor inode" mapped.
    bool map(const std::string& file) const {
        auto pids = numbers_in(proc_);
        if (!pids)
            return true;
        size_t space = file.find(' ');
        std::string pattern = " " + file.substr(0, space) + " " + file.substr(space + 1) + " ";
        for (int pid : *pids) {
            if (run_.contains(pid))
                continue;
            auto maps = read_text(proc_ + "/" + std::to_string(pid) + "/maps");
            if (maps && maps->find(pattern) != std::string::npos)
                return true;
        }
        return false;
    }

private:
    void collect() {
        collected_ = true;
        auto pids = numbers_in(proc_);
        readable_ = pids.has_value();
        for (int pid : pids.value_or(std::vector<int>()))
            if (!run_.contains(pid))
                collect_process(proc_ + "/" + std::to_string(pid));
    }

    void collect_process(const std::string& process) {
        for (const std::string& place : descriptor_directories(process, "fd")) {
            for (int fd : numbers_in(place).value_or(std::vector<int>())) {
                auto link = read_link(place + "/" + std::to_string(fd));
                if (link && (link->starts_with("pipe:") || link->starts_with("socket:")))
                    links_.insert(*link);
            }
        }
    }

    const std::string& proc_;
    const std::set<pid_t>& run_;
    std::set<std::string> links_;
    bool collected_ = false;
    bool readable_ = false;
};

// A socket held in the run.
struct HeldSocket {
    pid_t pid;
    int fd;
    std::uint64_t inode;
};

class Case {
public:
    Case(const std::vector<LiveThread>& threads, Inspector& inspector, const std::string& proc)
        : threads_(threads), inspector_(inspector), proc_(proc), pids_(processes(threads)),
          outsiders_(proc_, pids_) {}

    Verdict decide(bool timers_possible);

private:
    static std::set<pid_t> processes(const std::vector<LiveThread>& threads) {
        std::set<pid_t> result;
        for (const LiveThread& thread : threads)
            result.insert(thread.pid);
        return result;
    }

    // A thread being examined, and its directory below /proc.
    struct Subject {
        const LiveThread& thread;
        std::string directory;
    };

    std::string file(const Subject& subject, const char* name) const {
        return read_text(subject.directory + "/" + name).value_or("");
    }

    // By thread: a process whose first thread has ended shows no memory under its own number.
    template <typename T> std::optional<T> read(pid_t tid, std::uint64_t address) {
        T value;
        if (!inspector_.read_memory(tid, address, std::as_writable_bytes(std::span(&value, 1))))
            return std::nullopt;
        return value;
    }

    std::optional<Wait> examine(const Subject& subject); // nothing: it has ended
    Wait system_call(const Subject& subject, const SyscallText& call, char state);
    Wait futex(const Subject& subject, std::uint64_t address, unsigned operation);
    Wait futexes(const Subject& subject, std::uint64_t address, std::uint64_t count);
    Wait children(const Subject& subject);
    Wait file_lock(const Subject& subject, std::optional<int> open_file = std::nullopt);
    Wait descriptor(const Subject& subject, int fd, int depth = 0);
    Wait socket(const Subject& subject, int fd, const std::string& link);
    Wait epoll(const Subject& subject, int fd, int depth);
    Wait pidfd(const Subject& subject, int fd);
    Wait descriptors(const Subject& subject, const std::vector<int>& fds, const char* call);
    Wait poll(const Subject& subject, std::uint64_t address, std::uint64_t count);
    Wait select(const Subject& subject, std::uint64_t count, const std::uint64_t* sets);

    std::string owner_of(const Subject& subject, std::uint64_t futex);
    std::optional<int> holder_of(const std::string& lock, pid_t waiter);
    const LiveThread* by_own_number(const Subject& subject, int tid);
    const std::vector<HeldSocket>& sockets_of_run();
    bool has_unbounded_helpers(std::string& what);

    const std::vector<LiveThread>& threads_;
    Inspector& inspector_;
    const std::string proc_;
    const std::set<pid_t> pids_;
    Outsiders outsiders_;
    std::optional<std::vector<HeldSocket>> sockets_;
    std::map<std::string, const LiveThread*> own_numbers_;
};

// Number of a thread or process as its own PID namespace has it.
std::string own_number(const std::string& status, const char* field, pid_t fallback) {
    auto numbers = parse_field(status, field).value_or("");
    size_t last = numbers.find_last_of(" \t");
    if (numbers.empty())
        return std::to_string(fallback);
    return last == std::string::npos ? numbers : numbers.substr(last + 1);
}

Verdict Case::decide(bool timers_possible) {
    Verdict verdict;
    bool all_inside = true;
    bool any = false;
    auto against = [&](const std::string& why) {
        all_inside = false;
        if (verdict.reason.empty())
            verdict.reason = why;
    };
    for (const LiveThread& thread : threads_) {
        Subject subject{thread, proc_ + "/" + std::to_string(thread.pid) + "/task/" +
                                    std::to_string(thread.tid)};
        auto wait = examine(subject);
        if (!wait)
            continue;
        any = true;
        std::string line = "thread " + thread.name + " (pid " +
                           own_number(file(subject, "status"), "NStgid", thread.pid) +
                           "): " + wait->text;
        if (!wait->internal)
            against(line);
        verdict.all_held &= wait->held;
        verdict.lines.push_back(std::move(line));
    }
    if (!any)
        against("no thread is alive");
    if (timers_possible)
        against("the program has armed a timer, whose signal may end a wait");
    std::string helper;
    if (all_inside && has_unbounded_helpers(helper))
        against(helper);
    verdict.deadlock = all_inside;
    return verdict;
}

// Work that the kernel does for the run while all its threads are blocked.
bool Case::has_unbounded_helpers(std::string& what) {
    for (pid_t pid : pids_) {
        std::string process = proc_ + "/" + std::to_string(pid);
        if (read_text(process + "/maps").value_or("").find("/[aio]") != std::string::npos) {
            what = "process " + std::to_string(pid) + " uses asynchronous input and output";
            return true;
        }
    }
    std::set<pid_t> seen; // threads of a process share their descriptors, as a rule
    for (const LiveThread& thread : threads_) {
        if (seen.contains(thread.pid))
            continue;
        std::string fds = proc_ + "/" + std::to_string(thread.pid) + "/task/" +
                          std::to_string(thread.tid) + "/fd";
        auto numbers = numbers_in(fds);
        if (!numbers || numbers->empty())
            continue; // it has ended; another one may live
        seen.insert(thread.pid);
        for (int fd : *numbers) {
            if (read_link(fds + "/" + std::to_string(fd)) == "anon_inode:[io_uring]") {
                what = "process " + std::to_string(thread.pid) + " uses io_uring";
                return true;
            }
        }
    }
    return false;
}

std::optional<Wait> Case::examine(const Subject& subject) {
    auto stat = read_text(subject.directory + "/stat");
    if (!stat)
        return std::nullopt;
    char state = parse_state(*stat);
    switch (state) {
    case 'Z':
    case 'X':
    case 'x':
        return std::nullopt;
    case 'R':
        return outside("is runnable");
    case 'T':
    case 't':
        return outside("is stopped or traced");
    case 'S':
    case 'D':
        break;
    default:
        return outside("is in an unknown state");
    }
    std::string status = file(subject, "status");
    if (parse_field(status, "TracerPid").value_or("?") != "0")
        return outside("is traced");
    // The numbers of system calls are those of 64-bit programs.
    Fd exe(::open((subject.directory + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
    char head[5] = {};
    if (!exe || ::pread(exe.get(), head, sizeof head, 0) != sizeof head || head[4] != 2)
        return outside("is not known to be a 64-bit program");
    auto call = parse_syscall(file(subject, "syscall"));
    if (!call)
        return outside("is moving");
    if (call->number < 0)
        return outside("is blocked outside of system calls");
    return system_call(subject, *call, state);
}

Wait Case::system_call(const Subject& subject, const SyscallText& call, char state) {
    const auto& a = call.arguments;
    auto fd = [&](int i) { return static_cast<int>(a[static_cast<size_t>(i)]); };
    auto signed_argument = [&](int i) { return static_cast<int>(a[static_cast<size_t>(i)]); };

    // A parent in vfork() sleeps uninterruptibly, and yet for its child only.
    if (state == 'D') {
        bool vforks = call.number == SYS_vfork ||
                      (call.number == SYS_clone && (a[0] & CLONE_VFORK)) ||
                      (call.number == SYS_clone3 &&
                       (read<std::uint64_t>(subject.thread.tid, a[0]).value_or(0) & CLONE_VFORK));
        if (vforks)
            return held_inside("waits for its vfork() child to execute a program or end");
        return outside("waits for a device or file system (system call " +
                       std::to_string(call.number) + ")");
    }

    switch (call.number) {
    case SYS_futex:
        switch (a[1] & FUTEX_CMD_MASK) {
        case FUTEX_WAIT:
        case FUTEX_WAIT_BITSET:
        case FUTEX_LOCK_PI:
        case FUTEX_LOCK_PI2:
        case FUTEX_WAIT_REQUEUE_PI:
            if (a[3] != 0)
                return outside("waits with a time limit (futex " + hex(a[0]) + ")");
            return futex(subject, a[0], static_cast<unsigned>(a[1]));
        }
        break;
    case SYS_futex_wait:
        if (a[4] != 0)
            return outside("waits with a time limit (futex " + hex(a[0]) + ")");
        return futex(subject, a[0], (a[3] & 128) ? FUTEX_PRIVATE_FLAG : 0);
    case SYS_futex_waitv:
        if (a[3] != 0)
            return outside("waits with a time limit for " + std::to_string(a[1]) + " futexes");
        return futexes(subject, a[0], a[1]);
    case SYS_wait4:
    case SYS_waitid:
        return children(subject);
    case SYS_pause:
    case SYS_rt_sigsuspend:
        return inside("waits for a signal");
    case SYS_rt_sigtimedwait:
        if (a[2] != 0)
            return outside("waits for a signal with a time limit");
        return inside("waits for a signal");
    case SYS_flock:
        return file_lock(subject);
    case SYS_fcntl:
        if (signed_argument(1) == F_SETLKW)
            return file_lock(subject);
        if (signed_argument(1) == F_OFD_SETLKW)
            return file_lock(subject, fd(0));
        break;
    case SYS_semop:
        return inside("waits for a System V semaphore (set " + std::to_string(fd(0)) + ")");
    case SYS_semtimedop:
        if (a[3] != 0)
            return outside("waits for a System V semaphore with a time limit");
        return inside("waits for a System V semaphore (set " + std::to_string(fd(0)) + ")");
    case SYS_msgsnd:
        return inside("waits for room in System V message queue " + std::to_string(fd(0)));
    case SYS_msgrcv:
        return inside("waits for a message in System V queue " + std::to_string(fd(0)));
    case SYS_mq_timedsend:
    case SYS_mq_timedreceive:
        if (a[4] != 0)
            return outside("waits for a message queue with a time limit");
        return inside("waits for message queue " +
                      read_link(subject.directory + "/fd/" + std::to_string(fd(0)))
                          .value_or("descriptor " + std::to_string(fd(0))));
    case SYS_read:
    case SYS_readv:
    case SYS_recvfrom:
    case SYS_recvmsg:
        return descriptors(subject, {fd(0)}, "data");
    case SYS_recvmmsg:
        if (a[4] != 0)
            return outside("receives with a time limit");
        return descriptors(subject, {fd(0)}, "data");
    case SYS_write:
    case SYS_writev:
    case SYS_sendto:
    case SYS_sendmsg:
    case SYS_sendmmsg:
    case SYS_vmsplice:
        return descriptors(subject, {fd(0)}, "room");
    case SYS_tee:
    case SYS_sendfile:
        return descriptors(subject, {fd(0), fd(1)}, "data or room");
    case SYS_splice:
        return descriptors(subject, {fd(0), fd(2)}, "data or room");
    case SYS_poll:
        if (signed_argument(2) >= 0)
            return outside("polls with a time limit");
        return poll(subject, a[0], a[1]);
    case SYS_ppoll:
        if (a[2] != 0)
            return outside("polls with a time limit");
        return poll(subject, a[0], a[1]);
    case SYS_select:
    case SYS_pselect6:
        if (a[4] != 0)
            return outside("selects with a time limit");
        return select(subject, a[0], &a[1]);
    case SYS_epoll_wait:
    case SYS_epoll_pwait:
        if (signed_argument(3) >= 0)
            return outside("waits for events with a time limit");
        return epoll(subject, fd(0), 0);
    case SYS_epoll_pwait2:
        if (a[3] != 0)
            return outside("waits for events with a time limit");
        return epoll(subject, fd(0), 0);
    case SYS_nanosleep:
    case SYS_clock_nanosleep:
        return outside("sleeps");
    case SYS_accept:
    case SYS_accept4:
        return outside("waits for a client to connect");
    case SYS_connect:
        return outside("waits for a connection");
    }
    return outside("is blocked in system call " + std::to_string(call.number));
}

Wait Case::futex(const Subject& subject, std::uint64_t address, unsigned operation) {
    if (!(operation & FUTEX_PRIVATE_FLAG)) {
        // Threads end by waking a futex in their descriptor whose value is their number until then.
        auto value = read<int>(subject.thread.tid, address);
        if (value && *value > 0)
            if (const LiveThread* joined = by_own_number(subject, *value);
                joined && joined->pid == subject.thread.pid)
                return held_inside("waits for thread " + joined->name + " to end");
        auto shared = parse_shared_mapping(file(subject, "maps"), address);
        if (shared && outsiders_.map(*shared))
            return outside("waits for a futex in a file that processes outside share");
    }
    const std::string owner = owner_of(subject, address);
    return {true, "waits for a mutex or condition (futex " + hex(address) + ")" + owner,
            !owner.empty()};
}

Wait Case::futexes(const Subject& subject, std::uint64_t address, std::uint64_t count) {
    struct Entry { // struct futex_waitv
        std::uint64_t value, address;
        std::uint32_t flags, reserved;
    };
    for (std::uint64_t i = 0; i < count; i++) {
        auto entry = read<Entry>(subject.thread.tid, address + i * sizeof(Entry));
        if (!entry)
            return outside("waits for futexes that cannot be read");
        Wait wait = futex(subject, entry->address, entry->flags & 128 ? FUTEX_PRIVATE_FLAG : 0);
        if (!wait.internal)
            return wait;
    }
    return inside("waits for one of " + std::to_string(count) + " futexes");
}

const LiveThread* Case::by_own_number(const Subject& subject, int tid) {
    if (own_numbers_.empty()) {
        for (const LiveThread& thread : threads_) {
            auto status = read_text(proc_ + "/" + std::to_string(thread.pid) + "/task/" +
                                    std::to_string(thread.tid) + "/status");
            if (status)
                own_numbers_.emplace(own_number(*status, "NSpid", thread.tid), &thread);
        }
    }
    auto found = own_numbers_.find(std::to_string(tid));
    return found != own_numbers_.end() && found->second != &subject.thread ? found->second
                                                                           : nullptr;
}

// glibc's mutexes keep the owner's thread number 8 bytes behind the word that is waited on, which
// is 2 or more while somebody waits. Other futexes rarely look like that.
std::string Case::owner_of(const Subject& subject, std::uint64_t address) {
    struct Mutex {
        int lock;
        unsigned count;
        int owner;
    };
    auto mutex = read<Mutex>(subject.thread.tid, address);
    if (!mutex || mutex->lock < 2 || mutex->owner <= 0)
        return "";
    const LiveThread* owner = by_own_number(subject, mutex->owner);
    return owner ? ", held by thread " + owner->name : "";
}

Wait Case::children(const Subject& subject) {
    // Any thread of the process may have created them.
    std::string tasks = proc_ + "/" + std::to_string(subject.thread.pid) + "/task";
    unsigned count = 0;
    for (int tid : numbers_in(tasks).value_or(std::vector<int>())) {
        auto text = read_text(tasks + "/" + std::to_string(tid) + "/children");
        if (!text)
            return outside("waits for children that cannot be listed");
        for (const std::string& child : split(trimmed(*text), ' ')) {
            if (parse_state(read_text(proc_ + "/" + child + "/stat").value_or("")) == 'Z' &&
                !pids_.contains(std::atoi(child.c_str())))
                continue; // ended, and not the one waited for
            count++;
            if (!pids_.contains(std::atoi(child.c_str())))
                return outside("waits for a child process that is not scheduled (" + child + ")");
        }
    }
    return held_inside(count == 1 ? "waits for its child process to end"
                                  : "waits for one of its " + std::to_string(count) +
                                        " child processes to end");
}

// A lock of the process, or of an open file, which is then given by its descriptor.
Wait Case::file_lock(const Subject& subject, std::optional<int> open_file) {
    const std::string locks = read_text(proc_ + "/locks").value_or("");
    std::vector<std::string> waited_for;
    if (!open_file) {
        waited_for = parse_locks_waited_for(locks, subject.thread.pid);
    } else {
        // Nothing tells which of the requests for locks of that file is the thread's.
        const std::string info = file(subject, ("fdinfo/" + std::to_string(*open_file)).c_str());
        waited_for = parse_open_file_locks_waited_for(
            locks, std::strtoull(parse_field(info, "ino").value_or("0").c_str(), nullptr, 10));
    }
    std::set<std::string> owners;
    for (const std::string& lock : waited_for) {
        auto owner = parse_lock_owner(lock);
        if (!owner || !pids_.contains(*owner))
            owner = holder_of(lock, subject.thread.pid);
        if (!owner || !pids_.contains(*owner)) {
            owners.clear();
            break;
        }
        owners.insert(
            own_number(read_text(proc_ + "/" + std::to_string(*owner) + "/status").value_or(""),
                       "NStgid", *owner));
    }
    if (owners.empty())
        return outside("waits for a file lock held outside, or by a process unknown");
    std::string text;
    for (const std::string& owner : owners)
        text += (text.empty() ? "" : " or ") + owner;
    return held_inside("waits for a file lock held by process " + text);
}

// What flock() and F_OFD_SETLKW lock belongs to all who have that open file, also when the process
// that took it has ended, as flock(1) does. A process with it: one outside, if there is one, or
// else another than the one that waits.
std::optional<int> Case::holder_of(const std::string& lock, pid_t waiter) {
    if (!lock.starts_with("FLOCK ") && !lock.starts_with("OFDLCK "))
        return std::nullopt;
    std::optional<int> holder;
    for (int pid : numbers_in(proc_).value_or(std::vector<int>())) {
        for (const std::string& infos :
             descriptor_directories(proc_ + "/" + std::to_string(pid), "fdinfo")) {
            for (int fd : numbers_in(infos).value_or(std::vector<int>())) {
                if (!holds_lock(read_text(infos + "/" + std::to_string(fd)).value_or(""), lock))
                    continue;
                if (!pids_.contains(pid))
                    return pid;
                if (!holder || *holder == waiter)
                    holder = pid;
            }
        }
    }
    return holder;
}

Wait Case::descriptors(const Subject& subject, const std::vector<int>& fds, const char* what) {
    std::string text;
    for (int fd : fds) {
        Wait wait = descriptor(subject, fd);
        wait.text = "waits for " + std::string(what) + " in " + wait.text;
        if (!wait.internal)
            return wait;
        if (text.empty())
            text = wait.text;
    }
    if (fds.empty())
        return inside("waits for a signal");
    if (fds.size() > 1)
        text += " or " + std::to_string(fds.size() - 1) + " more";
    return inside(text);
}

Wait Case::descriptor(const Subject& subject, int fd, int depth) {
    std::string number = std::to_string(fd);
    auto link = read_link(subject.directory + "/fd/" + number);
    if (!link)
        return outside("descriptor " + number + ", which is closed");
    if (link->starts_with("pipe:")) {
        if (outsiders_.hold(*link))
            return outside("a pipe shared with processes outside (descriptor " + number + ")");
        return inside("a pipe (descriptor " + number + ")");
    }
    if (link->starts_with("socket:"))
        return socket(subject, fd, *link);
    if (*link == "anon_inode:[eventfd]")
        return inside("an eventfd (descriptor " + number + ")"); // no name to open it by
    if (*link == "anon_inode:[signalfd]")
        return inside("a signalfd (descriptor " + number + ")");
    if (*link == "anon_inode:[eventpoll]")
        return epoll(subject, fd, depth + 1);
    if (*link == "anon_inode:[pidfd]" || link->starts_with("pidfd:"))
        return pidfd(subject, fd);
    return outside("'" + *link + "' (descriptor " + number + ")");
}

Wait Case::pidfd(const Subject& subject, int fd) {
    std::string info = file(subject, ("fdinfo/" + std::to_string(fd)).c_str());
    int pid = std::atoi(parse_field(info, "Pid").value_or("0").c_str());
    if (!pids_.contains(pid))
        return outside("the end of a process outside (descriptor " + std::to_string(fd) + ")");
    return inside("the end of a process (pidfd " + std::to_string(fd) + ")");
}

const std::vector<HeldSocket>& Case::sockets_of_run() {
    if (!sockets_) {
        sockets_.emplace();
        for (pid_t pid : pids_) {
            // Of the first thread that still has a descriptor table.
            for (const LiveThread& thread : threads_) {
                if (thread.pid != pid)
                    continue;
                std::string fds = proc_ + "/" + std::to_string(pid) + "/task/" +
                                  std::to_string(thread.tid) + "/fd";
                auto numbers = numbers_in(fds);
                if (!numbers || numbers->empty())
                    continue;
                for (int fd : *numbers) {
                    auto link = read_link(fds + "/" + std::to_string(fd));
                    if (auto inode = parse_link(link.value_or(""), "socket"))
                        sockets_->push_back({pid, fd, *inode});
                }
                break;
            }
        }
    }
    return *sockets_;
}

Wait Case::socket(const Subject& subject, int fd, const std::string& link) {
    std::string name = " (descriptor " + std::to_string(fd) + ")";
    auto inode = parse_link(link, "socket");
    if (!inode)
        return outside("an unknown socket" + name);
    auto info = inspector_.socket(subject.thread.pid, fd, *inode);
    if (!info)
        return outside("a socket that cannot be examined" + name);
    if (info->listening)
        return outside("a listening socket" + name);
    if (info->timed)
        return outside("a socket with a time limit" + name);
    if (outsiders_.hold(link))
        return outside("a socket shared with processes outside" + name);

    const auto& held = sockets_of_run();
    if (info->domain == AF_UNIX) {
        // Anybody may send to a named one that is not connection-oriented.
        if (info->type == SOCK_DGRAM && !info->local.empty())
            return outside("a named datagram socket" + name);
        if (info->peer_inode) {
            bool ours = std::any_of(held.begin(), held.end(), [&](const HeldSocket& other) {
                return other.inode == *info->peer_inode;
            });
            if (!ours || outsiders_.hold("socket:[" + std::to_string(*info->peer_inode) + "]"))
                return outside("a socket connected to a process outside" + name);
            return inside("a local socket" + name);
        }
        if (info->peer_pid && pids_.contains(*info->peer_pid))
            return inside("a local socket" + name);
        return outside("a local socket whose other end is unknown, perhaps outside" + name);
    }
    bool stream = info->type == SOCK_STREAM || info->type == SOCK_SEQPACKET;
    if ((info->domain == AF_INET || info->domain == AF_INET6) && stream && !info->local.empty() &&
        !info->remote.empty()) {
        for (const HeldSocket& other : held) {
            if (other.inode == *inode)
                continue;
            auto end = inspector_.socket(other.pid, other.fd, other.inode);
            if (end && end->domain == info->domain && end->type == info->type && !end->listening &&
                end->net_namespace == info->net_namespace && end->local == info->remote &&
                end->remote == info->local &&
                !outsiders_.hold("socket:[" + std::to_string(other.inode) + "]"))
                return inside("a loopback connection" + name);
        }
        return outside("a network connection" + name);
    }
    return outside("a network socket" + name);
}

Wait Case::epoll(const Subject& subject, int fd, int depth) {
    std::string name = "an epoll set (descriptor " + std::to_string(fd) + ")";
    if (depth > 5)
        return outside(name + " nested too deeply");
    auto entries = parse_epoll(file(subject, ("fdinfo/" + std::to_string(fd)).c_str()));
    if (!entries ||
        read_link(subject.directory + "/fd/" + std::to_string(fd)) != "anon_inode:[eventpoll]")
        return outside(name + " that cannot be read");
    for (const EpollEntry& entry : *entries) {
        // The number may stand for another file by now.
        struct stat status;
        std::string path = subject.directory + "/fd/" + std::to_string(entry.fd);
        if (::stat(path.c_str(), &status) != 0 || status.st_ino != entry.inode)
            return outside("waits for events of " + name + " with an unknown member");
        Wait wait = descriptor(subject, entry.fd, depth);
        if (!wait.internal)
            return outside("waits for events of " + wait.text);
    }
    if (depth > 0)
        return inside(name);
    return inside("waits for events of " + name + " with " + std::to_string(entries->size()) +
                  " members");
}

Wait Case::poll(const Subject& subject, std::uint64_t address, std::uint64_t count) {
    if (count > 65536)
        return outside("polls a set that cannot be read");
    std::vector<pollfd> set(count);
    if (count > 0 && !inspector_.read_memory(subject.thread.tid, address,
                                             std::as_writable_bytes(std::span(set))))
        return outside("polls a set that cannot be read");
    std::vector<int> fds;
    for (const pollfd& entry : set)
        if (entry.fd >= 0)
            fds.push_back(entry.fd);
    return descriptors(subject, fds, "an event");
}

Wait Case::select(const Subject& subject, std::uint64_t count, const std::uint64_t* sets) {
    if (count > 65536)
        return outside("selects from a set that cannot be read");
    std::vector<int> fds;
    std::vector<std::uint64_t> words((count + 63) / 64);
    for (int i = 0; i < 3 && !words.empty(); i++) {
        if (sets[i] == 0)
            continue;
        if (!inspector_.read_memory(subject.thread.tid, sets[i],
                                    std::as_writable_bytes(std::span(words))))
            return outside("selects from a set that cannot be read");
        for (std::uint64_t fd = 0; fd < count; fd++)
            if (words[fd / 64] >> (fd % 64) & 1)
                fds.push_back(static_cast<int>(fd));
    }
    return descriptors(subject, fds, "an event");
}

} // namespace

Verdict judge(const std::vector<LiveThread>& threads, bool timers_possible, Inspector& inspector,
              const std::string& proc) {
    return Case(threads, inspector, proc).decide(timers_possible);
}

} // namespace pctctl
