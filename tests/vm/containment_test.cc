// SPDX-License-Identifier: GPL-2.0-only
// However the controller ends (killed, interrupted, its scheduler unloaded by the kernel), the
// machine is soon as it was before.
#include <gtest/gtest.h>

#include <signal.h>

#include <chrono>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <thread>

#include "harness.h"

namespace vmtest {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

std::string listed(const std::vector<std::string>& things) {
    std::string text;
    for (const std::string& thing : things)
        text += thing + "\n";
    return text;
}

std::string scheduler_state() {
    const std::string state = contents("/sys/kernel/sched_ext/state");
    return state.substr(0, state.find('\n'));
}

bool wait_for_scheduler(seconds limit = seconds(60)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (scheduler_state() != "enabled") {
        if (std::chrono::steady_clock::now() > end)
            return false;
        std::this_thread::sleep_for(milliseconds(5));
    }
    return true;
}

// A campaign that does not end by itself.
Arguments endless(const std::string& program, const std::string& out, const Arguments& more) {
    Arguments argv = {built("pctctl"), "--runs", "1000000", "--keep-going",
                      "--seed",        "5",      "--out",   out};
    argv.insert(argv.end(), more.begin(), more.end());
    argv.insert(argv.end(), {"--", built(program)});
    return argv;
}

TEST(Sigkill, LeavesNothing) {
    ASSERT_EQ("disabled", scheduler_state());
    const std::vector<std::pair<std::string, Arguments>> campaigns = {
        {"zoo/pid_file_bug", {"--jobs", "2"}},
        {"zoo/healthy_daemon", {"--cgroup", "killed"}},
        {"zoo/healthy_sync", {"--verify", "--jobs", "2", "--cgroup", "killed/deeper"}},
        {"zoo/healthy_server", {}},
        {"zoo/deadlock_abba_bug", {"--jobs", "2", "--points", "pthread"}},
        {"zoo/healthy_spin_flag", {"--spin-limit", "0"}}, // never ends
        {"zoo/healthy_sleepers", {"--jobs", "4"}},
        {"zoo/healthy_processes_200", {"--cgroup", "killed"}},
    };
    std::mt19937 random(2024); // a fixed seed: the same moments each time
    std::uniform_int_distribution<int> from_the_start(0, 1500);
    std::uniform_int_distribution<int> from_the_scheduler(0, 900);
    const Directory out;
    const Traces before = Traces::now();
    const int kills = long_tests() ? 200 : 50;
    int while_enabled = 0;
    for (int i = 0; i < kills; ++i) {
        const auto& [program, options] = campaigns[static_cast<std::size_t>(i) % campaigns.size()];
        Process controller(endless(program, out.path(), options));
        // How long it takes to load the scheduler depends on the machine. So only every third
        // controller is killed at a random time after its start, the others at a random time after
        // loading.
        const bool early = i % 3 == 0;
        if (!early) {
            ASSERT_TRUE(wait_for_scheduler()) << controller.err();
        }
        const int after = early ? from_the_start(random) : from_the_scheduler(random);
        std::this_thread::sleep_for(milliseconds(after));
        while_enabled += scheduler_state() == "enabled";
        controller.kill(SIGKILL);
        ASSERT_EQ(128 + SIGKILL, controller.wait(seconds(10)))
            << program << " ended by itself: " << controller.err();
        const auto left = left_behind(before, seconds(5));
        ASSERT_TRUE(left.empty()) << program << ", killed " << after << " ms after the "
                                  << (early ? "start" : "scheduler was there") << ", left\n"
                                  << listed(left);
    }
    EXPECT_GT(while_enabled, kills / 3) << "killed before there was anything to clean up";

    // pctctl works again on this machine.
    const Call call = pctctl({"--runs", "3", "--", built("zoo/healthy_sync")});
    EXPECT_EQ(0, call.status) << call;
    EXPECT_TRUE(left_behind(before, seconds(5)).empty());
}

TEST(Termination, LeavesNothingAndReports) {
    const Traces before = Traces::now();
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
        const Directory out;
        const std::string file = out.path() + "/json";
        Process controller(
            endless("zoo/healthy_server", out.path(), {"--json", file, "--jobs", "2"}));
        ASSERT_TRUE(wait_for_scheduler());
        std::this_thread::sleep_for(milliseconds(800));
        controller.kill(signal);
        const int status = controller.wait(seconds(15));
        EXPECT_TRUE(status == 0 || status == 128 + signal) << status << controller.err();
        EXPECT_NE(std::string::npos, contents(file).find("\"runs_done\"")) << controller.err();
        const auto left = left_behind(before, seconds(5));
        EXPECT_TRUE(left.empty()) << listed(left);
    }
}

// A campaign that ends by itself leaves nothing either, even if its program becomes a daemon or
// deadlocks.
TEST(EndOfACampaign, LeavesNothing) {
    const Traces before = Traces::now();
    for (const char* program : {"zoo/healthy_daemon", "zoo/fork_lock_bug", "zoo/pid_file_bug"}) {
        const Call call = pctctl({"--runs", "20", "--keep-going", "--jobs", "2", "--cgroup", "ends",
                                  "--", built(program)});
        EXPECT_TRUE(call.reported) << call;
        // The kernel frees BPF programs a moment after their last user has gone.
        const auto left = left_behind(before, seconds(5));
        EXPECT_TRUE(left.empty()) << program << " left\n" << listed(left);
    }
}

// The kernel unloads the scheduler, here because SysRq-S asks for it. pctctl must print the
// kernel's reason, and must still report the runs that were done.
TEST(Ejection, IsExplainedAndKeepsTheResults) {
    const Traces before = Traces::now();
    for (const char* program : {"zoo/healthy_sync", "zoo/healthy_spin_flag"}) {
        const Directory out;
        const std::string file = out.path() + "/json";
        Process controller(endless(program, out.path(), {"--json", file, "--spin-limit", "0.1"}));
        ASSERT_TRUE(wait_for_scheduler()) << controller.err();
        const auto end = std::chrono::steady_clock::now() + seconds(60);
        while (controller.err().find("runs,") == std::string::npos &&
               std::chrono::steady_clock::now() < end)
            std::this_thread::sleep_for(milliseconds(50)); // until a first run is done
        std::ofstream("/proc/sysrq-trigger") << "S";
        EXPECT_EQ(3, controller.wait(seconds(60))) << controller.err();
        EXPECT_NE(std::string::npos, controller.err().find("disabled by sysrq-S"))
            << controller.err();
        const auto json = nlohmann::json::parse(contents(file), nullptr, false);
        ASSERT_TRUE(json.is_object()) << controller.err();
        EXPECT_GT(json.value("runs_done", 0), 0);
        EXPECT_EQ(json.value("runs_done", 0U), json["results"].size());
        const auto left = left_behind(before, seconds(5));
        EXPECT_TRUE(left.empty()) << listed(left);
    }
}

TEST(AnotherScheduler, IsNamedAndLeftAlone) {
    const Directory out;
    Process first(endless("zoo/healthy_sync", out.path(), {}));
    ASSERT_TRUE(wait_for_scheduler()) << first.err();
    std::string name = contents("/sys/kernel/sched_ext/root/ops");
    name = name.substr(0, name.find('\n'));
    ASSERT_FALSE(name.empty());

    const Call second = pctctl({"--runs", "3", "--", built("zoo/healthy_sync")});
    EXPECT_EQ(3, second.status) << second;
    EXPECT_FALSE(second.reported) << second;
    EXPECT_EQ(1U, lines(second.err).size()) << second;
    EXPECT_NE(std::string::npos, second.err.find(name)) << second;

    EXPECT_EQ("enabled", scheduler_state());
    first.kill(SIGINT);
    EXPECT_EQ(0, first.wait(seconds(15))) << first.err();
}

} // namespace
} // namespace vmtest
