// SPDX-License-Identifier: GPL-2.0-only
#include "report/commands.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "cli/options.h"
#include "pctctl/points.h"
#include "support/fake_executor.h"

namespace pctctl {
namespace {

using namespace std::chrono_literals;

TEST(ReplayCommand, OfAKeptRun) {
    EXPECT_EQ(replay_command({}, "pctctl-out/run-3"), "pctctl replay pctctl-out/run-3");
    EXPECT_EQ(replay_command({"build/pctctl", true, true}, "my out/run-3"),
              "sudo build/pctctl replay --vm 'my out/run-3'");
    EXPECT_EQ(replay_command({}, "-out/run-3"), "pctctl replay ./-out/run-3");
}

// The line that is printed is read back as the same run of the same program.
TEST(ReplayCommand, OfASeedCarriesEverythingThatDecides) {
    ExecutorOptions options;
    options.command = {"./app", "--runs", "a b", "--"};
    EXPECT_EQ(replay_command({}, RunSeed{10, 1}, options),
              "pctctl replay --seed 0000000a0000000000000001 -- ./app --runs 'a b' --");
    options.command = {"./app", "-x"};
    options.cgroup = "test";
    options.depth = 3;
    options.points = PCT_POINTS_PTHREAD;
    options.timeout = 1500ms;
    options.spin_limit = 0ns;
    options.user = "nobody";
    options.pids_limit = 9;
    options.policy = "stride";
    options.parameters.set(Parameter::stride_edges, 2);
    options.strides = {3, {{0xc0ffee, 12}, {1, 2}}};
    const std::string line = replay_command({}, RunSeed{10, 1}, options);
    std::vector<std::string> words;
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t space = std::min(line.find(' ', at), line.size());
        words.push_back(line.substr(at, space - at));
        at = space + 1;
    }
    const auto parsed = parse(words);
    ASSERT_TRUE(parsed) << line;
    const Options& read = std::get<Options>(*parsed);
    EXPECT_EQ(read.replay_seed, (RunSeed{10, 1}));
    const ExecutorOptions again = read.given.over({});
    EXPECT_EQ(again.command, options.command);
    EXPECT_EQ(again.cgroup, options.cgroup);
    EXPECT_EQ(again.depth, options.depth);
    EXPECT_EQ(again.policy, options.policy);
    EXPECT_EQ(again.parameters, options.parameters);
    EXPECT_EQ(again.strides, options.strides);
    EXPECT_EQ(again.points, options.points);
    EXPECT_EQ(again.timeout, options.timeout);
    EXPECT_EQ(again.spin_limit, options.spin_limit);
    EXPECT_EQ(again.user, options.user);
    EXPECT_EQ(again.pids_limit, options.pids_limit);
}

} // namespace
} // namespace pctctl
