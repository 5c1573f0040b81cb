// SPDX-License-Identifier: GPL-2.0-only
#include "cli/vm_exec.h"

#include <gtest/gtest.h>

#include "support/temporary_directory.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

void put_program(const fs::path& file) {
    fs::create_directories(file.parent_path());
    put(file, "#!/bin/sh\n");
    fs::permissions(file, fs::perms(0755));
}

TEST(FindVmRun, InTheSourceTree) {
    const TemporaryDirectory top;
    put_program(top / "vm/run");
    const auto found = find_vm_run(top / "build/pctctl", "../libexec/pctctl", nullptr);
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, (top / "vm/run").string());
}

TEST(FindVmRun, WhereItIsInstalled) {
    const TemporaryDirectory top;
    put_program(top / "libexec/pctctl/vm/run");
    const auto found = find_vm_run(top / "bin/pctctl", "../libexec/pctctl", "");
    ASSERT_TRUE(found) << found.error().message;
    EXPECT_EQ(*found, (top / "libexec/pctctl/vm/run").string());
}

TEST(FindVmRun, WhereTheEnvironmentSays) {
    const TemporaryDirectory top;
    put_program(top / "vm/run");
    put_program(top / "mine");
    EXPECT_EQ(*find_vm_run(top / "build/pctctl", "../x", (top / "mine").c_str()),
              (top / "mine").string());
    put(top / "text", "");
    const auto wrong = find_vm_run(top / "build/pctctl", "../x", (top / "text").c_str());
    ASSERT_FALSE(wrong); // no other one instead of the one asked for
    EXPECT_EQ(wrong.error().status, ExitStatus::environment);
}

TEST(FindVmRun, SaysWhereItLooked) {
    const TemporaryDirectory top;
    fs::create_directories(top / "vm/run"); // a directory is no program
    const auto found = find_vm_run(top / "build/pctctl", "../libexec/pctctl", nullptr);
    ASSERT_FALSE(found);
    EXPECT_EQ(found.error().status, ExitStatus::environment);
    EXPECT_NE(found.error().message.find((top / "vm/run").string()), std::string::npos);
    EXPECT_NE(found.error().message.find("PCTCTL_VM_RUN"), std::string::npos);
}

class WritableDirectories : public testing::Test {
protected:
    WritableDirectories() {
        fs::create_directories(cwd_);
        fs::create_directories(top_ / "elsewhere");
    }
    Words of(const Options& options, const fs::path& program_cwd = {}) {
        const auto directories = writable_directories(options, cwd_, program_cwd);
        if (!directories) {
            ADD_FAILURE() << directories.error().message;
            return {};
        }
        return *directories;
    }

    TemporaryDirectory top_;
    fs::path cwd_ = top_ / "work";
    Options options_;
};

TEST_F(WritableDirectories, NoneForWhatIsBelowTheCurrentOne) {
    EXPECT_EQ(of(options_), Words{});
    EXPECT_FALSE(fs::exists(cwd_ / "pctctl-out")); // made in the virtual machine, when it is needed
    options_.json = "result.json";
    options_.out = (cwd_ / "a/b").string();
    EXPECT_EQ(of(options_), Words{});
    options_.json = "-";
    EXPECT_EQ(of(options_), Words{});
    options_.out = ".";
    EXPECT_EQ(of(options_), Words{});
}

TEST_F(WritableDirectories, OutAndJsonElsewhere) {
    options_.out = "../elsewhere/out";
    options_.json = (top_ / "elsewhere/result.json").string();
    EXPECT_EQ(of(options_),
              (Words{(top_ / "elsewhere/out").string(), (top_ / "elsewhere").string()}));
    EXPECT_TRUE(fs::is_directory(top_ / "elsewhere/out"));
    options_.json = (top_ / "elsewhere/out/r.json").string();
    EXPECT_EQ(of(options_), (Words{(top_ / "elsewhere/out").string()}));
}

TEST_F(WritableDirectories, TheLogElsewhere) {
    options_.log = "log";
    EXPECT_EQ(of(options_), Words{});
    options_.log = "../elsewhere/log";
    EXPECT_EQ(of(options_), (Words{(top_ / "elsewhere").string()}));
    fs::create_symlink("../elsewhere/log",
                       cwd_ / "link"); // refused in the guest
    options_.log = "link";
    EXPECT_EQ(of(options_), Words{});
    options_.log = "/dev/null";
    EXPECT_EQ(of(options_), Words{});
    options_.log = "/pctctl.log";
    EXPECT_FALSE(writable_directories(options_, cwd_, {}));
}

TEST_F(WritableDirectories, LinksCountWhereTheyLead) {
    fs::create_directory_symlink("../elsewhere", cwd_ / "link");
    options_.out = "link/out";
    EXPECT_EQ(of(options_), (Words{(top_ / "elsewhere/out").string()}));
}

TEST_F(WritableDirectories, NamesThatOnlyBeginAlikeAreNotBelow) {
    options_.out = "../work-2";
    EXPECT_EQ(of(options_), (Words{(top_ / "work-2").string()}));
}

TEST_F(WritableDirectories, DevicesAreNotShared) {
    options_.json = "/dev/null";
    EXPECT_EQ(of(options_), Words{});
    options_.json = (top_ / "no/such/file").string();
    EXPECT_EQ(of(options_), Words{});
    EXPECT_FALSE(fs::exists(top_ / "no"));
}

TEST_F(WritableDirectories, AReplayNeedsWhereTheProgramRan) {
    options_.mode = Mode::replay;
    options_.out = (top_ / "ignored").string();
    EXPECT_EQ(of(options_, top_ / "elsewhere"), (Words{(top_ / "elsewhere").string()}));
    EXPECT_EQ(of(options_, cwd_), Words{});
    EXPECT_FALSE(fs::exists(top_ / "ignored"));
}

// When the current directory cannot be shared, only what the options name is.
TEST_F(WritableDirectories, FromWhereNothingIsShared) {
    for (const char* cwd : {"/", "/proc/self", "/dev/shm", "/sys"}) {
        cwd_ = cwd;
        options_ = {};
        options_.out = (top_ / "out").string();
        options_.json = (top_ / "elsewhere/result.json").string();
        EXPECT_EQ(of(options_), (Words{(top_ / "out").string(), (top_ / "elsewhere").string()}))
            << cwd;
        options_.json = "result.json";
        const auto directories = writable_directories(options_, cwd_, {});
        ASSERT_FALSE(directories) << cwd;
        EXPECT_EQ(directories.error().status, ExitStatus::environment);
    }
    options_.json.reset();
    options_.out = "/dev/shm/pctctl-out";
    EXPECT_FALSE(writable_directories(options_, top_ / "work", {}));
    EXPECT_FALSE(fs::exists("/dev/shm/pctctl-out"));
    options_.mode = Mode::replay;
    EXPECT_EQ(of(options_, "/"), Words{});
}

TEST_F(WritableDirectories, NeverAll) {
    options_.json = "/pctctl-result.json";
    const auto directories = writable_directories(options_, cwd_, {});
    ASSERT_FALSE(directories);
    EXPECT_EQ(directories.error().status, ExitStatus::environment);
}

TEST(VmCommand, IsTheSameCommandLineInside) {
    const Words argv = {"./pctctl", "--vm", "--jobs", "4", "--", "./app", "--vm"};
    Options options;
    options.given.jobs = 4;
    EXPECT_EQ(
        vm_command("/x/vm/run", options, {"/a", "/b"}, argv, "/x/build/pctctl"),
        (Words{"/x/vm/run", "--cpus", "4", "--rw", "/a", "--rw", "/b", "--", "/x/build/pctctl",
               "--inside-vm", "./pctctl", "--jobs", "4", "--", "./app", "--vm"}));
    options.given.jobs = 2;
    EXPECT_EQ(vm_command("/run", options, {}, Words{"p", "--vm", "a"}, "/p"),
              (Words{"/run", "--", "/p", "--inside-vm", "p", "a"}));
}

} // namespace
} // namespace pctctl
