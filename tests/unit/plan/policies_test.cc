// SPDX-License-Identifier: GPL-2.0-only
#include "plan/policies.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

constexpr RunSeed kSeed{1000, 42};

pct_policy_config config(const std::string& policy, unsigned depth,
                         const PolicyParameters& parameters) {
    return policy_config({.policy = policy, .depth = depth}, kSeed, parameters);
}

PolicyParameters with(Parameter parameter, std::uint64_t value) {
    PolicyParameters parameters;
    parameters.set(parameter, value);
    return parameters;
}

TEST(PolicyConfig, TakesTheStrides) {
    const auto c = policy_config({.policy = "stride", .strides = {20, {{7, 3}, {9, 40}}}}, kSeed);
    EXPECT_EQ(c.stride_max, 20U);
    ASSERT_EQ(c.nr_strides, 2U);
    EXPECT_EQ(c.strides[1].identity, 9U);
    EXPECT_EQ(c.strides[1].stride_max, 40U);
}

TEST(PolicyConfig, TakesTheRadius) {
    for (const unsigned radius : {1U, 7U, 300U}) {
        std::set<std::uint64_t> spreads;
        for (std::uint64_t stream = 0; stream < 200; ++stream) {
            const auto c = policy_config({.policy = "rpro", .depth = 4}, {1000, stream},
                                         with(Parameter::radius, radius));
            ASSERT_EQ(c.nr_change_points, 3U);
            spreads.insert(c.change_points[2].step - c.change_points[0].step);
        }
        // The last of the points that follow the first is 1 .. radius steps after it.
        EXPECT_GE(*spreads.begin(), 1U);
        EXPECT_LE(*spreads.rbegin(), radius);
        EXPECT_GT(*spreads.rbegin(), radius / 2);
    }
}

TEST(PolicyConfig, ReadOnlyEventsRaceOnlyIfAskedFor) {
    EXPECT_TRUE(config("pos", 2, {}).options & PCT_OPTION_READ_ONLY);
    EXPECT_FALSE(config("pos", 2, with(Parameter::pos_readonly, 0)).options & PCT_OPTION_READ_ONLY);
    EXPECT_TRUE(config("pos", 2, with(Parameter::pos_readonly, 1)).options & PCT_OPTION_READ_ONLY);
    // The option belongs to pos alone.
    EXPECT_TRUE(config("rapos", 2, with(Parameter::pos_readonly, 0)).options &
                PCT_OPTION_READ_ONLY);
}

TEST(PolicyConfig, TakesOddsAndLengthOfSleeps) {
    EXPECT_EQ(config("random-sleep", 2, {}).sleep_one_in, 50U);
    EXPECT_EQ(config("random-sleep", 2, {}).sleep_ns, 1'000'000U);
    EXPECT_EQ(config("random-sleep", 2, with(Parameter::sleep_one_in, 30)).sleep_one_in, 30U);
    EXPECT_EQ(config("random-sleep", 2, with(Parameter::sleep_us, 20)).sleep_ns, 20'000U);
}

TEST(PolicyConfig, TakesTheNumberOfPreemptions) {
    EXPECT_EQ(config("preempt-bound", 3, {}).nr_change_points, 2U);
    for (const unsigned n : {0U, 1U, 64U}) {
        const auto c = config("preempt-bound", 3, with(Parameter::preemptions, n));
        EXPECT_EQ(c.nr_change_points, n);
        EXPECT_TRUE(std::all_of(c.change_points, c.change_points + n,
                                [](const auto& p) { return p.step >= 1 && p.step <= 1000; }));
    }
    EXPECT_EQ(config("pct", 3, with(Parameter::preemptions, 9)).nr_change_points, 2U);
    // The run that measures k has none.
    EXPECT_EQ(policy_config({.policy = "preempt-bound", .depth = 3}, {0, 42},
                            with(Parameter::preemptions, 5))
                  .nr_change_points,
              0U);
}

TEST(CheckParameters, EachBelongsToItsPolicies) {
    for (const PolicyInfo& policy : known_policies()) {
        EXPECT_TRUE(check_parameters({}, policy.name));
        for (const ParameterInfo& parameter : all_parameters()) {
            const Status ok = check_parameters(with(parameter.id, 1), policy.name);
            EXPECT_EQ(bool(ok), parameter.is_of(policy.id)) << policy.name << parameter.option;
            if (!ok) {
                EXPECT_EQ(ok.error().status, ExitStatus::usage);
            }
        }
    }
    EXPECT_EQ(check_parameters(with(Parameter::radius, 5), "pct").error().message,
              "--radius is an option of policy rpro, not of pct (see pctctl policies)");
}

TEST(CheckParameters, TheFinalWaitIsThatOfAllWhichDecide) {
    for (const PolicyInfo& policy : known_policies()) {
        const bool decides = policy.name != "none" && policy.name != "random-sleep";
        EXPECT_EQ(info(Parameter::final_wait).is_of(policy.id), decides) << policy.name;
        const auto waits = [&](const PolicyParameters& parameters) {
            return (config(std::string(policy.name), 2, parameters).options &
                    PCT_OPTION_FINAL_WAIT) != 0;
        };
        EXPECT_EQ(waits({}), decides) << policy.name;
        EXPECT_EQ(waits(with(Parameter::final_wait, 1)), decides) << policy.name;
        EXPECT_FALSE(waits(with(Parameter::final_wait, 0))) << policy.name;
    }
    EXPECT_NE(check_parameters(with(Parameter::final_wait, 0), "none")
                  .error()
                  .message.find("--final-wait is an option of policy pct or "),
              std::string::npos);
}

TEST(CheckParameters, OneOfAPortfolioIsEnough) {
    EXPECT_TRUE(check_parameters(with(Parameter::radius, 5), "pct,rpro"));
    EXPECT_EQ(check_parameters(with(Parameter::radius, 5), "pct,pos").error().message,
              "--radius is an option of policy rpro, not of pct,pos (see pctctl policies)");
}

TEST(Portfolio, IsAListOfDifferentPolicies) {
    EXPECT_EQ(*portfolio("pct"), std::vector<std::string>{"pct"});
    EXPECT_EQ(*portfolio("pos,pct,random-walk"),
              (std::vector<std::string>{"pos", "pct", "random-walk"}));
    EXPECT_EQ(portfolio_ids("pos,pct"), (std::vector{PCT_POLICY_POS, PCT_POLICY_PCT}));
    for (const char* list : {"", ",", "pct,", ",pct", "pct,,pos", "pct, pos", "cfs", "pct,cfs"}) {
        const auto names = portfolio(list);
        ASSERT_FALSE(names) << list;
        EXPECT_EQ(names.error().status, ExitStatus::usage);
        EXPECT_NE(names.error().message.find("known: pct, "), std::string::npos);
    }
    EXPECT_EQ(portfolio("pct,pos,pct").error().message, "policy 'pct' is named twice");
}

// As the policies' papers say.
TEST(Promise, OfEachPolicy) {
    EXPECT_EQ(promise_of(PCT_POLICY_PCT), Promise::depth);
    EXPECT_EQ(promise_of(PCT_POLICY_PPCT), Promise::depth);
    EXPECT_EQ(promise_of(PCT_POLICY_RPRO), Promise::radius);
    EXPECT_EQ(promise_of(PCT_POLICY_POS), Promise::partial_orders);
    EXPECT_EQ(promise_of(PCT_POLICY_BASIC_POS), Promise::nothing);
    EXPECT_EQ(promise_of(PCT_POLICY_STRIDE), Promise::nothing);
    EXPECT_EQ(promise_of(PCT_POLICY_RANDOM_WALK), Promise::nothing);
}

TEST(PoliciesText, ShowsGuaranteeAndParametersOfEach) {
    const std::string text = policies_text();
    const auto has = [&text](const char* part) {
        EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
    };
    has("pct             random priorities");
    has("guarantee: a bug of depth d: at least 1/(n k^(d-1)) in each run");
    has("parameters: --depth D|auto (auto), --final-wait on|off (on)\n");
    has("parameters: --depth D|auto (auto), --final-wait on|off (on), --radius N (10)\n");
    has("parameters: --final-wait on|off (on), --stride-max N (from thread lengths), "
        "--stride-edges N (1)\n");
    has("parameters: --final-wait on|off (on), --pos-readonly on|off (on)\n");
    has("parameters: --depth D|auto (auto), --final-wait on|off (on), --preemptions N (depth - "
        "1)\n");
    has("parameters: --sleep-one-in N (50), --sleep-us N (1000)\n");
    has("parameters: none\n");
    // Three lines for each policy.
    EXPECT_EQ(static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')),
              3 * known_policies().size());
}

} // namespace
} // namespace pctctl
