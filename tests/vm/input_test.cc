// SPDX-License-Identifier: GPL-2.0-only
// Bad input and ill-behaved programs: pctctl says in one line what is wrong, has the right exit
// status, and leaves the machine as it was.
#include <gtest/gtest.h>

#include <fcntl.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>

#include "harness.h"

namespace vmtest {
namespace {

namespace fs = std::filesystem;
using std::chrono::seconds;

// Every test also checks that nothing is left behind.
class Input : public testing::Test {
protected:
    void TearDown() override {
        for (const std::string& left : left_behind(before_, seconds(5)))
            ADD_FAILURE() << "left behind: " << left;
    }

    // pctctl refuses to start: this exit status, no results, and one line of error that contains
    // `what`.
    static void expect_refusal(int status, const std::string& what, const Arguments& arguments) {
        const Call call = pctctl(arguments);
        EXPECT_EQ(status, call.status) << call;
        EXPECT_FALSE(call.reported) << call;
        const std::vector<std::string> said = lines(call.err);
        ASSERT_EQ(1U, said.size()) << call;
        EXPECT_TRUE(said[0].starts_with("pctctl: ")) << call;
        EXPECT_NE(std::string::npos, said[0].find(what)) << call;
        EXPECT_EQ("", call.out) << call;
    }

    static Arguments with(Arguments options, const std::string& program) {
        options.insert(options.end(), {"--", program});
        return options;
    }

private:
    Traces before_ = Traces::now();
};

const char* const kTrue = "/bin/true";

TEST_F(Input, WrongCommandLines) {
    expect_refusal(2, "'fifo'", with({"--policy", "fifo"}, kTrue));
    expect_refusal(2, "'0'", with({"--depth", "0"}, kTrue));
    expect_refusal(2, "--depth", with({"--depth", "65"}, kTrue));
    expect_refusal(2, "--depth", with({"--depth", "two"}, kTrue));
    expect_refusal(2, "--depth", with({"--depth", "-1"}, kTrue));
    expect_refusal(2, "'disk'", with({"--points", "pthread,disk"}, kTrue));
    expect_refusal(2, "--runs", with({"--runs", "0"}, kTrue));
    expect_refusal(2, "--jobs", with({"--jobs", "65"}, kTrue));
    expect_refusal(2, "--timeout", with({"--timeout", "0"}, kTrue));
    expect_refusal(2, "--seed", with({"--seed", "tomorrow"}, kTrue));
    expect_refusal(2, "--wrong", with({"--wrong"}, kTrue));
    for (const char* name : {"..", "../outside", "a/../../b", "/absolute", "a//b", ".", "a/"})
        expect_refusal(2, name, with({"--cgroup", name}, kTrue));
    expect_refusal(2, "PROGRAM", {});
    expect_refusal(2, "run-1", {"replay", "/nowhere/run-1"});
    expect_refusal(2, "RUNSEED", {"replay"});
}

// With -vv each run has one line about its end, and libbpf has nothing to complain about.
TEST_F(Input, DiagnosticsAreShownOnce) {
    const Call call = pctctl(with({"-vv", "--verify", "--runs", "2"}, built("zoo/exact3")));
    ASSERT_TRUE(call.reported) << call;
    std::size_t ends = 0;
    for (const std::string& line : lines(call.err)) {
        ends += line.find("run 2: pass (") != std::string::npos;
        EXPECT_TRUE(line.starts_with("pctctl: ")) << line;
        EXPECT_EQ(std::string::npos, line.find("libbpf")) << line;
    }
    EXPECT_EQ(1U, ends) << call;
}

TEST_F(Input, ProgramsThatCannotBeExecuted) {
    const Directory directory;
    const std::string text = directory.path() + "/text";
    std::ofstream(text) << "not a program\n";
    ::chmod(text.c_str(), 0644);
    const std::string script = directory.path() + "/script";
    std::ofstream(script) << "#!/nowhere/interpreter\n";
    ::chmod(script.c_str(), 0755);

    expect_refusal(2, "no-such-program", with({}, "no-such-program"));
    expect_refusal(2, "/nowhere/program", with({}, "/nowhere/program"));
    expect_refusal(2, text, with({}, text));
    expect_refusal(2, script, with({}, script));
    expect_refusal(2, directory.path(), with({}, directory.path()));
    expect_refusal(2, "no-such-program", with({"--jobs", "2", "--verify"}, "no-such-program"));
}

TEST_F(Input, UnreadableDirectory) {
    const Directory directory;
    const std::string program = directory.path() + "/program";
    fs::copy_file("/bin/true", program);
    ::chmod(directory.path().c_str(), 0700);
    expect_refusal(2, program, with({"--user", "nobody"}, program));
    expect_refusal(2, "nobody-at-all", with({"--user", "nobody-at-all"}, kTrue));

    ::chmod(directory.path().c_str(), 0755);
    const Call call = pctctl(with({"--user", "nobody", "--runs", "2"}, program));
    EXPECT_EQ(0, call.status) << call;
}

// --out names a file, --json names a directory.
TEST_F(Input, WrongPlacesForResults) {
    const Directory directory;
    const std::string file = directory.path() + "/file";
    std::ofstream(file) << "mine";
    const Call out = pctctl(
        with({"--seed", "1", "--runs", "40", "--out", file}, built("zoo/order_violation_bug")));
    EXPECT_EQ(3, out.status) << out;
    EXPECT_TRUE(out.reported) << out;
    EXPECT_EQ(1U, out.summary.failures) << out;
    EXPECT_NE(std::string::npos, out.err.find(file)) << out;
    EXPECT_EQ("mine", contents(file));

    const Call json = pctctl(with({"--runs", "2", "--json", directory.path()}, kTrue));
    EXPECT_EQ(3, json.status) << json;
    EXPECT_NE(std::string::npos, json.err.find(directory.path())) << json;
    EXPECT_NE(std::string::npos, json.out.find("no failure")) << json;
}

class FullDisk {
public:
    FullDisk() {
        if (::mount("tmpfs", directory_.path().c_str(), "tmpfs", 0, "size=64k") != 0)
            throw std::runtime_error("no small file system");
        std::ofstream filler(directory_.path() + "/filler");
        filler << std::string(1 << 20, 'x') << std::flush;
    }
    FullDisk(const FullDisk&) = delete;
    FullDisk& operator=(const FullDisk&) = delete;
    ~FullDisk() { ::umount2(directory_.path().c_str(), MNT_DETACH); }
    const std::string& path() const { return directory_.path(); }

private:
    Directory directory_;
};

TEST_F(Input, FullDisk) {
    const FullDisk disk;
    const std::string out = disk.path() + "/out";
    const Call call = pctctl(with({"--seed", "1", "--runs", "30", "--keep-going", "--out", out},
                                  built("zoo/order_violation_bug")));
    EXPECT_EQ(3, call.status) << call; // results were lost
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(30U, call.summary.runs_done) << call;
    EXPECT_GT(call.summary.failures, 1U) << call;
    EXPECT_NE(std::string::npos, call.err.find("No space left")) << call;
    EXPECT_NE(std::string::npos, call.err.find(out)) << call;
    EXPECT_LE(lines(call.err).size(), 40U) << call; // not a line for each run that is lost

    // There is no half-written file that could be taken for a result.
    std::error_code ignored;
    for (const auto& entry : fs::recursive_directory_iterator(disk.path(), ignored))
        EXPECT_FALSE(entry.path().filename() == "run.json" && entry.file_size() == 0)
            << entry.path();

    const Call json = pctctl(
        with({"--seed", "1", "--runs", "2", "--json", disk.path() + "/json"}, built("zoo/exact3")));
    EXPECT_EQ(3, json.status) << json;
    EXPECT_NE(std::string::npos, json.err.find("No space left")) << json;
}

TEST_F(Input, ProgramClosesItsOutput) {
    const Call call = pctctl(with({"--runs", "10", "--verify"}, built("programs/closes_output")));
    EXPECT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(10U, call.summary.runs_done) << call;
    EXPECT_EQ(2U, call.summary.threads) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
}

TEST_F(Input, ProgramKillsItsParent) {
    for (const int signal : {SIGKILL, SIGTERM, SIGSTOP}) {
        Arguments arguments =
            with({"--runs", "5", "--timeout", "10"}, built("programs/kills_parent"));
        arguments.push_back(std::to_string(signal));
        const Call call = pctctl(arguments);
        EXPECT_EQ(0, call.status) << call;
        EXPECT_EQ(5U, call.summary.runs_done) << call;
        EXPECT_EQ(0U, call.summary.failures) << call;
    }
}

TEST_F(Input, ProgramForksWithoutEnd) {
    const Call call =
        pctctl(with({"--runs", "2", "--keep-going", "--pids-limit", "64", "--timeout", "5"},
                    built("programs/fork_bomb")));
    EXPECT_EQ(1, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    ASSERT_EQ(2U, call.summary.runs_done) << call;
    for (const RunResult& run : call.summary.results) {
        EXPECT_EQ("timeout", run.outcome) << call;
        EXPECT_GT(run.threads, 1U) << call;
        EXPECT_LE(run.threads, 64U) << call; // none of them ends
    }
    EXPECT_NE(std::string::npos, call.out.find("limit of processes and threads, --pids-limit 64"))
        << call;
    // The default limit stops it as well. The help names it.
    EXPECT_NE(std::string::npos, pctctl({"--help"}).out.find("4096"));
}

// The limit counts the program's own processes and threads. When a failure may come from the limit,
// the summary says so.
TEST_F(Input, SmallestLimitOfProcesses) {
    for (const char* jobs : {"1", "2"}) {
        const Arguments options = {"--runs", "2", "--keep-going", "--jobs", jobs, "--pids-limit"};
        auto limited = [&options](const char* limit, const std::string& program) {
            Arguments arguments = options;
            arguments.push_back(limit);
            return pctctl(with(std::move(arguments), program));
        };
        const Call alone = limited("1", kTrue);
        EXPECT_EQ(0, alone.status) << alone;
        EXPECT_EQ(2U, alone.summary.runs_done) << alone;

        const Call too_many = limited("1", built("programs/closes_output"));
        EXPECT_EQ(1, too_many.status) << too_many;
        EXPECT_EQ(2U, too_many.summary.failures) << too_many;
        EXPECT_NE(std::string::npos,
                  too_many.out.find("limit of processes and threads, --pids-limit 1"))
            << too_many;
        EXPECT_EQ(0, limited("2", built("programs/closes_output")).status);
    }
}

// Somebody else has set pids.max on the parent cgroup: not even the program's first process can be
// started.
TEST_F(Input, NoRoomForAProcess) {
    const fs::path group = "/sys/fs/cgroup/full";
    fs::create_directory(group);
    std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "+pids";
    std::ofstream(group / "pids.max") << 1;
    expect_refusal(3, "raise pids.max", with({"--cgroup", "full/run"}, kTrue));
    std::ofstream(group / "pids.max") << 0;
    expect_refusal(3, "raise pids.max", with({"--cgroup", "full/run"}, kTrue));
    fs::remove(group);
    std::ofstream("/sys/fs/cgroup/cgroup.subtree_control") << "-pids";
}

TEST_F(Input, ProgramChangesItsSchedulingPolicy) {
    const Call call = pctctl(with(
        {"--runs", "20", "--keep-going", "--verify", "--seed", "2", "--depth", "3", "--jobs", "2"},
        built("programs/changes_policy")));
    EXPECT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
    EXPECT_EQ(3U, call.summary.threads) << call;
    // The program is still under control, so all its steps are seen: 2 creations, 20 locks and
    // unlocks, 2 joins. A thread created with a scheduling policy may wait for its creator, which
    // is one more.
    for (const RunResult& run : call.summary.results) {
        EXPECT_EQ(3U, run.threads);
        EXPECT_GE(run.steps, 24U) << "run " << run.number;
    }
    const Call again = pctctl({"replay", "--seed", "0000001000000000deadbeef", "--times", "5", "--",
                               built("programs/changes_policy")});
    ASSERT_EQ(5U, again.summary.results.size()) << again;
    for (const RunResult& run : again.summary.results)
        EXPECT_EQ(again.summary.results[0].order_hash, run.order_hash);
}

TEST_F(Input, ProgramLeavesItsCgroup) {
    for (const char* jobs : {"1", "2"}) {
        const Call call = pctctl(with({"--runs", "4", "--keep-going", "--verify", "--seed", "2",
                                       "--jobs", jobs, "--cgroup", "leave", "--timeout", "20"},
                                      built("programs/changes_cgroup")));
        EXPECT_NE(3, call.status) << call;
        ASSERT_TRUE(call.reported) << call;
        EXPECT_EQ(4U, call.summary.runs_done) << call;
        EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
        EXPECT_EQ(4U, call.summary.threads) << call; // the threads after the move, and the child
    }
}

// pctctl is called with its standard streams closed, or with one that cannot be written.
TEST_F(Input, ClosedStandardOutput) {
    const std::string pctctl = built("pctctl");
    Process closed({"/bin/sh", "-c", pctctl + " --runs 2 -- /bin/true >&- 2>&- <&-"});
    EXPECT_EQ(0, closed.wait(seconds(60)));
    Process full({"/bin/sh", "-c", pctctl + " --runs 2 -- /bin/true >/dev/full"});
    EXPECT_EQ(3, full.wait(seconds(60))) << full.err();
}

} // namespace
} // namespace vmtest
