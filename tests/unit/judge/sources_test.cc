// SPDX-License-Identifier: GPL-2.0-only
// Which processes an event on a descriptor can come from. With made-up descriptors, for cases such
// as sockets whose other end is in another network namespace.
#include "judge/descriptors.h"
#include "judge/sockets.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <string>

#include "fake_run.h"

namespace pctctl {
namespace {

using testing::HasSubstr;

class Sources : public testing::Test {
protected:
    Source source(int fd = 3) {
        RunView view = run_.view();
        return source_of(BlockedThread(view, run_.first()), fd);
    }
    SocketInfo& socket(std::uint64_t inode) { return run_.inspector.sockets[inode]; }
    SocketInfo& new_stream(std::uint64_t inode, int domain) {
        SocketInfo& info = socket(inode) = {};
        info.domain = domain;
        info.type = SOCK_STREAM;
        return info;
    }

    test::FakeRun run_;
};

TEST_F(Sources, ByKindOfDescriptor) {
    const struct {
        const char* link;
        bool internal;
        const char* name;
    } kinds[] = {
        {"pipe:[5]", true, "a pipe (descriptor 0)"},
        {"anon_inode:[eventfd]", true, "an eventfd (descriptor 1)"},
        {"anon_inode:[signalfd]", true, "a signalfd (descriptor 2)"},
        {"anon_inode:[timerfd]", false, "'anon_inode:[timerfd]' (descriptor 3)"},
        {"/dev/tty", false, "'/dev/tty' (descriptor 4)"},
        {"/tmp/pipe:[5]", false, "'/tmp/pipe:[5]' (descriptor 5)"},
        {"pidfd:[1]", false, "the end of a process outside the run (descriptor 6)"},
    };
    int fd = 0;
    for (const auto& kind : kinds) {
        run_.open(fd, kind.link);
        EXPECT_EQ(source(fd).internal, kind.internal) << kind.link;
        EXPECT_EQ(source(fd).name, kind.name);
        fd++;
    }
    EXPECT_THAT(source(99).name, HasSubstr("which is closed"));
}

TEST_F(Sources, APipeOutsideHasTheSameNumber) {
    run_.open(3, "pipe:[5]");
    run_.open_outside(1, "pipe:[55]");
    EXPECT_TRUE(source().internal);
    run_.open_outside(2, "pipe:[5]");
    EXPECT_FALSE(source().internal);
}

TEST_F(Sources, APidfdOfTheRun) {
    run_.open(3, "anon_inode:[pidfd]");
    run_.write("10/task/10/fdinfo/3", "Pid:\t10\n");
    EXPECT_TRUE(source().internal);
    run_.write("10/task/10/fdinfo/3", "Pid:\t90\n");
    EXPECT_FALSE(source().internal);
}

TEST_F(Sources, ALocalSocketByItsOtherEnd) {
    run_.open(3, "socket:[7]");
    EXPECT_THAT(source().name, HasSubstr("cannot be examined"));
    new_stream(7, AF_UNIX);
    EXPECT_THAT(source().name, HasSubstr("whose other end is unknown"));
    socket(7).peer_pid = 90;
    EXPECT_FALSE(source().internal);
    socket(7).peer_pid = 10;
    EXPECT_TRUE(source().internal);
    // What the kernel says about the other end counts more than the process that made the socket.
    socket(7).peer_inode = 8;
    EXPECT_THAT(source().name, HasSubstr("connected to a process outside the run"));
    run_.open(4, "socket:[8]");
    EXPECT_TRUE(source().internal);
    run_.open_outside(1, "socket:[8]");
    EXPECT_FALSE(source().internal);
}

TEST_F(Sources, ALoopbackConnectionByItsOtherEnd) {
    run_.open(3, "socket:[7]");
    run_.open(4, "socket:[8]");
    new_stream(7, AF_INET).net_namespace = 1;
    EXPECT_EQ(source().name, "a network socket (descriptor 3)"); // not connected
    socket(7).local = "a";
    socket(7).remote = "b";
    socket(8) = socket(7);
    EXPECT_EQ(source().name, "a network connection (descriptor 3)");
    std::swap(socket(8).local, socket(8).remote);
    EXPECT_TRUE(source().internal);
    // The same addresses, but not the same loopback interface.
    socket(8).net_namespace = 2;
    EXPECT_FALSE(source().internal);
    socket(8).net_namespace = 1;
    run_.open_outside(1, "socket:[8]");
    EXPECT_FALSE(source().internal);
}

TEST_F(Sources, ASocketThatListensOrHasATimeLimit) {
    run_.open(3, "socket:[7]");
    new_stream(7, AF_UNIX).peer_pid = 10;
    EXPECT_TRUE(source().internal);
    socket(7).listening = true;
    EXPECT_THAT(source().name, HasSubstr("a listening socket"));
    socket(7).listening = false;
    socket(7).timed = true;
    EXPECT_THAT(source().name, HasSubstr("a socket with a time limit"));
}

} // namespace
} // namespace pctctl
