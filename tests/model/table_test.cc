// SPDX-License-Identifier: GPL-2.0-only
// Each policy has its file, its line in the table and its page in the documentation.
#include "dispatch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <string>

namespace pctctl::model {
namespace {

struct Line {
    std::string name, description, guarantee;
};

const Line kLines[] = {
#define X(id, ...)                                                                                 \
    {pct_definition_##id.name, pct_definition_##id.summary, pct_definition_##id.guarantee},
    PCT_POLICIES(X)
#undef X
};

TEST(Table, EachPolicyHasFileAndPage) {
    const std::filesystem::path root(PCTCTL_SOURCE_DIR);
    std::set<std::string> names;
    for (const Line& line : kLines) {
        EXPECT_TRUE(names.insert(line.name).second) << line.name;
        EXPECT_FALSE(line.description.empty());
        EXPECT_FALSE(line.guarantee.empty());
        EXPECT_TRUE(exists(root / "policies" / (line.name + ".h"))) << line.name;
        EXPECT_TRUE(exists(root / "docs/policies" / (line.name + ".md"))) << line.name;
    }
    for (const auto& page : std::filesystem::directory_iterator(root / "docs/policies"))
        EXPECT_TRUE(names.count(page.path().stem().string())) << page.path();
    EXPECT_EQ(names.size(), static_cast<std::size_t>(PCT_NR_POLICIES));
}

TEST(Table, PagesHaveTheirSections) {
    for (const Line& line : kLines) {
        std::ifstream file(std::filesystem::path(PCTCTL_SOURCE_DIR) / "docs/policies" /
                           (line.name + ".md"));
        const std::string page{std::istreambuf_iterator<char>(file), {}};
        for (const char* section : {"**Idea.**", "**Guarantee.**", "**When to choose it.**",
                                    "**Measured", "**Deviations"})
            EXPECT_NE(page.find(std::string("\n") + section), std::string::npos)
                << line.name << " lacks " << section;
    }
}

// Policy `none` defines one hook only, the one that gives a new thread its priority.
TEST(Table, AHookThatIsLeftOutDoesNothing) {
    pct_policy_config config{};
    config.policy = PCT_POLICY_NONE;
    pct_policy_run run{};
    pct_policy_thread thread{};
    pct_policy_view view{};
    view.enabled = 1;
    pct_policy_appear(&config, &run, &thread);
    EXPECT_EQ(thread.priority, PCT_PRIO_INITIAL);
    thread.event.object = 1;
    EXPECT_EQ(pct_policy_arrive(&config, &run, &thread, &view), 0U);
    EXPECT_EQ(pct_policy_select(&config, &run, &thread), PCT_REACT_NONE);
    pct_policy_block(&config, &run, &thread);
    pct_policy_wake(&config, &run, &thread);
    EXPECT_EQ(pct_policy_executed(&config, &run, &thread), PCT_REACT_NONE);
    pct_policy_disturbed(&config, &run, &thread, nullptr);
    EXPECT_EQ(pct_policy_stuck(&config, &run, &thread, &view, PCT_DEMOTE_SPIN, 1), PCT_REACT_NONE);
    EXPECT_EQ(thread.priority, PCT_PRIO_INITIAL);
    EXPECT_EQ(thread.draws, 0U);
    EXPECT_EQ(run.steps, 1U);
}

// The numbers of policies never change: what has been saved with a number must mean the same policy
// for ever.
TEST(Table, NumbersAreFixed) {
    EXPECT_EQ(PCT_POLICY_PCT, 0);
    EXPECT_EQ(PCT_POLICY_NONE, 1);
    EXPECT_EQ(PCT_POLICY_RANDOM_WALK, 2);
    EXPECT_EQ(PCT_POLICY_ATOM_FUZZER, 12);
}

} // namespace
} // namespace pctctl::model
