// SPDX-License-Identifier: GPL-2.0-only
// Waits in read(), write() and open().
#include "verdicts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <vector>

namespace pctctl {
namespace {

using namespace test;

TEST(Judge, PipeWithinTheRun) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        auto ends = make_pipe();
                        ready();
                        read_byte(ends[0]);
                    }),
                    "waits for data in a pipe");
    expect_deadlock(Blocked([](const Ready& ready) {
                        auto ends = make_pipe();
                        std::vector<char> much(1 << 20);
                        ready();
                        [[maybe_unused]] ssize_t n = ::write(ends[1], much.data(), much.size());
                    }),
                    "waits for room in a pipe");
}

TEST(Judge, PipeFromOutside) {
    auto ends = make_pipe();
    expect_none(Blocked([&](const Ready& ready) {
                    ready();
                    read_byte(ends[0]);
                }),
                "outside");
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Judge, NamedPipe) {
    char directory[] = "/tmp/judge.XXXXXX";
    ASSERT_NE(::mkdtemp(directory), nullptr);
    std::string path = std::string(directory) + "/fifo";
    ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
    expect_none(Blocked([&](const Ready& ready) {
                    int fd = ::open(path.c_str(), O_RDWR);
                    ready();
                    read_byte(fd);
                }),
                "fifo");
    expect_none(Blocked([&](const Ready& ready) {
                    ready();
                    ::open(path.c_str(), O_RDONLY); // until somebody opens the other end
                }),
                "system call");
    ::unlink(path.c_str());
    ::rmdir(directory);
}

TEST(Judge, CountersAndTimers) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        int fd = ::eventfd(0, 0);
                        ready();
                        std::uint64_t value;
                        [[maybe_unused]] ssize_t n = ::read(fd, &value, sizeof value);
                    }),
                    "eventfd");
    expect_none(Blocked([](const Ready& ready) {
                    int fd = ::timerfd_create(CLOCK_MONOTONIC, 0);
                    itimerspec time{};
                    time.it_value.tv_sec = 1000;
                    ::timerfd_settime(fd, 0, &time, nullptr);
                    ready();
                    std::uint64_t value;
                    [[maybe_unused]] ssize_t n = ::read(fd, &value, sizeof value);
                }),
                "timerfd");
}

} // namespace
} // namespace pctctl
