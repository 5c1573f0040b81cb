// SPDX-License-Identifier: GPL-2.0-only
// Each policy has its file, its line and its page.
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
#define X(id, name, enforcement, appear, arrive, select, executed, block, wake, disturbed, stuck,  \
          description, guarantee)                                                                  \
    {name, description, guarantee},
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

// A seed saved with a number must mean the same policy for ever.
TEST(Table, NumbersAreFixed) {
    EXPECT_EQ(PCT_POLICY_PCT, 0);
    EXPECT_EQ(PCT_POLICY_NONE, 1);
    EXPECT_EQ(PCT_POLICY_RANDOM_WALK, 2);
    EXPECT_EQ(PCT_POLICY_ATOM_FUZZER, 12);
}

} // namespace
} // namespace pctctl::model
