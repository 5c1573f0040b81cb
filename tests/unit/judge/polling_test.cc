// SPDX-License-Identifier: GPL-2.0-only
// Waits for one of several descriptors: poll(), select(), epoll_wait().
#include "verdicts.h"

#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/select.h>
#include <sys/timerfd.h>
#include <unistd.h>

namespace pctctl {
namespace {

using namespace test;

TEST(Judge, PollingInternalDescriptorsForever) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        pollfd set[3] = {{make_pipe()[0], POLLIN, 0},
                                         {-1, POLLIN, 0},
                                         {::eventfd(0, 0), POLLIN, 0}};
                        ready();
                        ::poll(set, 3, -1);
                    }),
                    "waits for an event in a pipe");
    expect_deadlock(Blocked([](const Ready& ready) {
        pollfd set{make_pipe()[0], POLLIN, 0};
        ready();
        ::ppoll(&set, 1, nullptr, nullptr);
    }));
    expect_deadlock(Blocked([](const Ready& ready) {
        int fd = make_pipe()[0];
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        ready();
        ::select(fd + 1, &set, nullptr, nullptr, nullptr);
    }));
    expect_deadlock(Blocked([](const Ready& ready) {
                        int fd = ::epoll_create1(0);
                        epoll_event event{};
                        event.events = EPOLLIN;
                        ::epoll_ctl(fd, EPOLL_CTL_ADD, make_pipe()[0], &event);
                        ready();
                        ::epoll_wait(fd, &event, 1, -1);
                    }),
                    "with 1 member");
    expect_deadlock(Blocked([](const Ready& ready) {
                        ready();
                        ::poll(nullptr, 0, -1);
                    }),
                    "signal");
}

TEST(Judge, PollingWithATimeLimit) {
    auto limited = [](auto call) {
        expect_none(Blocked([call](const Ready& ready) {
                        int fd = make_pipe()[0];
                        ready();
                        call(fd);
                    }),
                    "time limit");
    };
    limited([](int fd) {
        pollfd set{fd, POLLIN, 0};
        ::poll(&set, 1, 1000000);
    });
    limited([](int fd) {
        pollfd set{fd, POLLIN, 0};
        timespec limit{1000, 0};
        ::ppoll(&set, 1, &limit, nullptr);
    });
    limited([](int fd) {
        fd_set set;
        FD_ZERO(&set);
        FD_SET(fd, &set);
        timeval limit{1000, 0};
        ::select(fd + 1, &set, nullptr, nullptr, &limit);
    });
    limited([](int fd) {
        int set = ::epoll_create1(0);
        epoll_event event{};
        event.events = EPOLLIN;
        ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
        ::epoll_wait(set, &event, 1, 1000000);
    });
}

TEST(Judge, PollingDescriptorsOthersCanChange) {
    auto ends = make_pipe();
    auto polls = [](auto make, const char* reason) {
        expect_none(Blocked([make](const Ready& ready) {
                        pollfd set[2] = {{::eventfd(0, 0), POLLIN, 0}, {make(), POLLIN, 0}};
                        ready();
                        ::poll(set, 2, -1);
                    }),
                    reason);
        expect_none(Blocked([make](const Ready& ready) {
                        int set = ::epoll_create1(0);
                        epoll_event event{};
                        event.events = EPOLLIN;
                        ::epoll_ctl(set, EPOLL_CTL_ADD, make(), &event);
                        ready();
                        ::epoll_wait(set, &event, 1, -1);
                    }),
                    reason);
    };
    polls([&] { return ends[0]; }, "outside");
    polls([] { return ::inotify_init(); }, "inotify");
    polls(
        [] {
            int fd = ::timerfd_create(CLOCK_MONOTONIC, 0);
            itimerspec time{};
            time.it_value.tv_sec = 1000;
            ::timerfd_settime(fd, 0, &time, nullptr);
            return fd;
        },
        "timerfd");
    const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal >= 0) { // only if there is /dev/pts
        ::unlockpt(terminal);
        polls([&] { return ::open(::ptsname(terminal), O_RDWR | O_NOCTTY); }, "/dev/");
        ::close(terminal);
    }
    ::close(ends[0]);
    ::close(ends[1]);
}

TEST(Judge, EpollMemberWhoseNumberIsReused) {
    expect_none(Blocked([](const Ready& ready) {
                    int set = ::epoll_create1(0);
                    int fd = make_pipe()[0];
                    int copy = ::dup(fd);
                    epoll_event event{};
                    event.events = EPOLLIN;
                    ::epoll_ctl(set, EPOLL_CTL_ADD, fd, &event);
                    ::dup2(make_pipe()[0], fd); // the first pipe is still watched, through copy
                    if (copy < 0)
                        ::_exit(1);
                    ready();
                    ::epoll_wait(set, &event, 1, -1);
                }),
                "unknown member");
}

} // namespace
} // namespace pctctl
