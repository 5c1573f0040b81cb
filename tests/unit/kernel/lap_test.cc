// SPDX-License-Identifier: GPL-2.0-only
// The scheduler's own code that tells work from waiting in a loop (pctctl/lap.h).
#include "pctctl/lap.h"

#include <gtest/gtest.h>

#include <functional>

namespace pctctl {
namespace {

constexpr __u64 kLock = 0x1000;
constexpr __u64 kOther = 0x2000;

// A thread, told of as bpf/progress.bpf.h tells of one. Counts its progress.
class Thread {
public:
    void operation(__u64 object, __u64 place, __u32 sum = 0) {
        const pct_lap here = {static_cast<__u32>(pct_mix(place)), sum};
        if (pct_lap_operation(&laps_, object))
            ++progress_;
        else
            pct_lap_goes_on(&laps_, &here);
    }
    void tries(__u64 object) { progress_ += pct_lap_try(&laps_, object); }
    void yields() { progress_ += pct_lap_ends(&laps_); }
    void times_out() { progress_ += pct_lap_times_out(&laps_); }

    // Progress in the last 900 of 1000 times.
    int in_loop(const std::function<void(Thread&, __u32)>& body) {
        for (__u32 i = 0; i < 1000; ++i) {
            if (i == 100)
                progress_ = 0;
            body(*this, i);
        }
        return progress_;
    }

private:
    pct_laps laps_ = {};
    int progress_ = 0;
};

// Lock, look, unlock.
void look(Thread& thread, __u64 place = 1, __u32 sum = 0) {
    thread.operation(kLock, place, sum);
    thread.operation(kLock, place + 1, sum);
}

TEST(Lap, WorkWithoutAVainStepIsProgress) {
    // 1000 loops of two operations, of which all but the first 16 operations count.
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32) { look(thread); }), 1800);
}

TEST(Lap, VainStepsAloneAreNone) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32) { thread.yields(); }), 0);
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32) { thread.tries(kLock); }), 0);
    EXPECT_EQ(Thread().in_loop(
                  [](Thread& thread, __u32 i) { i % 3 ? thread.tries(kLock) : thread.yields(); }),
              0);
}

TEST(Lap, TheSameBetweenVainStepsIsNone) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32) {
        look(thread);
        thread.yields();
    }),
              0);
    // Several loops of the kind inside one, up to as many laps as are remembered.
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        look(thread, 10 * (1 + i % PCT_LAPS));
        thread.yields();
    }),
              0);
}

TEST(Lap, OtherPlacesBetweenVainStepsAreProgress) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        look(thread, 10 * (1 + i));
        thread.yields();
    }),
              900);
}

TEST(Lap, AnotherPlaceNowAndThenIsNone) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        look(thread, i % 10 < PCT_NEW_LAPS - 1 ? 10 * (1 + i) : 1);
        thread.yields();
    }),
              0);
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        look(thread, i % 10 < PCT_NEW_LAPS ? 10 * (1 + i) : 1);
        thread.yields();
    }),
              90);
}

TEST(Lap, ALoopThatCountsIsProgress) {
    for (const __u32 step : {1U, 4096U, ~0U})
        for (const __u32 kinds : {1U, 4U}) // of laps
            EXPECT_EQ(Thread().in_loop([step, kinds](Thread& thread, __u32 i) {
                look(thread, 10 * (1 + i % kinds), i * step);
                thread.yields();
            }),
                      900)
                << step;
}

// As a time on the stack does.
TEST(Lap, WhatChangesIrregularlyIsNoCounter) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        look(thread, 1, 1000 * i + static_cast<__u32>(pct_mix(i) % 100));
        thread.yields();
    }),
              0);
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) { // seconds, in every tenth lap
        look(thread, 1, i / 10);
        thread.yields();
    }),
              0);
}

TEST(Lap, LongOnesAreProgress) {
    const auto operations = [](int count) {
        return [count](Thread& thread, __u32) {
            for (int i = 0; i < count; ++i)
                thread.operation(kLock, static_cast<__u64>(i));
            thread.yields();
        };
    };
    EXPECT_EQ(Thread().in_loop(operations(PCT_LONGEST_LAP)), 0);
    EXPECT_EQ(Thread().in_loop(operations(PCT_LONGEST_LAP + 1)), 900);
}

// Lock one, fail to get the other, unlock, again.
TEST(Lap, GivingWayForEverIsNone) {
    for (const bool yields : {false, true})
        EXPECT_EQ(Thread().in_loop([yields](Thread& thread, __u32) {
            thread.operation(kOther, 1);
            thread.tries(kLock);
            thread.operation(kOther, 2);
            if (yields)
                thread.yields();
        }),
                  0)
            << yields;
}

TEST(Lap, ATryThatWasSuccessfulIsProgress) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32) {
        thread.tries(kLock);
        thread.operation(kLock, 1); // gives it back
    }),
              900);
}

// The operation that has waited for a time is not part of the lap, wherever it was and in which
// state.
TEST(Lap, WaitsThatTimeOutAreNone) {
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        thread.operation(kOther, 100 + i, i);
        thread.times_out();
    }),
              0);
    EXPECT_EQ(Thread().in_loop([](Thread& thread, __u32 i) {
        thread.operation(kLock, 1);
        thread.operation(kOther, 100 + i, i);
        thread.times_out();
        thread.operation(kLock, 2);
    }),
              0);
}

TEST(CallResult, ByWhatTheCallIsAndReturns) {
    const auto point = [](__u32 traits, long ret) {
        return pct_call_result(PCT_POINT_STEP | traits, false, false, ret);
    };
    EXPECT_EQ(point(0, 0), PCT_CALL_PROGRESS); // close
    EXPECT_EQ(point(PCT_POINT_POLLS, 5), PCT_CALL_PROGRESS);
    EXPECT_EQ(point(PCT_POINT_POLLS, 0), PCT_CALL_PROGRESS); // the end of a file
    EXPECT_EQ(point(PCT_POINT_POLLS, -11), PCT_CALL_IN_VAIN);
    EXPECT_EQ(point(PCT_POINT_ZERO_FAILS, 0), PCT_CALL_IN_VAIN); // poll: nothing is ready
    EXPECT_EQ(point(PCT_POINT_ZERO_FAILS, 1), PCT_CALL_PROGRESS);
    EXPECT_EQ(point(PCT_POINT_YIELD, 0), PCT_CALL_IN_VAIN);
    EXPECT_EQ(point(0, -4096), PCT_CALL_PROGRESS); // an address
    EXPECT_EQ(point(0, -4095), PCT_CALL_IN_VAIN);

    EXPECT_EQ(pct_call_result(PCT_POINT_STEP, true, false, 0), PCT_CALL_IN_VAIN);
    EXPECT_EQ(pct_call_result(0, false, false, 0), PCT_CALL_NOTHING); // no point
    EXPECT_EQ(pct_call_result(0, false, false, -2), PCT_CALL_IN_VAIN);

    EXPECT_EQ(pct_call_result(PCT_POINT_STEP, false, true, 0), PCT_CALL_PROGRESS); // woken
    EXPECT_EQ(pct_call_result(PCT_POINT_STEP, false, true, -11), PCT_CALL_NOTHING);
    EXPECT_EQ(pct_call_result(PCT_POINT_STEP, false, true, -110), PCT_CALL_IN_VAIN);
    EXPECT_EQ(pct_call_result(0, false, true, -110), PCT_CALL_TIMES_OUT); // pthread_cond_timedwait
    EXPECT_EQ(pct_call_result(0, false, true, 0), PCT_CALL_NOTHING);
}

} // namespace
} // namespace pctctl
