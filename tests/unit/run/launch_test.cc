// SPDX-License-Identifier: GPL-2.0-only
// Runs on this machine without sched_ext: everything about them but the scheduling policy.
#include "run/launch.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <thread>

#include "base/files.h"
#include "base/proc_text.h"
#include "run/cgroup.h"
#include "support/temporary.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

struct Output {
    int status = -1;
    std::string out, err;
};

class Launch : public testing::Test {
protected:
    void SetUp() override {
        auto mount = find_cgroup_mount(read_text("/proc/self/mounts").value_or(""));
        if (::geteuid() != 0 || !mount || ::access(mount->c_str(), W_OK) != 0)
            GTEST_SKIP() << "needs root and a writable cgroup v2 file system";
        auto group = Cgroup::create("pctctl-launch-" + std::to_string(::getpid()));
        ASSERT_TRUE(group) << group.error().message;
        cgroup_.emplace(std::move(*group));
        out_.reset(::memfd_create("out", MFD_CLOEXEC));
        err_.reset(::memfd_create("err", MFD_CLOEXEC));
        options_.policy.reset();
    }

    static std::string text_of(const Fd& fd) {
        return read_text("/proc/self/fd/" + std::to_string(fd.get())).value_or("");
    }

    Result<Process> prepare(Launcher& launcher, unsigned slot = 0) {
        return launcher.prepare(slot, cgroup_->fd(), out_.get(), err_.get());
    }

    static int wait(Process& process) {
        for (int i = 0; i < 60; i++) {
            if (auto status = process.wait_status())
                return *status;
            pollfd event{process.event_fd(), POLLIN, 0};
            ::poll(&event, 1, 1000);
        }
        ADD_FAILURE() << "does not end";
        return -1;
    }

    // Makes one run from beginning to end.
    Output run(Launcher& launcher) {
        EXPECT_EQ(::ftruncate(out_.get(), 0), 0);
        EXPECT_EQ(::ftruncate(err_.get(), 0), 0);
        ::lseek(out_.get(), 0, SEEK_SET);
        ::lseek(err_.get(), 0, SEEK_SET);
        Output output;
        auto process = prepare(launcher);
        if (!process) {
            ADD_FAILURE() << process.error().message;
            return output;
        }
        if (auto released = process->release(); !released) {
            ADD_FAILURE() << released.error().message;
            return output;
        }
        output.status = wait(*process);
        EXPECT_TRUE(process->kill_all());
        EXPECT_TRUE(*cgroup_->wait_empty(10s));
        output.out = text_of(out_);
        output.err = text_of(err_);
        return output;
    }

    Output run(std::vector<std::string> command) {
        options_.command = std::move(command);
        auto launcher = Launcher::create(options_);
        if (!launcher) {
            ADD_FAILURE() << launcher.error().message;
            return {};
        }
        return run(*launcher);
    }

    Output shell(const std::string& script) { return run({"sh", "-c", script}); }

    Error error_of(const std::string& program) {
        options_.command = {program};
        auto launcher = Launcher::create(options_);
        EXPECT_TRUE(launcher);
        auto process = prepare(*launcher);
        EXPECT_TRUE(process);
        auto released = process->release();
        EXPECT_FALSE(released);
        return released ? Error{} : released.error();
    }

    LaunchOptions options_;
    std::optional<Cgroup> cgroup_;
    Fd out_, err_;
};

TEST_F(Launch, OutputAndStatus) {
    Output output = shell("echo one; echo two >&2; exit 7");
    EXPECT_EQ(output.status, 7 << 8);
    EXPECT_EQ(output.out, "one\n");
    EXPECT_EQ(output.err, "two\n");
    EXPECT_EQ(shell("kill -SEGV $$").status, SIGSEGV);
}

TEST_F(Launch, ManyRunsOfOneLauncher) {
    options_.command = {"sh", "-c", "echo $$"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    for (int i = 0; i < 50; i++) {
        Output output = run(*launcher);
        EXPECT_EQ(output.status, 0);
        EXPECT_EQ(output.out, "2\n"); // process ids are the same in each run
    }
}

TEST_F(Launch, ArgumentsAreVerbatim) {
    Output output = run({"printf", "%s|", "a b", "", "$HOME", "\n", "\xff"});
    EXPECT_EQ(output.out, "a b||$HOME|\n|\xff|");
}

TEST_F(Launch, CleanState) {
    ::signal(SIGPIPE, SIG_IGN);
    ::signal(SIGUSR1, SIG_IGN);
    sigset_t blocked, before;
    sigfillset(&blocked);
    ::sigprocmask(SIG_BLOCK, &blocked, &before);
    mode_t mask = ::umask(077);
    Fd extra(::open("/dev/null", O_RDONLY)); // not close-on-exec
    Output output = shell("cat /proc/self/status; cat /proc/self/personality; umask; pwd; "
                          "ls -l /proc/$$/fd");
    ::umask(mask);
    ::sigprocmask(SIG_SETMASK, &before, nullptr);
    ::signal(SIGPIPE, SIG_DFL);
    ::signal(SIGUSR1, SIG_DFL);
    for (const char* field : {"SigPnd", "ShdPnd", "SigBlk", "SigIgn", "SigCgt"})
        EXPECT_EQ(parse_field(output.out, field), "0000000000000000") << field;
    EXPECT_EQ(parse_field(output.out, "Seccomp"), "2");
    EXPECT_EQ(parse_field(output.out, "NoNewPrivs"), "0");
    EXPECT_THAT(output.out,
                HasSubstr("\n00040000\n0022\n" + std::filesystem::current_path().string() + "\n"));
    // /dev/null was opened before the run's mount namespace was made. That shows in a chroot that
    // is not a mount point: only the end of the path is known there.
    struct statx root{};
    ASSERT_EQ(::statx(AT_FDCWD, "/", 0, STATX_BASIC_STATS, &root), 0);
    const bool mounted = root.stx_attributes & STATX_ATTR_MOUNT_ROOT;
    EXPECT_THAT(output.out, HasSubstr(mounted ? " 0 -> /dev/null\n" : "/dev/null\n"));
    EXPECT_THAT(output.out, HasSubstr(" 1 -> /memfd:out"));
    EXPECT_THAT(output.out, HasSubstr(" 2 -> /memfd:err"));
    EXPECT_THAT(output.out, Not(HasSubstr("socket")));
    EXPECT_THAT(output.out, Not(HasSubstr(" 3 -> ")));
}

// Even then the program must not read the controller's standard input.
TEST_F(Launch, WithoutDevNull) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        if (::unshare(CLONE_NEWNS) != 0 ||
            ::mount(nullptr, "/dev", nullptr, MS_PRIVATE, nullptr) != 0 ||
            ::mount("none", "/dev", "tmpfs", 0, nullptr) != 0)
            ::_exit(77);
        options_.command = {"true"};
        const auto launcher = Launcher::create(options_);
        const bool told =
            !launcher && launcher.error().message.starts_with("cannot open /dev/null");
        ::_exit(told ? 0 : 1);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77)
        GTEST_SKIP() << "nothing can be mounted on /dev here";
    EXPECT_EQ(status, 0);
}

TEST_F(Launch, Namespaces) {
    Output output = shell("echo $$ $PPID; ls -d /proc/[0-9]* | wc -l; cat /proc/self/cgroup; "
                          "ps -o sid=,pgid= -p $$; readlink /proc/self/ns/pid /proc/self/ns/mnt");
    EXPECT_THAT(output.out, testing::StartsWith("2 1\n"));
    EXPECT_THAT(output.out, HasSubstr("0::/pctctl-launch-"));
    std::error_code error;
    for (const char* name : {"pid", "mnt"})
        EXPECT_THAT(
            output.out,
            Not(HasSubstr(std::filesystem::read_symlink(std::string("/proc/self/ns/") + name, error)
                              .string())));
}

TEST_F(Launch, CgroupsAreReadOnly) {
    // Only tried if the run's mount namespace is not that of the test, where a failure would do
    // harm.
    Output output = shell("echo $$ > " + cgroup_->mount() + "/cgroup.procs");
    EXPECT_NE(output.status, 0);
    EXPECT_THAT(output.err, HasSubstr("Read-only"));
}

TEST_F(Launch, SchedulingPolicyStays) {
    // chrt prints the policy that the kernel reports afterwards.
    Output output = shell("chrt -f -p 5 $$ && chrt -p $$; chrt -b 0 chrt -p 0; "
                          "chrt -d -T 1000000 -D 2000000 -P 2000000 -p 0 $$ && chrt -p $$");
    EXPECT_THAT(output.out, Not(HasSubstr("SCHED_FIFO")));
    EXPECT_THAT(output.out, Not(HasSubstr("SCHED_BATCH")));
    EXPECT_THAT(output.out, Not(HasSubstr("SCHED_DEADLINE")));
    EXPECT_THAT(output.out, HasSubstr("SCHED_OTHER"));
    EXPECT_EQ(output.err, "");
}

TEST_F(Launch, ParentCannotBeKilled) {
    // The process ids make sure that this is the run's PID namespace.
    Output output = shell(
        "[ $$ = 2 ] && [ $PPID = 1 ] || exit 9; kill -KILL $PPID; kill -TERM 1; kill -STOP 1; "
        "sleep 0.1; echo alive");
    EXPECT_EQ(output.status, 0);
    EXPECT_EQ(output.out, "alive\n");
}

TEST_F(Launch, OrphansDieWithTheRun) {
    options_.command = {"sh", "-c", "(setsid sh -c 'sleep 1000 & sleep 1000' &) ; echo done"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    auto process = prepare(*launcher);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->release());
    EXPECT_EQ(wait(*process), 0);
    EXPECT_TRUE(*cgroup_->populated());
    EXPECT_TRUE(process->kill_all());
    EXPECT_TRUE(*cgroup_->wait_empty(10s));
}

TEST_F(Launch, DestructorEndsARunThatIsUnderWay) {
    options_.command = {"sleep", "1000"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    {
        auto process = prepare(*launcher);
        ASSERT_TRUE(process);
        EXPECT_GT(process->root_pid(), 2); // in the test's PID namespace
        EXPECT_EQ(::kill(process->root_pid(), 0), 0);
        ASSERT_TRUE(process->release());
        EXPECT_FALSE(process->wait_status());
    }
    EXPECT_TRUE(*cgroup_->wait_empty(10s));
    {
        auto never_released = prepare(*launcher);
    }
    EXPECT_TRUE(*cgroup_->wait_empty(10s));
    EXPECT_EQ(run({"true"}).status, 0);
}

TEST_F(Launch, RootPidIsTheProgram) {
    options_.command = {"sleep", "1000"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    auto process = prepare(*launcher);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->release());
    // exec() changes the name a little after it has replaced the memory.
    std::string comm = "/proc/" + std::to_string(process->root_pid()) + "/comm";
    for (int i = 0; i < 1000 && read_text(comm) != "sleep\n"; i++)
        std::this_thread::sleep_for(1ms);
    EXPECT_EQ(read_text(comm), "sleep\n");
    ASSERT_EQ(::kill(process->root_pid(), SIGKILL), 0);
    EXPECT_EQ(wait(*process), SIGKILL);
}

TEST_F(Launch, CgroupKillEndsTheRun) {
    options_.command = {"sleep", "1000"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    auto process = prepare(*launcher);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->release());
    ASSERT_TRUE(cgroup_->kill());
    EXPECT_EQ(wait(*process), SIGKILL);
    EXPECT_TRUE(process->kill_all());
    // The group and the slot can be used again.
    for (int i = 0; i < 3; i++) {
        auto again = prepare(*launcher);
        ASSERT_TRUE(again) << again.error().message;
        ASSERT_TRUE(again->release());
        EXPECT_THAT(
            read_text("/proc/" + std::to_string(again->root_pid()) + "/cgroup").value_or(""),
            HasSubstr("0::/pctctl-launch-"));
        EXPECT_FALSE(again->wait_status());
    }
}

TEST_F(Launch, Errors) {
    test::TemporaryDirectory directory;
    Error error = error_of("no-such-program-anywhere");
    EXPECT_EQ(error.status, ExitStatus::usage);
    EXPECT_THAT(error.message, HasSubstr("cannot run 'no-such-program-anywhere': No such file"));
    error = error_of(directory.file("plain", "text"));
    EXPECT_EQ(error.status, ExitStatus::usage);
    EXPECT_THAT(error.message, HasSubstr("Permission denied"));
    options_.command.clear();
    EXPECT_FALSE(Launcher::create(options_));
    options_.command = {"true", std::string("a\0b", 3)};
    EXPECT_FALSE(Launcher::create(options_));
}

TEST_F(Launch, ArgumentsTooLong) {
    options_.command = {"true", std::string(1 << 20, 'x')};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    auto process = prepare(*launcher);
    ASSERT_TRUE(process);
    auto released = process->release();
    ASSERT_FALSE(released);
    EXPECT_EQ(released.error().status, ExitStatus::usage);
    EXPECT_THAT(released.error().message, HasSubstr("Argument list too long"));
}

TEST_F(Launch, ManyArguments) {
    test::TemporaryDirectory directory;
    // The file has no #! line. The C library passes it to a shell, and moves the arguments on its
    // stack to do so.
    std::vector<std::string> command{directory.file("script", "echo $#", 0755)};
    command.resize(50001, "a");
    EXPECT_EQ(run(command).out, "50000\n");
}

TEST_F(Launch, UnknownPolicyIsRefused) {
    options_.policy = 63;
    Error error = error_of("true");
    EXPECT_EQ(error.status, ExitStatus::environment);
    EXPECT_THAT(error.message, HasSubstr("scheduler"));
}

TEST_F(Launch, AnotherUser) {
    auto identity = find_identity("65534:65534");
    ASSERT_TRUE(identity);
    identity->home = "/nowhere";
    identity->name = "somebody";
    options_.identity = *identity;
    Output output = shell("id -u; id -g; echo $HOME $USER $LOGNAME; grep CapEff /proc/self/status; "
                          "echo $PCTCTL_GUEST_UID; cat < /proc/1/environ");
    EXPECT_THAT(output.out, testing::StartsWith("65534\n65534\n/nowhere somebody somebody\n"
                                                "CapEff:\t0000000000000000\n"));
    EXPECT_NE(output.status, 0) << "may look into process 1";
}

TEST_F(Launch, PrivateLibrary) {
    auto path = libc_path();
    ASSERT_TRUE(path);
    auto file = PrivateFile::copy(*path);
    ASSERT_TRUE(file) << file.error().message;
    struct stat copy, original, later;
    ASSERT_EQ(::stat(file->probe_path().c_str(), &copy), 0);
    ASSERT_EQ(::stat(path->c_str(), &original), 0);
    options_.private_files = {&*file};
    options_.slots = 3;
    options_.command = {"sh", "-c", "stat -L -c %i " + *path + "; : > " + *path};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher) << launcher.error().message;
    for (unsigned slot = 0; slot < 3; slot++) {
        ASSERT_EQ(::ftruncate(out_.get(), 0), 0);
        auto process = prepare(*launcher, slot);
        ASSERT_TRUE(process);
        ASSERT_TRUE(process->release());
        EXPECT_NE(wait(*process), 0) << "the library can be written to";
        EXPECT_THAT(text_of(out_), HasSubstr(std::to_string(copy.st_ino) + "\n"));
        EXPECT_THAT(text_of(err_), HasSubstr("Read-only"));
    }
    ASSERT_EQ(::stat(path->c_str(), &later), 0);
    EXPECT_EQ(later.st_ino, original.st_ino);
    EXPECT_EQ(later.st_dev, original.st_dev);
}

TEST_F(Launch, SlotsAreIndependent) {
    options_.slots = 4;
    options_.command = {"sleep", "1000"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    std::vector<Process> processes;
    for (unsigned slot = 0; slot < 4; slot++) {
        auto process = prepare(*launcher, slot);
        ASSERT_TRUE(process);
        ASSERT_TRUE(process->release());
        processes.push_back(std::move(*process));
    }
    EXPECT_TRUE(processes[2].kill_all());
    for (unsigned slot : {0u, 1u, 3u})
        EXPECT_FALSE(processes[slot].wait_status()) << slot;
}

// When the controller dies, the program dies as well.
TEST_F(Launch, DeathOfTheController) {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    options_.command = {"sh", "-c", "setsid sleep 1000 & sleep 1000"};
    pid_t controller = ::fork();
    ASSERT_GE(controller, 0);
    if (controller == 0) {
        auto launcher = Launcher::create(options_);
        auto process = launcher ? prepare(*launcher) : Result<Process>(launcher.error());
        if (!process || !process->release())
            ::_exit(1);
        char byte = 1;
        if (::write(ends[1], &byte, 1) == 1)
            for (;;)
                ::pause();
        ::_exit(1);
    }
    ::close(ends[1]);
    char byte = 0;
    ASSERT_EQ(::read(ends[0], &byte, 1), 1);
    EXPECT_TRUE(*cgroup_->populated());
    ::kill(controller, SIGKILL);
    ASSERT_EQ(::waitpid(controller, nullptr, 0), controller);
    EXPECT_TRUE(*cgroup_->wait_empty(10s));
    ::close(ends[0]);
}

// A controller that is killed at any moment leaves neither processes nor groups.
TEST_F(Launch, DeathAtAnyMoment) {
    std::string name = "pctctl-death-" + std::to_string(::getpid());
    std::string top = cgroup_->mount() + "/" + name;
    options_.command = {"sh", "-c", "sleep 0.01 & (setsid sleep 1000 &) ; wait"};
    options_.slots = 2;
    unsigned seed = 1;
    for (int i = 0; i < 30; i++) {
        pid_t controller = ::fork();
        ASSERT_GE(controller, 0);
        if (controller == 0) {
            auto guardian = Guardian::start();
            auto launcher = Launcher::create(options_);
            auto group = Cgroup::create(name, &*guardian);
            for (unsigned round = 0;; round++) {
                auto child = group->child("job-" + std::to_string(round % 3));
                auto process = launcher->prepare(round % 2, child->fd(), out_.get(), err_.get());
                if (!process || !process->release())
                    ::_exit(1);
                wait(*process);
                (void)process->kill_all();
            }
        }
        std::this_thread::sleep_for(std::chrono::microseconds(::rand_r(&seed) % 100000));
        ::kill(controller, SIGKILL);
        int status = 0;
        ASSERT_EQ(::waitpid(controller, &status, 0), controller);
        EXPECT_EQ(status, SIGKILL) << "ended by itself";
        bool gone = false;
        for (int j = 0; j < 3000 && !gone; j++) {
            gone = !std::filesystem::exists(top);
            std::this_thread::sleep_for(10ms);
        }
        ASSERT_TRUE(gone) << "round " << i;
    }
}

TEST_F(Launch, DeathOfTheZygote) {
    options_.command = {"sleep", "1000"};
    auto launcher = Launcher::create(options_);
    ASSERT_TRUE(launcher);
    auto process = prepare(*launcher);
    ASSERT_TRUE(process);
    ASSERT_TRUE(process->release());
    // root -> stub -> zygote
    pid_t pid = process->root_pid();
    for (int i = 0; i < 2; i++) {
        auto status = read_text("/proc/" + std::to_string(pid) + "/status");
        ASSERT_TRUE(status);
        pid = std::atoi(parse_field(*status, "PPid")->c_str());
        ASSERT_GT(pid, 1);
    }
    ASSERT_EQ(read_text("/proc/" + std::to_string(pid) + "/comm"), "pct-slot\n");
    ::kill(pid, SIGKILL);
    EXPECT_EQ(wait(*process), SIGKILL);
    EXPECT_TRUE(*cgroup_->wait_empty(10s));
    EXPECT_FALSE(process->kill_all());
    EXPECT_FALSE(prepare(*launcher));
}

TEST(Identities, ByNameAndNumber) {
    auto root = find_identity("root");
    ASSERT_TRUE(root);
    EXPECT_EQ(root->uid, 0u);
    EXPECT_EQ(root->name, "root");
    auto number = find_identity("4000000");
    ASSERT_TRUE(number);
    EXPECT_EQ(number->uid, 4000000u);
    EXPECT_EQ(number->gid, 4000000u);
    EXPECT_EQ(number->name, "");
    auto both = find_identity("4000000:17");
    ASSERT_TRUE(both);
    EXPECT_EQ(both->gid, 17u);
    EXPECT_EQ(both->groups, std::vector<gid_t>{17});
    for (const char* text : {"", "no such user", "4294967295", "-1", "1000:", "1000:x", ":1"}) {
        auto nobody = find_identity(text);
        ASSERT_FALSE(nobody) << text;
        EXPECT_EQ(nobody.error().status, ExitStatus::usage);
    }
}

TEST(Identities, OfTheGuest) {
    ::unsetenv("PCTCTL_GUEST_UID");
    ::unsetenv("PCTCTL_GUEST_GID");
    EXPECT_FALSE(guest_identity()->has_value());
    ::setenv("PCTCTL_GUEST_UID", "0", 1);
    EXPECT_FALSE(guest_identity()->has_value());
    ::setenv("PCTCTL_GUEST_UID", "4000000", 1);
    ::setenv("PCTCTL_GUEST_GID", "5", 1);
    auto identity = guest_identity();
    ASSERT_TRUE(identity && identity->has_value());
    EXPECT_EQ((*identity)->uid, 4000000u);
    EXPECT_EQ((*identity)->gid, 5u);
    ::setenv("PCTCTL_GUEST_UID", "root", 1);
    identity = guest_identity();
    ASSERT_FALSE(identity);
    EXPECT_EQ(identity.error().status, ExitStatus::environment);
    ::unsetenv("PCTCTL_GUEST_UID");
    ::unsetenv("PCTCTL_GUEST_GID");
}

} // namespace
} // namespace pctctl
