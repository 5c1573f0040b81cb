// SPDX-License-Identifier: GPL-2.0-only
// Texts as the kernel writes them: tests/unit/base/fixtures.
#include "base/proc_text.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/files.h"

namespace pctctl {
namespace {

std::string fixture(const std::string& name) {
    const std::filesystem::path path = std::filesystem::path(FIXTURES) / name;
    auto text = read_text(path);
    EXPECT_TRUE(text) << path;
    return text.value_or("");
}

TEST(ProcText, SystemCall) {
    auto call = parse_syscall(fixture("syscall_futex"));
    ASSERT_TRUE(call);
    EXPECT_EQ(call->number, 202);
    EXPECT_EQ(call->arguments[0], 0x7ffd86f1c720u);
    EXPECT_EQ(call->arguments[1], 0x80u);
    EXPECT_EQ(call->arguments[2], 2u);
    EXPECT_EQ(call->arguments[3], 0u);
    EXPECT_EQ(call->arguments[5], 0xffffffffffffffffu);
    auto none = parse_syscall(fixture("syscall_none"));
    ASSERT_TRUE(none);
    EXPECT_EQ(none->number, -1);
    EXPECT_FALSE(parse_syscall(fixture("syscall_running")));
    EXPECT_FALSE(parse_syscall(""));
    EXPECT_FALSE(parse_syscall("202 0x1"));
    EXPECT_FALSE(parse_syscall("x 0x1 0x1 0x1 0x1 0x1 0x1 0x1 0x1"));
    EXPECT_FALSE(parse_syscall("7 0x1 0x1 0xg 0x1 0x1 0x1 0x1 0x1"));
}

TEST(ProcText, State) {
    EXPECT_EQ(parse_state(fixture("stat_sleeping")), 'S');
    EXPECT_EQ(parse_state(fixture("stat_odd_name")), 'D'); // named ") R 1 ("
    EXPECT_EQ(parse_state(""), 0);
    EXPECT_EQ(parse_state("1 (x)"), 0);
}

TEST(ProcText, Fields) {
    std::string status = fixture("status");
    EXPECT_EQ(parse_field(status, "TracerPid"), "0");
    EXPECT_EQ(parse_field(status, "NSpid"), "5120\t7");
    EXPECT_EQ(parse_field(status, "NSpi"), std::nullopt);
    EXPECT_EQ(parse_field(status, "Absent"), std::nullopt);
}

TEST(ProcText, EpollSets) {
    auto entries = parse_epoll(fixture("fdinfo_epoll"));
    ASSERT_TRUE(entries);
    EXPECT_EQ(*entries, (std::vector<EpollEntry>{{5, 0x2072}, {11, 0x55}}));
    EXPECT_EQ(parse_epoll("pos:\t0\nflags:\t02\n")->size(), 0u);
    EXPECT_FALSE(parse_epoll("tfd:        5 events:       19 data:        5\n"));
    EXPECT_FALSE(parse_epoll("tfd: x ino:1\n"));
}

TEST(ProcText, FileLocks) {
    std::string locks = fixture("locks");
    auto owners = [](const std::vector<std::string>& found) {
        std::vector<int> result;
        for (const std::string& lock : found)
            result.push_back(parse_lock_owner(lock).value_or(-1));
        return result;
    };
    using Owners = std::vector<int>;
    EXPECT_EQ(owners(parse_locks_waited_for(locks, 902)), Owners{901}); // flock
    EXPECT_EQ(owners(parse_locks_waited_for(locks, 904)), Owners{903}); // second in the queue
    EXPECT_EQ(owners(parse_locks_waited_for(locks, 901)), Owners{});    // does not wait
    EXPECT_EQ(owners(parse_locks_waited_for(locks, 907)), (Owners{901, 908})); // two threads do
    EXPECT_EQ(parse_locks_waited_for("", 1), std::vector<std::string>());
    // Locks of open files have no owner, and those that wait for them have no number either.
    EXPECT_EQ(owners(parse_open_file_locks_waited_for(locks, 133)), Owners{-1});
    EXPECT_EQ(owners(parse_open_file_locks_waited_for(locks, 137)), Owners{909}); // a record lock
    EXPECT_EQ(owners(parse_open_file_locks_waited_for(locks, 131)), Owners{}); // no such requests
    EXPECT_EQ(parse_open_file_locks_waited_for("1: OFDLCK\n1: -> OFDLCK\nx\n", 133),
              std::vector<std::string>());
    const std::vector<std::string> all = parse_locks_waited_for(locks, 902);
    ASSERT_EQ(all.size(), 1U);
    const std::string& lock = all[0];
    EXPECT_TRUE(lock.starts_with("FLOCK ADVISORY WRITE 901 ")) << lock;
    EXPECT_TRUE(holds_lock("pos:\t0\nflags:\t02\nlock:\t1: " + lock + "\n", lock));
    EXPECT_FALSE(holds_lock("pos:\t0\nlock:\t1: " + lock + "9\n", lock));
    EXPECT_FALSE(holds_lock("pos:\t0\n", lock));
}

TEST(ProcText, SharedMappings) {
    std::string maps = fixture("maps");
    EXPECT_EQ(parse_shared_mapping(maps, 0x7f61f3a10010), "00:19 4711"); // in /dev/shm
    EXPECT_EQ(parse_shared_mapping(maps, 0x7f61f3a11000), std::nullopt); // behind its end
    EXPECT_EQ(parse_shared_mapping(maps, 0x55d0c1a3e008), std::nullopt); // private
    EXPECT_EQ(parse_shared_mapping(maps, 0x10), std::nullopt);           // nowhere
}

TEST(ProcText, Links) {
    EXPECT_EQ(parse_link("pipe:[123]", "pipe"), 123u);
    EXPECT_EQ(parse_link("socket:[9]", "socket"), 9u);
    EXPECT_EQ(parse_link("socket:[9]", "pipe"), std::nullopt);
    EXPECT_EQ(parse_link("pipe:[]", "pipe"), std::nullopt);
    EXPECT_EQ(parse_link("pipe:[1", "pipe"), std::nullopt);
    EXPECT_EQ(parse_link("/tmp/pipe:[1]", "pipe"), std::nullopt);
}

} // namespace
} // namespace pctctl
