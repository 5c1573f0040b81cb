// SPDX-License-Identifier: GPL-2.0-only
#include "report/progress.h"

#include <unistd.h>

#include <cstdlib>
#include <memory>

#include <gtest/gtest.h>

#include "support/fake_executor.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

TEST(ProgressText, SaysDoneRateFailuresAndTimeLeft) {
    EXPECT_EQ(progress_text({25, 100, 0, 5}), "25/100 runs, 5.0/s, 0 failures, 15 s left");
    EXPECT_EQ(progress_text({1, 100, 1, 0.01}), "1/100 runs, 100/s, 1 failure, 1.0 s left");
    EXPECT_EQ(progress_text({100, 100, 3, 50}), "100/100 runs, 2.0/s, 3 failures");
    EXPECT_EQ(progress_text({1, 101, 0, 60}), "1/101 runs, 1.0/min, 0 failures, 1 h 40 min left");
}

TEST(ProgressText, SaysHowManyAreUnfinished) {
    EXPECT_EQ(progress_text({25, 100, 1, 5, 2}),
              "25/100 runs, 5.0/s, 1 failure, 2 unfinished, 15 s left");
}

TEST(ProgressText, SaysNoRateBeforeThereIsOne) {
    EXPECT_EQ(progress_text({0, 100, 0, 0}), "0/100 runs, 0 failures");
    EXPECT_EQ(progress_text({0, 100, 0, 3}), "0/100 runs, 0 failures");
}

TEST(StatusLine, NeverWraps) {
    const ProgressState state{25, 100, 0, 5};
    EXPECT_EQ(status_line(state, 80), progress_text(state));
    EXPECT_EQ(status_line(state, 20), progress_text(state).substr(0, 19));
    EXPECT_EQ(status_line(state, 1), "");
}

// In the virtual machine stderr is a pipe; the terminal is at its other end, on the host.
TEST(TerminalColumns, AreToldInTheVirtualMachine) {
    if (::isatty(STDERR_FILENO))
        GTEST_SKIP() << "standard error is a terminal";
    ::setenv("TERM", "xterm", 1);
    ::setenv("PCTCTL_GUEST_STDERR_COLUMNS", "132", 1);
    EXPECT_EQ(terminal_columns(stderr, true), 132U);
    EXPECT_EQ(terminal_columns(stderr, false), std::nullopt);
    EXPECT_EQ(terminal_columns(stdin, true), std::nullopt);
    ::setenv("PCTCTL_GUEST_STDERR_COLUMNS", "0", 1); // a terminal that does not know its width
    EXPECT_EQ(terminal_columns(stderr, true), 80U);
    ::setenv("PCTCTL_GUEST_STDERR_COLUMNS", "wide", 1);
    EXPECT_EQ(terminal_columns(stderr, true), std::nullopt);
    ::unsetenv("PCTCTL_GUEST_STDERR_COLUMNS");
    EXPECT_EQ(terminal_columns(stderr, true), std::nullopt);
}

TEST(Milestones, AreReachedOnce) {
    unsigned lines = 0;
    for (std::uint64_t done = 1; done <= 1000; ++done)
        lines += milestone(done - 1, done, 1000).has_value();
    EXPECT_EQ(lines, 6U);
    EXPECT_EQ(milestone(9, 10, 1000), 1U);
    EXPECT_EQ(milestone(499, 500, 1000), 50U);
    EXPECT_EQ(milestone(500, 501, 1000), std::nullopt);
    EXPECT_EQ(milestone(899, 900, 1000), 90U);
    EXPECT_EQ(milestone(999, 1000, 1000), std::nullopt); // the summary says it
    EXPECT_EQ(milestone(0, 1, 3), 25U);                  // 1 and 10 % are the same run
}

// Collects what is written to a stream.
class Capture {
public:
    Capture() : stream_(::open_memstream(&buffer_, &size_)) {}
    ~Capture() {
        std::fclose(stream_);
        std::free(buffer_);
    }
    std::FILE* stream() { return stream_; }
    std::string text() {
        std::fflush(stream_);
        return {buffer_, size_};
    }

private:
    char* buffer_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* stream_;
};

std::size_t count(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; at += part.size())
        ++n;
    return n;
}

TEST(Progress, OnATerminalAtMostTenTimesASecond) {
    Capture capture;
    {
        Progress progress(capture.stream(), 80, Verbosity::normal, 1000);
        auto now = Progress::Clock::now();
        for (int i = 0; i < 500; ++i, now += 1ms)
            progress.finished(passing_run(), now);
    }
    const std::string text = capture.text();
    EXPECT_LE(count(text, "runs"), 6U);
    EXPECT_GE(count(text, "runs"), 4U);
    EXPECT_EQ(count(text, "\n"), 0U);
    EXPECT_TRUE(text.ends_with("\r\x1b[K")); // nothing stays behind
}

TEST(Progress, OnATerminalLinesDoNotMixWithTheStatus) {
    Capture capture;
    Progress progress(capture.stream(), 80, Verbosity::normal, 1000);
    progress.finished(passing_run());
    progress.finished(failing_run());
    EXPECT_EQ(count(capture.text(), "\r\x1b[Krun 0 failed: signal SIGSEGV"), 1U);
}

TEST(Progress, ElsewherePlainLines) {
    Capture capture;
    Progress progress(capture.stream(), std::nullopt, Verbosity::normal, 1000);
    auto now = Progress::Clock::now();
    for (int i = 0; i < 1000; ++i, now += 1ms)
        progress.finished(passing_run(), now);
    EXPECT_EQ(count(capture.text(), "\n"), 6U);
    EXPECT_EQ(count(capture.text(), "\r"), 0U);
    EXPECT_EQ(count(capture.text(), "\x1b"), 0U);
}

TEST(Progress, ElsewhereALineEveryTenSecondsToo) {
    Capture capture;
    Progress progress(capture.stream(), std::nullopt, Verbosity::normal, 1000000);
    auto now = Progress::Clock::now();
    for (int i = 0; i < 31; ++i, now += 1s)
        progress.finished(passing_run(), now);
    EXPECT_EQ(count(capture.text(), "\n"), 3U);
}

TEST(Progress, TheFirstUnfinishedRunIsALine) {
    Capture capture;
    Progress progress(capture.stream(), std::nullopt, Verbosity::normal, 1000);
    RunResult run = passing_run();
    run.outcome = Outcome::unfinished;
    run.detail = "still making progress after 60 s";
    for (run.number = 7; run.number < 9; ++run.number)
        progress.finished(run);
    EXPECT_EQ(count(capture.text(), "unfinished"), 1U) << capture.text();
    EXPECT_TRUE(capture.text().starts_with("run 7 is unfinished: still making progress after 60 s; "
                                           "--timeout gives runs more time\n"))
        << capture.text();
}

TEST(Progress, QuietSaysNothing) {
    Capture capture;
    Progress progress(capture.stream(), 80, Verbosity::quiet, 2);
    progress.finished(passing_run());
    progress.finished(failing_run());
    EXPECT_EQ(capture.text(), "");
}

TEST(Progress, VerboseSaysALineForEachRun) {
    Capture capture;
    Progress progress(capture.stream(), 80, Verbosity::verbose, 2);
    RunResult run = passing_run(79, 3);
    run.number = 1;
    run.seed = {0, 0xabc};
    progress.finished(run);
    run = failing_run();
    run.number = 2;
    progress.finished(run);
    EXPECT_EQ(capture.text(),
              "run 1: pass (seed 000000000000000000000abc, 3 threads, 79 steps, 2 ms)\n"
              "run 2: signal SIGSEGV: process app (thread 1) died by SIGSEGV (seed "
              "000000000000000000000000, 2 threads, 10 steps, 2 ms)\n");
}

} // namespace
} // namespace pctctl
