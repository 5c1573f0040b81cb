// SPDX-License-Identifier: GPL-2.0-only
#include "run/capture.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <system_error>
#include <thread>
#include <vector>

namespace pctctl {
namespace {

void write_text(const Capture& to, const std::string& text) {
    ASSERT_EQ(static_cast<ssize_t>(text.size()), ::write(to.fd(), text.data(), text.size()));
}

TEST(Capture, KeepsShortOutputAsItIs) {
    auto capture = Capture::create("test");
    ASSERT_TRUE(capture);
    EXPECT_EQ("", capture->contents());
    write_text(*capture, std::string("one\0two\n", 8));
    capture->trim();
    EXPECT_EQ(std::string("one\0two\n", 8), capture->contents());
}

TEST(Capture, ForwardsWhatIsNew) {
    auto capture = Capture::create("test");
    ASSERT_TRUE(capture);
    int ends[2];
    ASSERT_EQ(0, ::pipe(ends));
    const Fd from(ends[0]);
    const Fd to(ends[1]);
    char text[16] = {};
    write_text(*capture, "first");
    capture->forward(to.get());
    write_text(*capture, "second");
    capture->forward(to.get());
    capture->forward(to.get());
    EXPECT_EQ(11, ::read(from.get(), text, sizeof text));
    EXPECT_STREQ("firstsecond", text);
}

// A reader that reads nothing until rest_of() is called.
class SlowReader {
public:
    SlowReader() {
        int ends[2];
        if (::pipe(ends) != 0)
            throw std::system_error(errno, std::generic_category(), "pipe");
        from_ = Fd(ends[0]);
        to_ = Fd(ends[1]);
    }
    int fd() const { return to_.get(); }

    // Forwards the rest of the output to the reader. Returns all that it has read.
    std::string rest_of(Capture& capture) {
        std::string read;
        std::thread reader([&] {
            std::vector<char> buffer(1 << 20);
            ssize_t n;
            while ((n = ::read(from_.get(), buffer.data(), buffer.size())) > 0)
                read.append(buffer.data(), static_cast<std::size_t>(n));
        });
        capture.forward_rest(to_.get());
        to_.reset();
        reader.join();
        return read;
    }

private:
    Fd from_, to_;
};

// Otherwise a slow reader would delay the supervision of the run.
TEST(Capture, ForwardsWithoutWaiting) {
    auto capture = Capture::create("test");
    ASSERT_TRUE(capture);
    SlowReader slow;
    std::string text;
    for (int i = 0; i < 100000; ++i)
        text += std::to_string(i) + "\n";
    write_text(*capture, text);
    capture->forward(slow.fd());
    capture->forward(slow.fd());
    EXPECT_TRUE(slow.rest_of(*capture) == text);
}

TEST(Capture, ForwardingTellsWhatWasFreedMeanwhile) {
    auto capture = Capture::create("test");
    ASSERT_TRUE(capture);
    SlowReader slow;
    const std::string block(std::size_t{1} << 20, 'x');
    for (int i = 0; i < 70; ++i) {
        write_text(*capture, block);
        capture->forward(slow.fd());
        capture->trim();
    }
    EXPECT_TRUE(slow.rest_of(*capture) == capture->contents());
}

TEST(Capture, KeepsBothEndsOfLongOutput) {
    auto capture = Capture::create("test");
    ASSERT_TRUE(capture);
    const std::string block(std::size_t{1} << 20, 'x');
    write_text(*capture, "begin");
    for (int i = 0; i < 200; ++i) {
        write_text(*capture, block);
        capture->trim();
    }
    write_text(*capture, "end");
    capture->trim();

    struct stat status{};
    ASSERT_EQ(0, ::fstat(capture->fd(), &status));
    EXPECT_LE(status.st_blocks * 512, 2 * kCaptureEnd + (off_t{2} << 20)) << "memory was not freed";
    const std::string kept = capture->contents();
    const off_t whole = 5 + 200 * (off_t{1} << 20) + 3;
    const std::string note =
        "\n[pctctl: " + std::to_string(whole - 2 * kCaptureEnd) + " bytes left out here]\n";
    EXPECT_EQ(2 * static_cast<std::size_t>(kCaptureEnd) + note.size(), kept.size());
    EXPECT_EQ("begin", kept.substr(0, 5));
    EXPECT_EQ("end", kept.substr(kept.size() - 3));
    EXPECT_EQ(note, kept.substr(static_cast<std::size_t>(kCaptureEnd), note.size()));
    EXPECT_EQ(std::string::npos, kept.find('\0'));
}

} // namespace
} // namespace pctctl
