// SPDX-License-Identifier: GPL-2.0-only
// The programs of subjects.h behave as described, and show what the stride paper found about two
// families of them.
#include "edges.h"
#include "exact.h"
#include "plan/stride_ratio.h"
#include "sampling.h"
#include "subjects.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace pctctl::model {
namespace {

// Some schedules show the bug, some do not, and no thread waits for ever.
TEST(Subjects, HaveTheirBugs) {
    for (const Program& p : {reorder(2), reorder(3), twostage(2), work_stealing_queue(1, 1)}) {
        std::uint64_t all = 0, bugs = 0;
        for_each_schedule(p, [&](const Schedule& s, const State& end) {
            all++;
            bugs += p.bug(s, end);
            EXPECT_FALSE(end.deadlocked());
        });
        EXPECT_GT(bugs, 0u) << p.name;
        EXPECT_LT(bugs, all) << p.name;
    }
}

// Sets the strides from the lengths of the threads: the longest in some runs of the random walk.
void measure(const Program& p, pct_policy_config& config, double ratio) {
    Mechanism mechanism(p);
    std::vector<std::uint64_t> length(p.threads.size());
    sample(
        mechanism, config_for(PCT_POLICY_RANDOM_WALK), 100, 1, [](pct_policy_config&) {},
        [&](const Mechanism& m) {
            for (Thread t = 0; t < length.size(); t++)
                length[t] = std::max(length[t], m.steps(t));
            return true;
        });
    for (Thread t = 0; t < length.size() && config.nr_strides < PCT_MAX_STRIDES; t++)
        config.strides[config.nr_strides++] = {
            Mechanism::identity(t),
            static_cast<__u64>(std::ceil(static_cast<double>(length[t]) / ratio))};
}

// Section VI: reorder_10 is one of the bugs that the random walk misses and the stride finds, once
// or a few times. Both are a matter of chance. The test is whether the stride is clearly the better
// one.
TEST(Subjects, StrideFindsWhatTheRandomWalkMisses) {
    constexpr std::uint64_t runs = 10'000, samples = 100'000;
    const double ratio = ratio_for(probability_per_run(0.999, runs, 1));
    for (const Program& p : {reorder(6), reorder(8), reorder(10)}) {
        Mechanism mechanism(p);
        const auto found = [](const Mechanism& m) { return m.found_bug(); };
        const auto nothing = [](pct_policy_config&) {};
        const Share walk =
            sample(mechanism, config_for(PCT_POLICY_RANDOM_WALK), samples, 10, nothing, found);
        pct_policy_config config = config_for(PCT_POLICY_STRIDE);
        measure(p, config, ratio);
        const Share stride = sample(mechanism, config, samples, 10, nothing, found);
        EXPECT_GT(interval(stride).low, interval(walk).high) << p.name;
    }
}

} // namespace
} // namespace pctctl::model
