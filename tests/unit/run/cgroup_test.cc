// SPDX-License-Identifier: GPL-2.0-only
// Cgroups and the guardian, on the cgroup file system of this machine.
#include "plan/cgroup_name.h"
#include "run/cgroup.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/files.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;

TEST(CgroupName, Accepted) {
    for (const char* name : {"test", "a/b/c", "..a", "a..b", "ünï", "with space"})
        EXPECT_TRUE(check_cgroup_name(name)) << name;
    EXPECT_TRUE(check_cgroup_name(std::string(200, 'x')));
}

TEST(CgroupName, Refused) {
    for (const char* name : {"", "/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/../b",
                             "a/.", "a\nb", "a\tb", "\x7f"}) {
        Status status = check_cgroup_name(name);
        ASSERT_FALSE(status) << name;
        EXPECT_EQ(status.error().status, ExitStatus::usage) << name;
        EXPECT_EQ(status.error().message.find('\n'), std::string::npos) << name;
    }
    EXPECT_FALSE(check_cgroup_name(std::string(201, 'x')));
    EXPECT_FALSE(check_cgroup_name(std::string_view("a\0b", 3)));
    std::string deep = "a";
    for (int i = 0; i < 600; i++)
        deep += "/a";
    EXPECT_FALSE(check_cgroup_name(deep));
}

TEST(CgroupMount, FromTheMountTable) {
    EXPECT_EQ(find_cgroup_mount("proc /proc proc rw 0 0\n"
                                "cgroup2 /sys/fs/cgroup cgroup2 rw 0 0\n"),
              "/sys/fs/cgroup");
    EXPECT_EQ(find_cgroup_mount("cgroup /sys/fs/cgroup/cpu cgroup rw,cpu 0 0\n"
                                "x /sys/fs/cgroup/uni\\040fied cgroup2 rw 0 0\n"),
              "/sys/fs/cgroup/uni fied");
    EXPECT_EQ(find_cgroup_mount("cgroup2 /cgroup2 cgroup rw 0 0\n"), std::nullopt);
    EXPECT_EQ(find_cgroup_mount(""), std::nullopt);
}

// Cgroups with a name that nobody else uses.
class Groups : public testing::Test {
protected:
    void SetUp() override {
        auto mount = find_cgroup_mount(read_text("/proc/self/mounts").value_or(""));
        if (::geteuid() != 0 || !mount || ::access(mount->c_str(), W_OK) != 0)
            GTEST_SKIP() << "needs root and a writable cgroup v2 file system";
        mount_ = *mount;
        name_ = "pctctl-unit-" + std::to_string(::getpid());
        top_ = mount_ + "/" + name_;
    }
    void TearDown() override {
        for (const char* below : {"/a/b", "/a", "/b", ""})
            ::rmdir((top_ + below).c_str());
    }

    static bool is_there(const std::string& path) { return std::filesystem::exists(path); }

    // Starts a process in the group. It is killed when the test ends.
    static pid_t process_in(const std::string& path) {
        pid_t pid = ::fork();
        if (pid == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            for (;;)
                ::pause();
        }
        if (pid < 0)
            std::abort(); // kill(-1) would kill every process
        EXPECT_EQ(write_text(path + "/cgroup.procs", std::to_string(pid)), 0);
        return pid;
    }

    static int reap(pid_t pid) {
        int status = 0;
        EXPECT_EQ(::waitpid(pid, &status, 0), pid);
        return status;
    }

    template <typename F> static bool eventually(F condition) {
        for (int i = 0; i < 1000; i++) {
            if (condition())
                return true;
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    std::string mount_, name_, top_;
};

TEST_F(Groups, MadeAndRemoved) {
    {
        auto group = Cgroup::create(name_ + "/a/b");
        ASSERT_TRUE(group) << group.error().message;
        EXPECT_EQ(group->path(), top_ + "/a/b");
        EXPECT_TRUE(group->made());
        EXPECT_TRUE(is_there(group->path()));
        EXPECT_FALSE(*group->populated());
        EXPECT_GE(group->fd(), 0);
        EXPECT_NE(group->id(), 0u);
        Cgroup moved = std::move(*group);
        EXPECT_TRUE(is_there(moved.path()));
    }
    EXPECT_FALSE(is_there(top_));
}

TEST_F(Groups, RemovalIsIdempotent) {
    auto group = Cgroup::create(name_);
    ASSERT_TRUE(group);
    EXPECT_TRUE(group->remove());
    EXPECT_FALSE(is_there(top_));
    EXPECT_TRUE(group->remove());
}

TEST_F(Groups, WhatExistedStays) {
    ASSERT_EQ(::mkdir(top_.c_str(), 0755), 0);
    {
        auto group = Cgroup::create(name_);
        ASSERT_TRUE(group) << group.error().message;
        EXPECT_FALSE(group->made());
        auto child = group->child("a");
        ASSERT_TRUE(child);
        EXPECT_TRUE(is_there(top_ + "/a"));
    }
    EXPECT_TRUE(is_there(top_));
    EXPECT_FALSE(is_there(top_ + "/a"));
    {
        auto group = Cgroup::create(name_ + "/a");
        ASSERT_TRUE(group);
        EXPECT_TRUE(group->made());
    }
    EXPECT_TRUE(is_there(top_));
}

TEST_F(Groups, ForeignProcessesAreLeftAlone) {
    ASSERT_EQ(::mkdir(top_.c_str(), 0755), 0);
    pid_t pid = process_in(top_);
    {
        auto group = Cgroup::create(name_);
        ASSERT_FALSE(group);
        EXPECT_EQ(group.error().status, ExitStatus::environment);
        EXPECT_THAT(group.error().message, HasSubstr("already contains processes"));
    }
    EXPECT_EQ(::waitpid(pid, nullptr, WNOHANG), 0) << "was killed";
    ::kill(pid, SIGKILL);
    reap(pid);
}

TEST_F(Groups, ControlFilesAreNoGroups) {
    auto group = Cgroup::create("cgroup.procs");
    ASSERT_FALSE(group);
    EXPECT_EQ(group.error().status, ExitStatus::usage);
}

TEST_F(Groups, KillAndWait) {
    auto group = Cgroup::create(name_);
    ASSERT_TRUE(group);
    auto child = group->child("a");
    ASSERT_TRUE(child);
    pid_t pid = process_in(child->path());
    EXPECT_TRUE(*group->populated());
    auto begin = std::chrono::steady_clock::now();
    EXPECT_FALSE(*group->wait_empty(50ms));
    EXPECT_GE(std::chrono::steady_clock::now() - begin, 50ms);
    ASSERT_TRUE(group->kill());
    EXPECT_EQ(reap(pid), SIGKILL);
    EXPECT_TRUE(*group->wait_empty(10s));
    EXPECT_FALSE(*group->populated());
}

TEST_F(Groups, DestructorKills) {
    pid_t pid;
    {
        auto group = Cgroup::create(name_);
        ASSERT_TRUE(group);
        pid = process_in(group->path());
    }
    EXPECT_EQ(reap(pid), SIGKILL);
    EXPECT_FALSE(is_there(top_));
}

// Runs `body` in a child process, which is killed by SIGKILL afterwards.
void in_killed_controller(const std::function<void(Guardian&)>& body) {
    pid_t pid = ::fork();
    if (pid == 0) {
        auto guardian = Guardian::start();
        if (!guardian)
            ::_exit(1);
        body(*guardian);
        ::raise(SIGKILL);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    ASSERT_EQ(status, SIGKILL);
}

TEST_F(Groups, LimitOfProcesses) {
    std::string control = mount_ + "/cgroup.subtree_control";
    auto before = read_text(control);
    {
        auto group = Cgroup::create(name_ + "/a");
        ASSERT_TRUE(group);
        auto limited = group->limit_processes(17);
        ASSERT_TRUE(limited) << limited.error().message;
        bool available =
            read_text(mount_ + "/cgroup.controllers")->find("pids") != std::string::npos;
        EXPECT_EQ(!limited->has_value(), available) << limited->value_or("");
        if (available) {
            EXPECT_EQ(*read_text(group->path() + "/pids.max"), "17\n");
            EXPECT_EQ(group->limit_hits(), 0U);
        }
    }
    EXPECT_EQ(read_text(control), before);
}

TEST_F(Groups, WhyThereIsNoLimit) {
    auto outer = Cgroup::create(name_);
    ASSERT_TRUE(outer);
    auto group = outer->child("a");
    ASSERT_TRUE(group);
    pid_t pid = process_in(top_);
    auto reason = group->limit_processes(17);
    ASSERT_TRUE(reason) << reason.error().message;
    ASSERT_TRUE(reason->has_value());
    EXPECT_THAT(**reason, testing::AnyOf(HasSubstr("'" + top_ + "' contains processes"),
                                         HasSubstr("has no pids controller")));
    ::kill(pid, SIGKILL);
    reap(pid);
}

// Two campaigns share a parent group. The first one to end must not take away the other's limit.
TEST_F(Groups, TheLimitOfAnotherGroupStays) {
    for (const bool killed : {false, true}) {
        auto outer = Cgroup::create(name_);
        ASSERT_TRUE(outer);
        std::optional<Cgroup> second;
        auto both = [&](Guardian* guardian) {
            auto first = Cgroup::create(name_ + "/a", guardian);
            auto limited = first->limit_processes(17);
            auto other = Cgroup::create(name_ + "/b");
            if (limited && !*limited && other->limit_processes(18))
                second.emplace(std::move(*other));
            if (killed)
                ::kill(::getpid(), SIGKILL);
        };
        if (killed)
            in_killed_controller([&](Guardian& guardian) { both(&guardian); });
        else
            both(nullptr);
        if (killed)
            EXPECT_TRUE(eventually([&] { return !is_there(top_ + "/a"); }));
        else if (!second)
            GTEST_SKIP() << "the pids controller is not available here";
        EXPECT_EQ(read_text(top_ + "/b/pids.max"), "18\n");
        second.reset();
        ::rmdir((top_ + "/b").c_str());
    }
}

// A group that existed before gets its own limit back.
TEST_F(Groups, LimitOfAnExistingGroupIsGivenBack) {
    auto outer = Cgroup::create(name_);
    ASSERT_TRUE(outer);
    auto enabled = outer->limit_processes(100);
    ASSERT_TRUE(enabled) << enabled.error().message;
    if (*enabled)
        GTEST_SKIP() << **enabled;
    const std::string limit = outer->path() + "/pids.max";
    {
        auto again = Cgroup::create(name_);
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_TRUE(again->limit_processes(17));
        EXPECT_EQ(read_text(limit), "17\n");
    }
    EXPECT_EQ(read_text(limit), "100\n");
}

TEST_F(Groups, GuardianCleansUp) {
    int pipe[2];
    ASSERT_EQ(::pipe(pipe), 0);
    in_killed_controller([&](Guardian& guardian) {
        auto group = Cgroup::create(name_, &guardian);
        auto child = group->child("a/b");
        // This one gets no death signal: the guardian has to kill it.
        pid_t pid = ::fork();
        if (pid == 0)
            for (;;)
                ::pause();
        write_text(child->path() + "/cgroup.procs", std::to_string(pid));
        if (::write(pipe[1], &pid, sizeof pid) != sizeof pid)
            ::_exit(1);
        ::kill(::getpid(), SIGKILL); // before any destructor
    });
    pid_t pid = 0;
    ASSERT_EQ(::read(pipe[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    EXPECT_TRUE(eventually([&] { return !is_there(top_); }));
    EXPECT_TRUE(eventually([&] { return !is_there("/proc/" + std::to_string(pid)); }));
    ::close(pipe[0]);
    ::close(pipe[1]);
}

TEST_F(Groups, GuardianKeepsWhatExisted) {
    ASSERT_EQ(::mkdir(top_.c_str(), 0755), 0);
    in_killed_controller([&](Guardian& guardian) {
        auto group = Cgroup::create(name_, &guardian);
        auto child = group->child("a");
        ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(eventually([&] { return !is_there(top_ + "/a"); }));
    EXPECT_TRUE(is_there(top_));
}

TEST_F(Groups, GuardianForgetsWhatIsRemoved) {
    in_killed_controller([&](Guardian& guardian) {
        {
            auto group = Cgroup::create(name_, &guardian);
        }
        // Somebody else makes a group of the same name.
        ::mkdir(top_.c_str(), 0755);
        ::kill(::getpid(), SIGKILL);
    });
    std::this_thread::sleep_for(300ms);
    EXPECT_TRUE(is_there(top_));
}

TEST_F(Groups, GuardianRestoresFiles) {
    std::string file = std::filesystem::temp_directory_path() / name_;
    std::string other = file + ".other";
    write_text(file, "");
    std::ofstream(file) << "changed";
    std::ofstream(other) << "changed";
    in_killed_controller([&](Guardian& guardian) {
        guardian.restore(other, "orderly");
        guardian.forget(other);
        guardian.restore(file, "as it was");
        ::kill(::getpid(), SIGKILL);
    });
    EXPECT_TRUE(eventually([&] { return read_text(file)->starts_with("as it was"); }));
    EXPECT_EQ(read_text(other), "changed");
    std::filesystem::remove(file);
    std::filesystem::remove(other);
}

TEST(Guardian, DismissedInTheEnd) {
    pid_t pid;
    {
        auto guardian = Guardian::start();
        ASSERT_TRUE(guardian);
        pid = guardian->pid();
        std::string comm;
        for (int i = 0; i < 1000 && comm != "pct-guardian\n"; i++) {
            std::this_thread::sleep_for(1ms);
            comm = read_text("/proc/" + std::to_string(pid) + "/comm").value_or("");
        }
        EXPECT_EQ(comm, "pct-guardian\n");
        EXPECT_EQ(::getsid(pid), pid);
        auto command = read_text("/proc/" + std::to_string(pid) + "/cmdline").value_or("");
        EXPECT_EQ(command.substr(0, command.find('\0')), "pct-guardian");
    }
    EXPECT_EQ(::kill(pid, 0), -1);
}

} // namespace
} // namespace pctctl
