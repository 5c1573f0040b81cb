// SPDX-License-Identifier: GPL-2.0-only
// The table of system calls: each of its lines with a time limit, and without one.
#include "judge/blocking_calls.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <sched.h>

#include <ostream>
#include <string>
#include <vector>

#include "base/syscall_numbers.h"
#include "fake_run.h"

namespace pctctl {
namespace {

using testing::HasSubstr;

// Descriptors 3 and 4 are eventfds, 5 a terminal.
class BlockingCalls : public testing::Test {
protected:
    BlockingCalls() {
        run_.open(3, "anon_inode:[eventfd]");
        run_.open(4, "anon_inode:[eventfd]");
        run_.open(5, "/dev/pts/1");
    }
    Wait wait(long number, std::vector<std::uint64_t> arguments) {
        SyscallText call{.number = number};
        std::ranges::copy(arguments, call.arguments.begin());
        RunView view = run_.view();
        return wait_in_call(BlockedThread(view, run_.first()), call);
    }

    test::FakeRun run_;
};

TEST_F(BlockingCalls, WithATimeLimitAreNotInternal) {
    const struct {
        long number;
        unsigned limit; // the argument with its time limit
        std::vector<std::uint64_t> arguments;
    } calls[] = {
        {SYS_futex, 3, {0x1000, FUTEX_WAIT | FUTEX_PRIVATE_FLAG, 0, 0}},
        {SYS_futex, 3, {0x1000, FUTEX_LOCK_PI | FUTEX_PRIVATE_FLAG, 0, 0}},
        {SYS_futex_wait, 4, {0x1000, 0, 0, FUTEX_PRIVATE_FLAG, 0}},
        {SYS_futex_waitv, 3, {0x1000, 0, 0, 0}},
        {SYS_rt_sigtimedwait, 2, {0, 0, 0}},
        {SYS_semtimedop, 3, {1, 0, 0, 0}},
        {SYS_mq_timedsend, 4, {3, 0, 0, 0, 0}},
        {SYS_mq_timedreceive, 4, {3, 0, 0, 0, 0}},
        {SYS_recvmmsg, 4, {3, 0, 0, 0, 0}},
        {SYS_ppoll, 2, {0, 0, 0}},
        {SYS_select, 4, {0, 0, 0, 0, 0}},
        {SYS_pselect6, 4, {0, 0, 0, 0, 0}},
    };
    for (auto [number, limit, arguments] : calls) {
        EXPECT_TRUE(wait(number, arguments).internal) << number;
        arguments[limit] = 0x2000;
        const Wait limited = wait(number, arguments);
        EXPECT_FALSE(limited.internal) << number;
        EXPECT_THAT(limited.text, HasSubstr("with a time limit")) << number;
    }
}

// Their time limit is a number of milliseconds; any negative one means forever.
TEST_F(BlockingCalls, WithMillisecondsAreInternalIfNegative) {
    run_.write("10/task/10/fdinfo/7", "pos:\t0\n");
    run_.open(7, "anon_inode:[eventpoll]");
    const std::uint64_t forever = 0xffffffff; // -1 in 32 bits, as the register has it
    for (const std::uint64_t limit : {std::uint64_t{0}, std::uint64_t{1000}, forever}) {
        EXPECT_EQ(wait(SYS_poll, {0, 0, limit}).internal, limit == forever);
        for (long number : {SYS_epoll_wait, SYS_epoll_pwait})
            EXPECT_EQ(wait(number, {7, 0, 1, limit}).internal, limit == forever) << number;
    }
    EXPECT_TRUE(wait(SYS_epoll_pwait2, {7, 0, 1, 0}).internal);
    EXPECT_FALSE(wait(SYS_epoll_pwait2, {7, 0, 1, 0x2000}).internal);
}

TEST_F(BlockingCalls, OnDescriptorsLookAtTheRightOnes) {
    for (long number : {SYS_read, SYS_readv, SYS_recvfrom, SYS_recvmsg, SYS_write, SYS_writev,
                        SYS_sendto, SYS_sendmsg, SYS_sendmmsg, SYS_vmsplice}) {
        EXPECT_TRUE(wait(number, {3}).internal) << number;
        EXPECT_FALSE(wait(number, {5}).internal) << number;
    }
    for (long number : {SYS_tee, SYS_sendfile}) {
        EXPECT_TRUE(wait(number, {3, 4, 5}).internal) << number;
        EXPECT_FALSE(wait(number, {3, 5, 4}).internal) << number;
    }
    EXPECT_TRUE(wait(SYS_splice, {3, 5, 4}).internal);
    EXPECT_FALSE(wait(SYS_splice, {3, 4, 5}).internal);
    EXPECT_THAT(wait(SYS_read, {3}).text, HasSubstr("waits for data in an eventfd"));
    EXPECT_THAT(wait(SYS_write, {3}).text, HasSubstr("waits for room in an eventfd"));
}

TEST_F(BlockingCalls, UnknownOnesAreNotInternal) {
    EXPECT_EQ(wait(SYS_ptrace, {}).text, "is blocked in system call " + std::to_string(SYS_ptrace));
    EXPECT_FALSE(wait(SYS_ptrace, {}).internal);
    EXPECT_FALSE(wait(SYS_fcntl, {3, F_GETFL}).internal);
    EXPECT_FALSE(wait(SYS_futex, {0x1000, FUTEX_WAKE}).internal);
}

TEST_F(BlockingCalls, UninterruptibleSleepIsForADeviceOrAVforkedChild) {
    RunView view = run_.view();
    const BlockedThread thread(view, run_.first());
    const auto wait = [&](long number, std::uint64_t first) {
        return uninterruptible_wait(thread, {.number = number, .arguments = {first}});
    };
    run_.inspector.put<std::uint64_t>(0x1000, CLONE_VFORK);
    run_.inspector.put<std::uint64_t>(0x2000, CLONE_VM);
    EXPECT_TRUE(wait(SYS_vfork, 0).held);
    EXPECT_TRUE(wait(SYS_clone, CLONE_VFORK).held);
    EXPECT_TRUE(wait(SYS_clone3, 0x1000).held);
    EXPECT_FALSE(wait(SYS_clone, CLONE_VM).internal);
    EXPECT_FALSE(wait(SYS_clone3, 0x2000).internal);
    EXPECT_FALSE(wait(SYS_clone3, 0x3000).internal); // cannot be read
    EXPECT_FALSE(wait(SYS_read, 3).internal);
}

} // namespace
} // namespace pctctl
