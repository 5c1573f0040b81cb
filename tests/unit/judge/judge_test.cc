// SPDX-License-Identifier: GPL-2.0-only
// Each rule of the judge both ways, on real processes of this machine.
#include "judge/judge.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <linux/futex.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/ptrace.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/un.h>

#include <cstdio>
#include <thread>

#include "support/blocked.h"

namespace pctctl {
namespace {

using test::Blocked;
using Ready = std::function<void()>;
using testing::HasSubstr;

void expect_deadlock(const Blocked& blocked, const std::string& text = "") {
    ASSERT_TRUE(blocked.ready());
    Verdict verdict = blocked.verdict();
    EXPECT_TRUE(verdict.deadlock) << verdict.reason;
    EXPECT_EQ(verdict.lines.size(), blocked.threads().size());
    EXPECT_THAT(testing::PrintToString(verdict.lines), HasSubstr(text));
}

void expect_none(const Blocked& blocked, const std::string& reason) {
    ASSERT_TRUE(blocked.ready());
    Verdict verdict = blocked.verdict();
    EXPECT_FALSE(verdict.deadlock) << testing::PrintToString(verdict.lines);
    EXPECT_THAT(verdict.reason, HasSubstr(reason));
}

std::array<int, 2> make_pipe() {
    std::array<int, 2> ends;
    if (::pipe(ends.data()) != 0)
        std::abort();
    return ends;
}

std::array<int, 2> make_socketpair(int type = SOCK_STREAM) {
    std::array<int, 2> ends;
    if (::socketpair(AF_UNIX, type, 0, ends.data()) != 0)
        std::abort();
    return ends;
}

void read_byte(int fd) {
    char byte;
    [[maybe_unused]] ssize_t n = ::read(fd, &byte, 1);
}

// A listening socket on the loopback interface, or a datagram socket.
int bound_socket(int type, sockaddr_in& address) {
    int fd = ::socket(AF_INET, type, 0);
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        std::abort();
    if (type == SOCK_STREAM)
        ::listen(fd, 5);
    return fd;
}

int connected_to(const sockaddr_in& address) {
    int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        std::abort();
    return fd;
}

void empty_handler(int) {}

TEST(Judge, MutexesInOppositeOrder) {
    Blocked blocked([](const Ready& ready) {
        pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
        pthread_barrier_t both;
        pthread_barrier_init(&both, nullptr, 2);
        std::thread other([&] {
            pthread_mutex_lock(&b);
            pthread_barrier_wait(&both);
            pthread_mutex_lock(&a);
        });
        pthread_mutex_lock(&a);
        pthread_barrier_wait(&both);
        ready();
        pthread_mutex_lock(&b);
        other.join();
    });
    expect_deadlock(blocked, "held by thread t1");
    expect_deadlock(blocked, "held by thread t0");
    EXPECT_FALSE(blocked.verdict(true).deadlock) << "timers";
    EXPECT_TRUE(blocked.verdict().all_held);
}

TEST(Judge, MutexWithTimeLimit) {
    expect_none(Blocked([](const Ready& ready) {
                    pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
                    pthread_mutex_lock(&a);
                    timespec end{};
                    clock_gettime(CLOCK_REALTIME, &end);
                    end.tv_sec += 1000;
                    ready();
                    pthread_mutex_timedlock(&a, &end);
                }),
                "time limit");
}

TEST(Judge, PriorityInheritanceMutex) {
    expect_deadlock(Blocked([](const Ready& ready) {
        pthread_mutexattr_t attributes;
        pthread_mutexattr_init(&attributes);
        pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
        pthread_mutex_t mutexes[2];
        for (auto& mutex : mutexes)
            pthread_mutex_init(&mutex, &attributes);
        pthread_barrier_t both;
        pthread_barrier_init(&both, nullptr, 2);
        std::thread other([&] {
            pthread_mutex_lock(&mutexes[1]);
            pthread_barrier_wait(&both);
            pthread_mutex_lock(&mutexes[0]);
            ::pause();
        });
        pthread_mutex_lock(&mutexes[0]);
        pthread_barrier_wait(&both);
        ready();
        ::pause(); // the kernel refuses to close the circle itself
        other.join();
    }));
}

TEST(Judge, ConditionNobodySignals) {
    auto body = [](bool timed) {
        return [timed](const Ready& ready) {
            pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
            pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
            pthread_mutex_lock(&mutex);
            timespec end{};
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_sec += 1000;
            ready();
            if (timed)
                pthread_cond_timedwait(&condition, &mutex, &end);
            else
                pthread_cond_wait(&condition, &mutex);
        };
    };
    const Blocked forever(body(false));
    expect_deadlock(forever, "mutex or condition");
    EXPECT_FALSE(forever.verdict().all_held) << "nobody has a condition: it may be idle";
    expect_none(Blocked(body(true)), "time limit");
}

TEST(Judge, JoiningAThreadThatNeverEnds) {
    auto body = [](bool sleeps) {
        return [sleeps](const Ready& ready) {
            std::thread other([sleeps] {
                if (sleeps)
                    ::sleep(1000);
                sem_t never;
                sem_init(&never, 0, 0);
                sem_wait(&never);
            });
            ready();
            other.join();
        };
    };
    const Blocked forever(body(false));
    expect_deadlock(forever, "waits for thread t1 to end");
    EXPECT_FALSE(forever.verdict().all_held) << "the other one may be idle";
    expect_none(Blocked(body(true)), "sleeps");
}

TEST(Judge, MainThreadIsGone) {
    expect_deadlock(Blocked([](const Ready& ready) {
        static sem_t never;
        sem_init(&never, 0, 0);
        std::thread([&] {
            ready();
            sem_wait(&never);
        }).detach();
        ::syscall(SYS_exit, 0); // pthread_exit() would unwind into the test
    }));
}

TEST(Judge, WaitingForAChild) {
    auto body = [](bool sleeps, bool zombie) {
        return [=](const Ready& ready) {
            if (zombie && ::fork() == 0)
                ::_exit(0);
            pid_t child = ::fork();
            if (child == 0) {
                ready();
                if (sleeps)
                    ::sleep(1000);
                ::pause();
            }
            ::waitpid(child, nullptr, 0);
        };
    };
    expect_deadlock(Blocked(body(false, false)), "waits for its child process to end");
    expect_deadlock(Blocked(body(false, true)), "waits for its child process to end");
    expect_none(Blocked(body(true, false)), "sleeps");
}

TEST(Judge, ChildThatIsNotOfTheRun) {
    Blocked blocked([](const Ready& ready) {
        if (::fork() == 0) {
            ready();
            ::pause();
        }
        ::wait(nullptr);
    });
    auto threads = blocked.threads();
    ASSERT_EQ(threads.size(), 2u);
    threads.pop_back();
    LiveInspector inspector;
    EXPECT_THAT(judge(threads, false, inspector).reason, HasSubstr("not scheduled"));
}

TEST(Judge, VforkedChildThatNeverExecutes) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        // NOLINTNEXTLINE(bugprone-unsafe-functions): it is the subject
                        if (::vfork() == 0) {
                            ready();
                            ::pause();
                            ::_exit(0);
                        }
                    }),
                    "vfork");
}

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

TEST(Judge, LocalSocketsWithinTheRun) {
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
        expect_deadlock(Blocked([type](const Ready& ready) {
                            auto ends = make_socketpair(type);
                            if (::fork() == 0) {
                                ::close(ends[0]);
                                read_byte(ends[1]);
                            }
                            ::close(ends[1]);
                            ready();
                            read_byte(ends[0]);
                        }),
                        "waits for data in a local socket");
}

TEST(Judge, LocalSocketConnectedByName) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        sockaddr_un address{};
                        address.sun_family = AF_UNIX;
                        std::snprintf(address.sun_path + 1, 80, "judge-%d", ::getpid());
                        int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
                        int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
                        auto* name = reinterpret_cast<sockaddr*>(&address);
                        if (::bind(server, name, sizeof address) != 0 || ::listen(server, 1) != 0 ||
                            ::connect(client, name, sizeof address) != 0)
                            ::_exit(1);
                        int accepted = ::accept(server, nullptr, nullptr);
                        std::thread other([&] { read_byte(accepted); });
                        ready();
                        read_byte(client);
                    }),
                    "local socket");
}

TEST(Judge, LocalSocketsFromOutside) {
    auto ends = make_socketpair();
    expect_none(Blocked([&](const Ready& ready) {
                    ::close(ends[0]);
                    ready();
                    read_byte(ends[1]);
                }),
                "outside");
    // Only the other end is outside.
    auto other = make_socketpair();
    Blocked blocked([&](const Ready& ready) {
        ::close(other[0]);
        ready();
        read_byte(other[1]);
    });
    ::close(other[1]);
    expect_none(blocked, "outside");
    for (int fd : {ends[0], ends[1], other[0]})
        ::close(fd);
}

TEST(Judge, SocketsWithATimeLimit) {
    expect_none(Blocked([&](const Ready& ready) {
                    auto ends = make_socketpair();
                    timeval limit{1000, 0};
                    ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
                    ready();
                    read_byte(ends[0]);
                }),
                "time limit");
}

TEST(Judge, NamedDatagramSocket) {
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_un address{};
                    address.sun_family = AF_UNIX;
                    std::snprintf(address.sun_path + 1, 80, "judge-%d", ::getpid());
                    int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
                    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
                        ::_exit(1);
                    ready();
                    read_byte(fd);
                }),
                "named datagram");
}

TEST(Judge, Servers) {
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    int fd = bound_socket(SOCK_STREAM, address);
                    ready();
                    ::accept(fd, nullptr, nullptr);
                }),
                "client");
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    pollfd set{bound_socket(SOCK_STREAM, address), POLLIN, 0};
                    ready();
                    ::poll(&set, 1, -1);
                }),
                "listening");
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    int fd = bound_socket(SOCK_DGRAM, address);
                    ready();
                    read_byte(fd);
                }),
                "network");
}

TEST(Judge, LoopbackConnections) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        sockaddr_in address;
                        int server = bound_socket(SOCK_STREAM, address);
                        int client = connected_to(address);
                        int accepted = ::accept(server, nullptr, nullptr);
                        ::close(server);
                        std::thread other([&] { read_byte(accepted); });
                        ready();
                        read_byte(client);
                    }),
                    "loopback");
    sockaddr_in address;
    int server = bound_socket(SOCK_STREAM, address);
    Blocked blocked([&](const Ready& ready) {
        ::close(server);
        int client = connected_to(address);
        ready();
        read_byte(client);
    });
    expect_none(blocked, "network connection");
    ::close(server);
}

TEST(Judge, Signals) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        ready();
                        ::pause();
                    }),
                    "waits for a signal");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigfillset(&mask);
                        ready();
                        ::sigsuspend(&mask);
                    }),
                    "waits for a signal");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigemptyset(&mask);
                        sigaddset(&mask, SIGUSR1);
                        ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                        ready();
                        int signal;
                        ::sigwait(&mask, &signal);
                    }),
                    "waits for a signal");
    expect_none(Blocked([](const Ready& ready) {
                    sigset_t mask;
                    sigemptyset(&mask);
                    sigaddset(&mask, SIGUSR1);
                    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                    timespec limit{1000, 0};
                    ready();
                    ::sigtimedwait(&mask, nullptr, &limit);
                }),
                "time limit");
    expect_deadlock(Blocked([](const Ready& ready) {
                        sigset_t mask;
                        sigemptyset(&mask);
                        sigaddset(&mask, SIGUSR1);
                        ::sigprocmask(SIG_BLOCK, &mask, nullptr);
                        int fd = ::signalfd(-1, &mask, 0);
                        ready();
                        char info[128];
                        [[maybe_unused]] ssize_t n = ::read(fd, info, sizeof info);
                    }),
                    "signalfd");
}

TEST(Judge, TimersMakeItUncertain) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::pause();
    });
    Verdict verdict = blocked.verdict(true);
    EXPECT_FALSE(verdict.deadlock);
    EXPECT_THAT(verdict.reason, HasSubstr("timer"));
    EXPECT_EQ(verdict.lines.size(), 1u);
}

TEST(Judge, Sleepers) {
    expect_none(Blocked([](const Ready& ready) {
                    ready();
                    ::sleep(1000);
                }),
                "sleeps");
}

// A child that waits for a lock, held by its parent, which waits for it; or held by us.
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

// Two threads of one process, each with open files of its own, wait for each other's. (Record locks
// are the process', not the thread's.)
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

// Readers share a lock: the run has it, and so has somebody outside.
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

// A record lock for which an open file waits, and the other way round.
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

// As "exec 9>file; flock 9" in a shell: the process that took the lock has ended, the descriptor is
// still open in the one that called it.
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

TEST(Judge, SystemVQueues) {
    int semaphores = ::semget(IPC_PRIVATE, 1, 0600), queue = ::msgget(IPC_PRIVATE, 0600);
    ASSERT_GE(semaphores, 0);
    ASSERT_GE(queue, 0);
    sembuf down{0, -1, 0};
    expect_deadlock(Blocked([&](const Ready& ready) {
                        ready();
                        ::semop(semaphores, &down, 1);
                    }),
                    "System V semaphore");
    expect_none(Blocked([&](const Ready& ready) {
                    timespec limit{1000, 0};
                    ready();
                    ::semtimedop(semaphores, &down, 1, &limit);
                }),
                "time limit");
    expect_deadlock(Blocked([&](const Ready& ready) {
                        struct {
                            long type;
                            char text[8];
                        } message{};
                        ready();
                        ::msgrcv(queue, &message, sizeof message.text, 0, 0);
                    }),
                    "System V queue");
    ::semctl(semaphores, 0, IPC_RMID);
    ::msgctl(queue, IPC_RMID, nullptr);
}

TEST(Judge, MessageQueues) {
    auto body = [](bool timed) {
        return [timed](const Ready& ready) {
            std::string name = "/judge-" + std::to_string(::getpid());
            mq_attr attributes{};
            attributes.mq_maxmsg = 1;
            attributes.mq_msgsize = 8;
            mqd_t queue = ::mq_open(name.c_str(), O_RDWR | O_CREAT, 0600, &attributes);
            ::mq_unlink(name.c_str());
            char text[8];
            timespec end{};
            clock_gettime(CLOCK_REALTIME, &end);
            end.tv_sec += 1000;
            ready();
            if (timed)
                ::mq_timedreceive(queue, text, sizeof text, nullptr, &end);
            else
                ::mq_receive(queue, text, sizeof text, nullptr);
        };
    };
    expect_deadlock(Blocked(body(false)), "message queue");
    expect_none(Blocked(body(true)), "time limit");
}

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
                    "with 1 members");
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
    if (terminal >= 0) { // not where /dev/pts is missing
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

TEST(Judge, EndOfAProcess) {
    auto body = [](pid_t process) {
        return [process](const Ready& ready) {
            pid_t child = process ? process : ::fork();
            if (child == 0)
                ::pause();
            pollfd set{static_cast<int>(::syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
            ready();
            ::poll(&set, 1, -1);
        };
    };
    expect_deadlock(Blocked(body(0)), "end of a process");
    expect_none(Blocked(body(::getpid())), "end of a process outside");
}

TEST(Judge, Stopped) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::raise(SIGSTOP);
    });
    expect_none(blocked, "stopped");
}

TEST(Judge, Traced) {
    Blocked blocked([](const Ready& ready) {
        ready();
        ::pause();
    });
    ASSERT_EQ(::ptrace(PTRACE_SEIZE, blocked.pid(), nullptr, nullptr), 0);
    blocked.settle();
    expect_none(blocked, "traced");
}

TEST(Judge, Running) {
    Blocked blocked([](const Ready& ready) {
        ::signal(SIGUSR1, [](int) {
            for (;;) {
            }
        });
        ready();
        ::pause();
    });
    ASSERT_TRUE(blocked.verdict().deadlock);
    ::kill(blocked.pid(), SIGUSR1);
    Verdict verdict;
    for (int i = 0; i < 1000; i++) {
        verdict = blocked.verdict();
        if (!verdict.deadlock)
            break;
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_THAT(verdict.reason, HasSubstr("runnable"));
}

TEST(Judge, SignalHandlerDoesNotConfuse) {
    Blocked blocked([](const Ready& ready) {
        ::signal(SIGUSR1, empty_handler);
        struct sigaction action{};
        action.sa_handler = empty_handler;
        action.sa_flags = SA_RESTART;
        ::sigaction(SIGUSR1, &action, nullptr);
        sem_t never;
        sem_init(&never, 0, 0);
        ready();
        while (sem_wait(&never) != 0) {
        }
    });
    ::kill(blocked.pid(), SIGUSR1);
    blocked.settle();
    expect_deadlock(blocked);
}

TEST(Judge, AsynchronousInput) {
    Blocked blocked([](const Ready& ready) {
        char parameters[256] = {};
        if (::syscall(SYS_io_uring_setup, 4, parameters) < 0)
            ::_exit(0); // switched off here: not ready
        ready();
        ::pause();
    });
    if (!blocked.ready())
        GTEST_SKIP() << "no io_uring here";
    expect_none(blocked, "io_uring");
}

TEST(Judge, FutexInASharedFile) {
    char path[] = "/tmp/judge.XXXXXX";
    int fd = ::mkstemp(path);
    ASSERT_GE(fd, 0);
    ASSERT_EQ(::ftruncate(fd, 4096), 0);
    auto body = [&](const Ready& ready) {
        void* memory = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        auto* semaphore = static_cast<sem_t*>(memory);
        sem_init(semaphore, 1, 0);
        ready();
        sem_wait(semaphore);
    };
    expect_deadlock(Blocked(body));
    void* memory = ::mmap(nullptr, 4096, PROT_READ, MAP_SHARED, fd, 0);
    expect_none(Blocked(body), "outside share");
    ::munmap(memory, 4096);
    ::close(fd);
    ::unlink(path);
}

TEST(Judge, ManyThreads) {
    Blocked blocked([](const Ready& ready) {
        static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
        pthread_mutex_lock(&mutex);
        std::vector<std::thread> threads;
        for (int i = 0; i < 300; i++)
            threads.emplace_back([] { pthread_mutex_lock(&mutex); });
        ready();
        threads[0].join();
    });
    auto begin = std::chrono::steady_clock::now();
    Verdict verdict = blocked.verdict();
    auto elapsed = std::chrono::steady_clock::now() - begin;
    EXPECT_TRUE(verdict.deadlock) << verdict.reason;
    EXPECT_EQ(verdict.lines.size(), 301u);
    EXPECT_LT(elapsed, std::chrono::seconds(10));
}

TEST(Judge, NobodyIsAlive) {
    LiveInspector inspector;
    EXPECT_FALSE(judge({}, false, inspector).deadlock);
}

} // namespace
} // namespace pctctl
