// SPDX-License-Identifier: GPL-2.0-only
// Each case runs in a process of its own, since a signal is sent to a whole process.
#include "cli/interrupt.h"

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

using namespace std::chrono_literals;

void wait_for_stop(const std::stop_token& token) {
    while (!token.stop_requested())
        std::this_thread::sleep_for(1ms);
}

class InterruptDeathTest : public testing::TestWithParam<int> {};

TEST_P(InterruptDeathTest, TheFirstAsksToStop) {
    EXPECT_EXIT(
        {
            hold_signals();
            Interrupt interrupt;
            ::kill(::getpid(), GetParam());
            wait_for_stop(interrupt.token());
            std::exit(7);
        },
        testing::ExitedWithCode(7), "pctctl: stopping");
}

TEST_P(InterruptDeathTest, TheSecondQuitsAtOnce) {
    EXPECT_EXIT(
        {
            hold_signals();
            const Interrupt interrupt;
            ::kill(::getpid(), GetParam());
            wait_for_stop(interrupt.token());
            std::this_thread::sleep_for(700ms);
            ::kill(::getpid(), GetParam());
            std::this_thread::sleep_for(60s);
            std::exit(7);
        },
        testing::KilledBySignal(GetParam()), "");
}

TEST_P(InterruptDeathTest, ASecondRightAfterTheFirstIsTheSameRequest) {
    EXPECT_EXIT(
        {
            hold_signals();
            const Interrupt interrupt;
            ::kill(::getpid(), GetParam());
            wait_for_stop(interrupt.token());
            ::kill(::getpid(), GetParam());
            std::this_thread::sleep_for(100ms);
            std::exit(7);
        },
        testing::ExitedWithCode(7), "stopping");
}

INSTANTIATE_TEST_SUITE_P(Signals, InterruptDeathTest, testing::Values(SIGINT, SIGTERM, SIGHUP));

TEST(InterruptDeathTest, EndsWithoutASignal) {
    EXPECT_EXIT(
        {
            hold_signals();
            {
                const Interrupt interrupt;
            }
            std::exit(7);
        },
        testing::ExitedWithCode(7), "");
}

TEST(InterruptDeathTest, ASignalBeforeItListensIsNotLost) {
    EXPECT_EXIT(
        {
            hold_signals();
            ::kill(::getpid(), SIGTERM);
            const Interrupt interrupt;
            wait_for_stop(interrupt.token());
            std::exit(7);
        },
        testing::ExitedWithCode(7), "stopping");
}

TEST(InterruptDeathTest, AReaderThatGoesAwayDoesNotKill) {
    EXPECT_EXIT(
        {
            hold_signals();
            int ends[2];
            if (::pipe(ends) != 0)
                std::exit(1);
            ::close(ends[0]);
            std::exit(::write(ends[1], "x", 1) < 0 ? 7 : 1);
        },
        testing::ExitedWithCode(7), "");
}

} // namespace
} // namespace pctctl
