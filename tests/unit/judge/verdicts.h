// SPDX-License-Identifier: GPL-2.0-only
// Helpers of tests in which real processes block and the judge is asked about them.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <functional>
#include <string>

#include "judge/judge.h"
#include "support/blocked.h"

namespace pctctl::test {

using Ready = std::function<void()>;

inline void expect_deadlock(const Blocked& blocked, const std::string& text = "") {
    ASSERT_TRUE(blocked.ready());
    Verdict verdict = blocked.verdict();
    EXPECT_TRUE(verdict.deadlock) << verdict.reason;
    EXPECT_EQ(verdict.lines.size(), blocked.threads().size());
    EXPECT_THAT(testing::PrintToString(verdict.lines), testing::HasSubstr(text));
}

inline void expect_none(const Blocked& blocked, const std::string& reason) {
    ASSERT_TRUE(blocked.ready());
    Verdict verdict = blocked.verdict();
    EXPECT_FALSE(verdict.deadlock) << testing::PrintToString(verdict.lines);
    EXPECT_THAT(verdict.reason, testing::HasSubstr(reason));
}

inline std::array<int, 2> make_pipe() {
    std::array<int, 2> ends;
    if (::pipe(ends.data()) != 0)
        std::abort();
    return ends;
}

inline std::array<int, 2> make_socketpair(int type = SOCK_STREAM) {
    std::array<int, 2> ends;
    if (::socketpair(AF_UNIX, type, 0, ends.data()) != 0)
        std::abort();
    return ends;
}

inline void read_byte(int fd) {
    char byte;
    [[maybe_unused]] ssize_t n = ::read(fd, &byte, 1);
}

} // namespace pctctl::test
