// SPDX-License-Identifier: GPL-2.0-only
#include "judge/blocking_calls.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>

#include <array>
#include <cstdint>
#include <string>

#include "base/syscall_numbers.h"
#include "judge/children.h"
#include "judge/descriptors.h"
#include "judge/file_locks.h"
#include "judge/futexes.h"

#ifndef FUTEX_LOCK_PI2
#define FUTEX_LOCK_PI2 13
#endif
#ifndef FUTEX2_PRIVATE
#define FUTEX2_PRIVATE FUTEX_PRIVATE_FLAG
#endif

namespace pctctl {

namespace {

using Thread = BlockedThread;
using Arguments = std::array<std::uint64_t, 6>;

int number(std::uint64_t argument) {
    return static_cast<int>(argument);
}

Wait unknown_call(long call) {
    return external_wait("is blocked in system call " + std::to_string(call));
}

Wait futex_unless_limited(const Thread& thread, std::uint64_t address, bool is_private,
                          std::uint64_t limit) {
    if (limit != 0)
        return external_wait("waits with a time limit (" + futex_name(address) + ")");
    return futex_wait(thread, address, is_private);
}

Wait call_futex(const Thread& thread, const Arguments& a) {
    switch (a[1] & FUTEX_CMD_MASK) {
    case FUTEX_WAIT:
    case FUTEX_WAIT_BITSET:
    case FUTEX_LOCK_PI:
    case FUTEX_LOCK_PI2:
    case FUTEX_WAIT_REQUEUE_PI:
        return futex_unless_limited(thread, a[0], a[1] & FUTEX_PRIVATE_FLAG, a[3]);
    default:
        return unknown_call(SYS_futex);
    }
}

Wait call_futex_wait(const Thread& thread, const Arguments& a) {
    return futex_unless_limited(thread, a[0], a[3] & FUTEX2_PRIVATE, a[4]);
}

Wait call_futex_waitv(const Thread& thread, const Arguments& a) {
    if (a[3] != 0)
        return external_wait("waits with a time limit for " + std::to_string(a[1]) + " futexes");
    return futexes_wait(thread, a[0], a[1]);
}

Wait call_wait(const Thread& thread, const Arguments&) {
    return children_wait(thread);
}

Wait call_for_signal(const Thread&, const Arguments&) {
    return internal_wait("waits for a signal");
}

Wait call_flock(const Thread& thread, const Arguments&) {
    return process_lock_wait(thread);
}

Wait call_fcntl(const Thread& thread, const Arguments& a) {
    switch (number(a[1])) {
    case F_SETLKW:
        return process_lock_wait(thread);
    case F_OFD_SETLKW:
        return open_file_lock_wait(thread, number(a[0]));
    default:
        return unknown_call(SYS_fcntl);
    }
}

// Other processes of the same user could use System V objects too. They would need the object's
// number; the judge takes it that they do not.
Wait call_semop(const Thread&, const Arguments& a) {
    return internal_wait("waits for a System V semaphore (set " + std::to_string(number(a[0])) +
                         ")");
}

Wait call_msgsnd(const Thread&, const Arguments& a) {
    return internal_wait("waits for room in System V message queue " +
                         std::to_string(number(a[0])));
}

Wait call_msgrcv(const Thread&, const Arguments& a) {
    return internal_wait("waits for a message in System V queue " + std::to_string(number(a[0])));
}

Wait call_mq(const Thread& thread, const Arguments& a) {
    const int fd = number(a[0]);
    return internal_wait("waits for message queue " +
                         thread.link(fd).value_or("descriptor " + std::to_string(fd)));
}

Wait call_read(const Thread& thread, const Arguments& a) {
    return descriptors_wait(thread, {number(a[0])}, "data");
}

Wait call_write(const Thread& thread, const Arguments& a) {
    return descriptors_wait(thread, {number(a[0])}, "room");
}

// For data in one descriptor or for room in the other.
template <unsigned second> Wait call_copy(const Thread& thread, const Arguments& a) {
    return descriptors_wait(thread, {number(a[0]), number(a[second])}, "data or room");
}

Wait call_poll(const Thread& thread, const Arguments& a) {
    return poll_set_wait(thread, a[0], a[1]);
}

Wait call_select(const Thread& thread, const Arguments& a) {
    return select_sets_wait(thread, a[0], &a[1]);
}

Wait call_epoll_wait(const Thread& thread, const Arguments& a) {
    return epoll_set_wait(thread, number(a[0]));
}

Wait call_sleep(const Thread&, const Arguments&) {
    return external_wait("sleeps");
}

Wait call_accept(const Thread&, const Arguments&) {
    return external_wait("waits for a client to connect");
}

Wait call_connect(const Thread&, const Arguments&) {
    return external_wait("waits for a connection");
}

// The argument that limits the time of a call, and what is said of a call with a limit.
struct TimeLimit {
    enum class Kind {
        never,       // there is none, or the call's own function looks at it
        pointer,     // a limit unless it is null
        milliseconds // a limit unless it is negative
    };
    Kind kind = Kind::never;
    unsigned argument = 0;
    const char* text = "";

    bool applies(const Arguments& a) const {
        return (kind == Kind::pointer && a[argument] != 0) ||
               (kind == Kind::milliseconds && number(a[argument]) >= 0);
    }
};

constexpr TimeLimit unless_null(unsigned argument, const char* text) {
    return {TimeLimit::Kind::pointer, argument, text};
}
constexpr TimeLimit unless_negative(unsigned argument, const char* text) {
    return {TimeLimit::Kind::milliseconds, argument, text};
}

struct BlockingCall {
    long number;
    Wait (*wait)(const Thread&, const Arguments&); // without a time limit
    TimeLimit limit = {};
};

constexpr BlockingCall kBlockingCalls[] = {
    {SYS_futex, call_futex},
    {SYS_futex_wait, call_futex_wait},
    {SYS_futex_waitv, call_futex_waitv},
    {SYS_wait4, call_wait},
    {SYS_waitid, call_wait},
    {SYS_pause, call_for_signal},
    {SYS_rt_sigsuspend, call_for_signal},
    {SYS_rt_sigtimedwait, call_for_signal, unless_null(2, "waits for a signal with a time limit")},
    {SYS_flock, call_flock},
    {SYS_fcntl, call_fcntl},
    {SYS_semop, call_semop},
    {SYS_semtimedop, call_semop,
     unless_null(3, "waits for a System V semaphore with a time limit")},
    {SYS_msgsnd, call_msgsnd},
    {SYS_msgrcv, call_msgrcv},
    {SYS_mq_timedsend, call_mq, unless_null(4, "waits for a message queue with a time limit")},
    {SYS_mq_timedreceive, call_mq, unless_null(4, "waits for a message queue with a time limit")},
    {SYS_read, call_read},
    {SYS_readv, call_read},
    {SYS_recvfrom, call_read},
    {SYS_recvmsg, call_read},
    {SYS_recvmmsg, call_read, unless_null(4, "receives with a time limit")},
    {SYS_write, call_write},
    {SYS_writev, call_write},
    {SYS_sendto, call_write},
    {SYS_sendmsg, call_write},
    {SYS_sendmmsg, call_write},
    {SYS_vmsplice, call_write},
    {SYS_tee, call_copy<1>},
    {SYS_sendfile, call_copy<1>},
    {SYS_splice, call_copy<2>},
    {SYS_poll, call_poll, unless_negative(2, "polls with a time limit")},
    {SYS_ppoll, call_poll, unless_null(2, "polls with a time limit")},
    {SYS_select, call_select, unless_null(4, "selects with a time limit")},
    {SYS_pselect6, call_select, unless_null(4, "selects with a time limit")},
    {SYS_epoll_wait, call_epoll_wait, unless_negative(3, "waits for events with a time limit")},
    {SYS_epoll_pwait, call_epoll_wait, unless_negative(3, "waits for events with a time limit")},
    {SYS_epoll_pwait2, call_epoll_wait, unless_null(3, "waits for events with a time limit")},
    {SYS_nanosleep, call_sleep},
    {SYS_clock_nanosleep, call_sleep},
    {SYS_accept, call_accept},
    {SYS_accept4, call_accept},
    {SYS_connect, call_connect},
};

} // namespace

Wait wait_in_call(const Thread& thread, const SyscallText& call) {
    for (const BlockingCall& entry : kBlockingCalls) {
        if (entry.number != call.number)
            continue;
        if (entry.limit.applies(call.arguments))
            return external_wait(entry.limit.text);
        return entry.wait(thread, call.arguments);
    }
    return unknown_call(call.number);
}

// As a rule such a sleep is one for hardware. The exception is a parent in vfork(), which sleeps
// until its child executes a program or ends.
Wait uninterruptible_wait(const Thread& thread, const SyscallText& call) {
    const Arguments& a = call.arguments;
    const auto clone3_flags = [&] { return thread.read<std::uint64_t>(a[0]).value_or(0); };
    if (call.number == SYS_vfork || (call.number == SYS_clone && (a[0] & CLONE_VFORK)) ||
        (call.number == SYS_clone3 && (clone3_flags() & CLONE_VFORK)))
        return internal_wait_for_holder("waits for its vfork() child to execute a program or end");
    return external_wait("waits for a device or file system (system call " +
                         std::to_string(call.number) + ")");
}

} // namespace pctctl
