// SPDX-License-Identifier: GPL-2.0-only
// Waits for semaphores and message queues of System V and POSIX.
#include "verdicts.h"

#include <fcntl.h>
#include <mqueue.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <time.h>
#include <unistd.h>

#include <string>

namespace pctctl {
namespace {

using namespace test;

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

} // namespace
} // namespace pctctl
