// SPDX-License-Identifier: GPL-2.0-only
// The final wait (PCT, section 4.2) under every policy that decides who goes first: a main thread
// that ends its process goes behind all others, whatever these do.
#include "sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <string>
#include <vector>

namespace pctctl::model {
namespace {

constexpr Object kShared = 1;

// What decides where the process ends: a step, or what comes between two.
Event end(bool is_step) {
    Event event = end_process();
    event.step = is_step;
    event.object = kShared; // whatever is executed there draws a new priority for it under pos
    return event;
}

// Main makes one step and ends the process, two others have four each.
Program two_left_behind(bool end_is_step) {
    Program p{.name = "two left behind"};
    p.threads = {{access(kShared), end(end_is_step)},
                 std::vector<Event>(4, access(kShared)),
                 {access(kShared), local(), access(2), access(kShared)}};
    return p;
}

std::vector<pct_policy> policies(bool serial_only) {
    std::vector<pct_policy> all;
    for (unsigned id = 0; id < PCT_NR_POLICIES; id++)
        if (pct_policy_config config = config_for(static_cast<pct_policy>(id));
            pct_is_serial(pct_policy_enforcement(&config)) ||
            (!serial_only && pct_policy_enforcement(&config) != PCT_ENFORCE_FREE))
            all.push_back(static_cast<pct_policy>(id));
    return all;
}

std::string name_of(const testing::TestParamInfo<pct_policy>& info) {
    constexpr const char* kNames[] = {
#define X(id, ...) #id,
        PCT_POLICIES(X)
#undef X
    };
    std::string name = kNames[info.param];
    std::erase(name, '_');
    return name;
}

class FinalWait : public testing::TestWithParam<pct_policy> {
protected:
    static Share all_executed(const Program& program, __u32 options) {
        pct_policy_config config = config_for(GetParam());
        config.options = options;
        config.stride_max = 3;
        std::size_t steps = 0;
        for (const auto& thread : program.threads)
            steps += static_cast<std::size_t>(std::ranges::count_if(thread, &Event::step));
        Mechanism mechanism(program);
        return sample(
            mechanism, config, 2000, 42 + GetParam(), [](pct_policy_config&) {},
            [&](const Mechanism& m) { return m.schedule().size() == steps; });
    }
};

TEST_P(FinalWait, LetsAllOthersEnd) {
    for (const bool end_is_step : {false, true}) {
        const Program program = two_left_behind(end_is_step);
        EXPECT_EQ(all_executed(program, PCT_OPTION_FINAL_WAIT).hits, 2000U) << end_is_step;
        const Share without = all_executed(program, 0);
        EXPECT_LT(without.hits, 1900U) << end_is_step;
    }
}

// Of one that is never blocked and never ends nobody can say so but by the signs.
class FinalWaitOfSerial : public FinalWait {};

TEST_P(FinalWaitOfSerial, EndsBesideOneThatYieldsForEver) {
    Program program{.name = "yields for ever"};
    program.threads = {{end_process()}, {{.op = Op::kYield, .effect = [](State&) { return 0; }}}};
    Mechanism mechanism(program);
    mechanism.set_max_steps(500); // a yield is a sign with 1/4
    pct_policy_config config = config_for(GetParam());
    config.options = PCT_OPTION_FINAL_WAIT;
    const Share ended = sample(
        mechanism, config, 200, 7, [](pct_policy_config&) {},
        [](const Mechanism& m) { return !m.cut_short(); });
    EXPECT_EQ(ended.hits, 200U);
}

INSTANTIATE_TEST_SUITE_P(Policy, FinalWait, testing::ValuesIn(policies(false)), name_of);
INSTANTIATE_TEST_SUITE_P(Policy, FinalWaitOfSerial, testing::ValuesIn(policies(true)), name_of);

} // namespace
} // namespace pctctl::model
