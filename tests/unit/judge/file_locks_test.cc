// SPDX-License-Identifier: GPL-2.0-only
// Waits for locks of files.
#include "verdicts.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <string>
#include <thread>

namespace pctctl {
namespace {

using namespace test;

// A child waits for a file lock. Its parent holds the lock and waits for the child, or the test
// holds it.
class LockedFile : public testing::Test {
protected:
    static int lock(int how, int fd) {
        struct flock all{};
        all.l_type = F_WRLCK;
        switch (how) {
        case 0:
            return ::flock(fd, LOCK_EX);
        case 1:
            return ::fcntl(fd, F_SETLKW, &all);
        default:
            return ::fcntl(fd, F_OFD_SETLKW, &all);
        }
    }
    void SetUp() override {
        int fd = ::mkstemp(path_);
        ASSERT_GE(fd, 0);
        ::close(fd);
    }
    void TearDown() override { ::unlink(path_); }
    char path_[32] = "/tmp/judge.XXXXXX";
};

class FileLock : public LockedFile, public testing::WithParamInterface<int> {};

TEST_P(FileLock, WithinTheRun) {
    Blocked blocked([this](const Ready& ready) {
        int fd = ::open(path_, O_RDWR);
        lock(GetParam(), fd);
        if (::fork() == 0) {
            ready();
            lock(GetParam(), ::open(path_, O_RDWR));
        }
        ::wait(nullptr);
    });
    expect_deadlock(blocked, "file lock held by process " + std::to_string(blocked.pid()));
}

// Two threads of one process, each with an open file of its own, wait for each other's lock.
// (Record locks belong to the process, not to the thread.)
TEST_F(LockedFile, BetweenThreads) {
    for (int how : {0, 2})
        expect_deadlock(Blocked([this, how](const Ready& ready) {
                            char other[] = "/tmp/judge.XXXXXX";
                            const int second = ::mkstemp(other), first = ::open(path_, O_RDWR);
                            const int again = ::open(other, O_RDWR);
                            ::unlink(other);
                            lock(how, first);
                            lock(how, second);
                            std::thread thread([&] { lock(how, ::open(path_, O_RDWR)); });
                            ready();
                            lock(how, again);
                        }),
                        "file lock held by process");
}

// A read lock is shared by a process of the run and one outside.
TEST_F(LockedFile, SharedWithAProcessOutside) {
    struct flock all{};
    all.l_type = F_RDLCK;
    int fd = ::open(path_, O_RDWR | O_CLOEXEC);
    ASSERT_EQ(::fcntl(fd, F_OFD_SETLKW, &all), 0);
    expect_none(Blocked([&](const Ready& ready) {
                    ::fcntl(::open(path_, O_RDWR), F_OFD_SETLKW, &all);
                    ready();
                    lock(2, ::open(path_, O_RDWR));
                }),
                "held outside");
    ::close(fd);
}

// A record lock and a lock of an open file: one waits for the other.
TEST_F(LockedFile, OfAnOpenFileAgainstARecordLock) {
    for (int held : {1, 2}) {
        Blocked blocked([this, held](const Ready& ready) {
            lock(held, ::open(path_, O_RDWR));
            if (::fork() == 0) {
                ready();
                lock(3 - held, ::open(path_, O_RDWR));
            }
            ::wait(nullptr);
        });
        expect_deadlock(blocked, "file lock held by process " + std::to_string(blocked.pid()));
    }
}

// Like "exec 9>file; flock 9" in a shell: the process that took the lock has ended, but its parent
// still has the descriptor open.
TEST_F(LockedFile, TakenByAProcessThatHasEnded) {
    Blocked blocked([this](const Ready& ready) {
        int fd = ::open(path_, O_RDWR);
        if (pid_t pid = ::fork(); pid == 0) {
            ::flock(fd, LOCK_EX);
            ::_exit(0);
        } else {
            ::waitpid(pid, nullptr, 0);
        }
        ready();
        ::flock(::open(path_, O_RDWR), LOCK_EX);
    });
    expect_deadlock(blocked, "file lock held by process " + std::to_string(blocked.pid()));
}

TEST_P(FileLock, HeldOutside) {
    int fd = ::open(path_, O_RDWR | O_CLOEXEC);
    ASSERT_EQ(lock(GetParam(), fd), 0);
    expect_none(Blocked([this](const Ready& ready) {
                    ready();
                    lock(GetParam(), ::open(path_, O_RDWR));
                }),
                "held outside");
    ::close(fd);
}

std::string lock_name(const testing::TestParamInfo<int>& info) {
    const char* names[] = {"flock", "record", "open_file"};
    return names[info.param];
}

INSTANTIATE_TEST_SUITE_P(Kinds, FileLock, testing::Values(0, 1, 2), lock_name);

} // namespace
} // namespace pctctl
