// SPDX-License-Identifier: GPL-2.0-only
#include "base/log.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cstdlib>
#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::MatchesRegex;

// A stream that keeps what is written to it.
class Stream {
public:
    Stream() : stream_(::open_memstream(&text_, &size_)) {}
    Stream(const Stream&) = delete;
    Stream& operator=(const Stream&) = delete;
    ~Stream() {
        std::fclose(stream_);
        std::free(text_);
    }
    std::FILE* get() { return stream_; }
    std::string text() {
        std::fflush(stream_);
        return {text_, size_};
    }

private:
    char* text_ = nullptr;
    std::size_t size_ = 0;
    std::FILE* stream_;
};

void say_all(const Log& log) {
    log.debug("detail {}", 1);
    log.info("news {}", "x");
    log.warning("beware {}");
    log.error("wrong");
}

TEST(Log, WarningsAndErrorsHaveTheFormThatScriptsKnow) {
    Stream err;
    say_all(Log(err.get()));
    EXPECT_EQ(err.text(), "pctctl: warning: beware {}\npctctl: wrong\n");
}

TEST(Log, MoreIsShownToThoseWhoAsk) {
    Stream info;
    say_all(Log(info.get(), Log::Level::info));
    EXPECT_EQ(info.text(), "pctctl: info: news x\npctctl: warning: beware {}\npctctl: wrong\n");
    Stream debug;
    say_all(Log(debug.get(), Log::Level::debug));
    EXPECT_EQ(debug.text(), "pctctl: debug: detail 1\n" + info.text());
}

TEST(Log, OneThatIsNobodysSaysNothing) {
    const Log log;
    say_all(log);
    EXPECT_FALSE(log.heard(Log::Level::error));
}

TEST(Log, TheFileHasEverythingWithItsTime) {
    const TemporaryDirectory top;
    Stream err;
    Log log(err.get());
    ASSERT_TRUE(log.also_to((top / "log").string()));
    say_all(log);
    const std::string time = "[0-9]+-[0-9]+-[0-9]+T[0-9]+:[0-9]+:[0-9]+.[0-9]+[+-][0-9]+:[0-9]+ ";
    // Read while it is still open: no line is held back.
    EXPECT_THAT(contents(top / "log"),
                MatchesRegex(time + "debug: detail 1\n" + time + "info: news x\n" + time +
                             "warning: beware \\{\\}\n" + time + "error: wrong\n"));
    EXPECT_EQ(err.text(), "pctctl: warning: beware {}\npctctl: wrong\n");
}

TEST(Log, CopiesWriteToTheSamePlaces) {
    const TemporaryDirectory top;
    Stream err;
    Log log(err.get());
    ASSERT_TRUE(log.also_to((top / "log").string()));
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([copy = log] {
            for (int j = 0; j < 100; ++j)
                copy.debug("{}", std::string(200, 'x'));
        });
    for (std::thread& thread : threads)
        thread.join();
    std::ifstream file(top / "log");
    int lines = 0;
    for (std::string line; std::getline(file, line); ++lines)
        EXPECT_THAT(line, MatchesRegex(".* debug: x+"));
    EXPECT_EQ(lines, 400);
}

TEST(Log, AnOlderFileIsReplaced) {
    const TemporaryDirectory top;
    put(top / "log", "old\n");
    Stream err;
    Log log(err.get());
    ASSERT_TRUE(log.also_to((top / "log").string()));
    log.error("new");
    EXPECT_THAT(contents(top / "log"), MatchesRegex("[^\n]* error: new\n"));
}

std::string refusal(const fs::path& file) {
    Stream err;
    Log log(err.get());
    const Status status = log.also_to(file.string());
    if (status) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    EXPECT_EQ(status.error().status, ExitStatus::environment);
    EXPECT_EQ(status.error().message.find('\n'), std::string::npos);
    EXPECT_FALSE(log.heard(Log::Level::debug));
    EXPECT_THAT(status.error().message, HasSubstr(file.string()));
    return status.error().message;
}

TEST(Log, ALinkIsNotFollowed) {
    const TemporaryDirectory top;
    put(top / "precious", "precious\n");
    fs::create_symlink("precious", top / "link");
    EXPECT_THAT(refusal(top / "link"), HasSubstr("symbolic link"));
    fs::create_symlink("absent", top / "dangling");
    EXPECT_THAT(refusal(top / "dangling"), HasSubstr("symbolic link"));
    EXPECT_FALSE(fs::exists(top / "absent"));
    fs::create_hard_link(top / "precious", top / "second");
    EXPECT_THAT(refusal(top / "second"), HasSubstr("hard link"));
    EXPECT_EQ(contents(top / "precious"), "precious\n");
}

TEST(Log, WhatIsNoFileIsRefused) {
    const TemporaryDirectory top;
    EXPECT_THAT(refusal(top / "absent/log"), HasSubstr("No such file"));
    EXPECT_THAT(refusal(top.path()), HasSubstr("directory"));
    ASSERT_EQ(::mkfifo((top / "pipe").c_str(), 0600), 0);
    refusal(top / "pipe"); // without waiting for a reader
}

TEST(Log, ItsEndIsSaid) {
    Stream err;
    Log log(err.get());
    ASSERT_TRUE(log.also_to("/dev/full"));
    log.debug("lost");
    log.debug("lost as well");
    EXPECT_EQ(err.text(),
              "pctctl: warning: the log /dev/full ends early: No space left on device\n");
}

} // namespace
} // namespace pctctl
