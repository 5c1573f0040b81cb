// SPDX-License-Identifier: GPL-2.0-only
// Waits for mutexes, condition variables, threads and other futexes.
#include "verdicts.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <thread>

namespace pctctl {
namespace {

using namespace test;

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
        ::pause(); // not a lock: the kernel would refuse to close the circle
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
    expect_none(Blocked(body), "outside the run have mapped");
    ::munmap(memory, 4096);
    ::close(fd);
    ::unlink(path);
}

} // namespace
} // namespace pctctl
