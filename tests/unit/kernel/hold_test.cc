// SPDX-License-Identifier: GPL-2.0-only
// The scheduler's code for holds (pctctl/hold.h). A hold keeps lower threads waiting while a thread
// waits inside the kernel for something that is not the program's doing.
#include "pctctl/hold.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>
#include <vector>

namespace pctctl {
namespace {

constexpr __u64 kPriority = 77;
constexpr __u64 kLock = 0xffff888000001000;

TEST(Hold, BeginsAndEndsOnce) {
    pct_hold hold = {};
    ASSERT_TRUE(pct_hold_begin(&hold, 1, kPriority, kLock));
    EXPECT_EQ(hold.priority, kPriority);
    EXPECT_EQ(hold.lock, kLock);
    EXPECT_EQ(hold.count, 1U);
    EXPECT_FALSE(pct_hold_begin(&hold, 2, 5, 0));
    EXPECT_EQ(hold.priority, kPriority);
    EXPECT_TRUE(pct_hold_end(&hold, 1));
    EXPECT_EQ(hold.priority, 0U);
    EXPECT_FALSE(pct_hold_end(&hold, 1));
    EXPECT_FALSE(pct_hold_end(&hold, 0));
}

// Two threads have the same priority, as threads that go on under a stepwise policy do. The hold of
// the first was ended because its lock became free, and the second has got the same array element.
// The first comes back and must not end the hold of the second.
TEST(Hold, IsNotEndedByWhoHadItBefore) {
    pct_hold hold = {};
    ASSERT_TRUE(pct_hold_begin(&hold, 1, kPriority, kLock));
    ASSERT_TRUE(pct_hold_end_for_lock(&hold, kLock));
    ASSERT_TRUE(pct_hold_begin(&hold, 2, kPriority, 0));
    EXPECT_FALSE(pct_hold_end(&hold, 1));
    EXPECT_EQ(hold.priority, kPriority);
}

TEST(Hold, HasNoLockOfAnEarlierOne) {
    pct_hold hold = {};
    ASSERT_TRUE(pct_hold_begin(&hold, 1, kPriority, kLock));
    ASSERT_TRUE(pct_hold_end(&hold, 1));
    EXPECT_EQ(hold.lock, 0U);
    ASSERT_TRUE(pct_hold_begin(&hold, 2, kPriority, 0));
    EXPECT_FALSE(pct_hold_end_for_lock(&hold, kLock));
    EXPECT_EQ(hold.priority, kPriority);
}

// An element that is being changed is neither free nor a hold that can be ended.
TEST(Hold, IsNobodysWhileItChanges) {
    pct_hold hold = {.id = PCT_HOLD_BUSY, .priority = kPriority, .count = 1, .lock = kLock};
    EXPECT_FALSE(pct_hold_begin(&hold, 2, kPriority, 0));
    EXPECT_FALSE(pct_hold_end_for_lock(&hold, kLock));
    EXPECT_FALSE(pct_hold_end(&hold, PCT_HOLD_BUSY));
    EXPECT_EQ(hold.priority, kPriority);
}

// Several threads try to end the same holds at the same time. Each hold ends exactly once, and
// nobody ends another's.
TEST(Hold, EndsOnceWhoeverEndsIt) {
    constexpr __u64 kRounds = 20000;
    pct_hold hold = {};
    std::atomic<__u64> ids = 0;
    std::atomic<__u64> begun = 0;
    std::atomic<__u64> ended = 0;
    std::atomic<bool> wrong = false;
    std::atomic<unsigned> left = 3;
    std::vector<std::jthread> threads;
    for (unsigned who = 0; who < 3; ++who)
        threads.emplace_back([&, who] {
            const __u64 lock = kLock + who;
            for (__u64 i = 0; i < kRounds; ++i) {
                const __u64 id = ++ids;
                if (!pct_hold_begin(&hold, id, kPriority, lock))
                    continue;
                ++begun;
                if (*static_cast<volatile __u64*>(&hold.id) == id)
                    wrong = wrong || *static_cast<volatile __u64*>(&hold.lock) == 0;
                ended += pct_hold_end(&hold, id);
            }
            --left;
        });
    // These threads report that the locks are free.
    for (unsigned who = 0; who < 2; ++who)
        threads.emplace_back([&, who] {
            while (left > 0)
                ended += pct_hold_end_for_lock(&hold, kLock + who);
        });
    threads.clear();
    EXPECT_GT(begun, 0U);
    EXPECT_EQ(begun, ended);
    EXPECT_EQ(hold.priority, 0U);
    EXPECT_EQ(hold.id, 0U);
    EXPECT_EQ(hold.count, begun);
}

} // namespace
} // namespace pctctl
