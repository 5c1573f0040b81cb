// SPDX-License-Identifier: GPL-2.0-only
#include "plan/parameters.h"

#include <array>
#include <stdexcept>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace pctctl {
namespace {

using nlohmann::json;

TEST(Parameters, AreListedInTheirOrder) {
    ASSERT_EQ(all_parameters().size(), kParameters);
    for (std::size_t i = 0; i < kParameters; ++i)
        EXPECT_EQ(all_parameters()[i].id, static_cast<Parameter>(i));
}

TEST(Parameters, HaveDefaults) {
    const PolicyParameters none;
    EXPECT_EQ(none.value(Parameter::stride_edges), 1U);
    EXPECT_EQ(none.value(Parameter::radius), 10U);
    EXPECT_EQ(none.value(Parameter::pos_readonly), 1U);
    EXPECT_EQ(none.set_value(Parameter::preemptions), std::nullopt);
    EXPECT_EQ(none.text(Parameter::preemptions), "depth - 1");
    EXPECT_EQ(none.text(Parameter::pos_readonly), "on");
}

TEST(Parameters, WhatIsSetCountsInsteadOfTheDefaultAndOfTheBase) {
    PolicyParameters base;
    base.set(Parameter::stride_max, 7);
    base.set(Parameter::radius, 3);
    PolicyParameters said;
    said.set(Parameter::radius, 5);
    said.set(Parameter::pos_readonly, 0);
    const PolicyParameters both = said.over(base);
    EXPECT_EQ(both.value(Parameter::stride_max), 7U);
    EXPECT_EQ(both.value(Parameter::radius), 5U);
    EXPECT_EQ(both.text(Parameter::pos_readonly), "off");
    EXPECT_EQ(both.set_value(Parameter::preemptions), std::nullopt);
}

TEST(Parameters, WordsAreReadStrictly) {
    EXPECT_EQ(*parse_parameter(info(Parameter::stride_max), "1"), 1U);
    EXPECT_EQ(*parse_parameter(info(Parameter::preemptions), "0"), 0U);
    EXPECT_EQ(*parse_parameter(info(Parameter::preemptions), "64"), 64U);
    EXPECT_EQ(*parse_parameter(info(Parameter::pos_readonly), "off"), 0U);
    for (const char* word : {"", "0", "-1", "x", "1.5", "1000000001", "99999999999999999999"})
        for (const Parameter parameter : {Parameter::stride_max, Parameter::radius})
            EXPECT_FALSE(parse_parameter(info(parameter), word)) << word;
    EXPECT_FALSE(parse_parameter(info(Parameter::preemptions), "65"));
    for (const char* word : {"", "1", "ON", "yes", "true"})
        EXPECT_FALSE(parse_parameter(info(Parameter::pos_readonly), word)) << word;
}

TEST(Parameters, AreWrittenForThePoliciesThatHaveThem) {
    PolicyParameters set;
    set.set(Parameter::pos_readonly, 0);
    EXPECT_EQ(parameters_json(set, std::array{PCT_POLICY_NONE}), json::object());
    EXPECT_EQ(parameters_json(set, std::array{PCT_POLICY_PPCT}), json({{"final_wait", true}}));
    EXPECT_EQ(parameters_json(set, std::array{PCT_POLICY_STRIDE}),
              json({{"stride_max", nullptr}, {"stride_edges", 1}, {"final_wait", true}}));
    EXPECT_EQ(parameters_json(set, std::array{PCT_POLICY_POS, PCT_POLICY_RPRO}),
              json({{"pos_readonly", false}, {"radius", 10}, {"final_wait", true}}));
    EXPECT_EQ(parameters_json(set, std::array{PCT_POLICY_PREEMPT_BOUND}),
              json({{"preemptions", nullptr}, {"final_wait", true}}));
}

TEST(Parameters, WhatIsWrittenIsReadAgain) {
    PolicyParameters set;
    set.set(Parameter::skip_sequential, 0);
    set.set(Parameter::join_phases, 1);
    set.set(Parameter::final_wait, 0);
    set.set(Parameter::stride_max, 9);
    set.set(Parameter::stride_edges, 2);
    set.set(Parameter::radius, 8);
    set.set(Parameter::pos_readonly, 0);
    set.set(Parameter::preemptions, 0);
    set.set(Parameter::sleep_one_in, 30);
    set.set(Parameter::sleep_us, 7);
    for (const ParameterInfo& parameter : all_parameters()) {
        for (unsigned id = 0; id < PCT_NR_POLICIES; ++id) {
            const auto policy = static_cast<pct_policy>(id);
            if (!parameter.is_of(policy))
                continue;
            const PolicyParameters read =
                parameters_from(parameters_json(set, std::array{policy}), policy);
            EXPECT_EQ(read.set_value(parameter.id), set.set_value(parameter.id)) << parameter.field;
        }
    }
    // A default that is computed is not replaced by a number.
    PolicyParameters waits;
    waits.set(Parameter::final_wait, 1);
    EXPECT_EQ(parameters_from(json({{"preemptions", nullptr}, {"final_wait", true}}),
                              PCT_POLICY_PREEMPT_BOUND),
              waits);
}

json with_final_wait(json object) {
    if (object.is_object())
        object["final_wait"] = true;
    return object;
}

TEST(Parameters, NonsenseIsRefused) {
    for (const json& object :
         {json(3), json(nullptr), json::object(), json({{"radius", 0}}), json({{"radius", -1}}),
          json({{"radius", 4'000'000'000}}), json({{"radius", "20"}}), json({{"radius", nullptr}}),
          json({{"radius", 1.5}})})
        EXPECT_ANY_THROW(parameters_from(with_final_wait(object), PCT_POLICY_RPRO)) << object;
    EXPECT_NO_THROW(parameters_from(with_final_wait(json({{"radius", 1U}})), PCT_POLICY_RPRO));
    EXPECT_ANY_THROW(parameters_from(with_final_wait(json({{"pos_readonly", 1}})), PCT_POLICY_POS));
    // Of a version in which the policy had no final wait.
    EXPECT_ANY_THROW(parameters_from(json({{"radius", 1U}}), PCT_POLICY_RPRO));
    EXPECT_ANY_THROW(parameters_from(json({{"stride_max", 1}}), PCT_POLICY_PCT));
    EXPECT_ANY_THROW(
        parameters_from(with_final_wait(json({{"preemptions", 65}})), PCT_POLICY_PREEMPT_BOUND));
}

} // namespace
} // namespace pctctl
