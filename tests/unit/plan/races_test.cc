// SPDX-License-Identifier: GPL-2.0-only
// Races counted by hand: pairs of steps that conflict and that can be next at the same time.
#include "plan/races.h"

#include <gtest/gtest.h>

#include "policy.h"

namespace pctctl {
namespace {

constexpr Races::Access change(std::uint64_t object) {
    return {object, false, false};
}
constexpr Races::Access read(std::uint64_t object) {
    return {object, true, false};
}
constexpr Races::Access within(std::uint64_t object) {
    return {object, false, true};
}
constexpr Races::Access look(std::uint64_t object) {
    return {object, true, true};
}

using Step = std::vector<Races::Access>;

// Each thread makes one of the two steps.
std::uint64_t races_of(const Step& first, const Step& second) {
    Races races;
    races.step(0, first);
    races.step(1, second);
    EXPECT_EQ(2U, races.steps());
    return races.races();
}

TEST(Races, AreOfStepsThatDoNotCommute) {
    EXPECT_EQ(1U, races_of({change(1)}, {change(1)}));
    EXPECT_EQ(0U, races_of({change(1)}, {change(2)}));
    EXPECT_EQ(0U, races_of({}, {change(1)}));
    EXPECT_EQ(1U, races_of({read(1)}, {change(1)}));
    EXPECT_EQ(0U, races_of({read(1)}, {read(1)}));
    EXPECT_EQ(1U, races_of({read(1)}, {within(1)}));
    EXPECT_EQ(0U, races_of({within(1)}, {within(1)}));
    EXPECT_EQ(0U, races_of({look(1)}, {within(1)}));
    EXPECT_EQ(0U, races_of({look(1)}, {read(1)}));
    EXPECT_EQ(1U, races_of({look(1)}, {change(1)}));
}

TEST(Races, ArePairsOfStepsHoweverManyObjectsTheyShare) {
    EXPECT_EQ(1U, races_of({change(1), change(2)}, {change(2), change(1)}));
    EXPECT_EQ(1U, races_of({change(1), change(2)}, {change(3), change(2)}));
    EXPECT_EQ(0U, races_of({change(1), change(2)}, {change(3), change(4)}));
}

// A1 and B1 race for 1. B2 also acts on 1, but B1, which comes before it, comes behind A1. A2 and
// B2 race for 2: A1, behind which A2 is next, may come before B2.
TEST(Races, EndWhereAnOrderIsForced) {
    Races races;
    races.step(0, Step{change(1)});            // A1
    races.step(1, Step{change(1)});            // B1
    races.step(1, Step{change(1), change(2)}); // B2
    races.step(0, Step{change(2)});            // A2
    EXPECT_EQ(2U, races.races());
}

TEST(Races, SeeWhatThePolicySees) {
    pct_pending rename{};
    rename.object = 11;
    rename.more[0] = 13;
    rename.flags = PCT_PENDING_NAMES | (PCT_PENDING_NAMES | PCT_PENDING_WITHIN) << PCT_PENDING_BITS;
    pct_pending lookup{};
    lookup.object = 13;
    lookup.flags = PCT_PENDING_NAMES | PCT_PENDING_READ_ONLY | PCT_PENDING_WITHIN;
    pct_pending list{};
    list.object = 13;
    list.flags = PCT_PENDING_NAMES | PCT_PENDING_READ_ONLY;
    pct_pending any{};
    any.object = PCT_OBJECT_ANY(PCT_PENDING_NAMES);
    any.flags = PCT_PENDING_NAMES | PCT_PENDING_ANY | PCT_PENDING_READ_ONLY;
    pct_pending pipe{};
    pipe.object = 15;
    pipe.flags = PCT_PENDING_CHANNELS;
    const auto races = [](const pct_pending& a, const pct_pending& b, bool read_only) {
        pct_policy_config config{};
        config.options = read_only ? PCT_OPTION_READ_ONLY : 0;
        EXPECT_EQ(pct_conflict(&config, &a, &b), pct_conflict(&config, &b, &a));
        EXPECT_EQ(pct_conflict(&config, &a, &b) ? 1U : 0U,
                  races_of(accesses_of(a, read_only), accesses_of(b, read_only)));
        return races_of(accesses_of(a, read_only), accesses_of(b, read_only));
    };
    EXPECT_EQ(0U, races(rename, lookup, true));
    EXPECT_EQ(1U, races(rename, list, true));
    EXPECT_EQ(0U, races(list, lookup, true));
    EXPECT_EQ(1U, races(list, lookup, false));
    EXPECT_EQ(1U, races(list, list, false));
    EXPECT_EQ(0U, races(list, list, true));
    EXPECT_EQ(1U, races(any, rename, true));
    EXPECT_EQ(0U, races(any, list, true));
    EXPECT_EQ(0U, races(any, pipe, true));
}

} // namespace
} // namespace pctctl
