// SPDX-License-Identifier: GPL-2.0-only
#include "policies.h"

#include <algorithm>
#include <iterator>
#include <vector>

#include <spdlog/fmt/fmt.h>

namespace pctctl {
namespace {

// See the policies' pages in docs/policies/.
constexpr unsigned kStrideMax = 20;
constexpr unsigned kRadius = 10;
constexpr unsigned kYieldsPerReset = 1000;
constexpr unsigned kSleepOneIn = 50;
constexpr std::uint64_t kSleepNs = 1'000'000;

constexpr PolicyInfo all[] = {
#define X(id, name, enforcement, appear, arrive, select, executed, block, wake, disturbed, stuck,  \
          summary, guarantee)                                                                      \
    {PCT_POLICY_##id, name, PCT_ENFORCE_##enforcement, summary, guarantee},
    PCT_POLICIES(X)
#undef X
};

} // namespace

std::span<const PolicyInfo> known_policies() {
    return all;
}

const PolicyInfo* find_policy(std::string_view name) {
    for (const PolicyInfo& policy : known_policies())
        if (policy.name == name)
            return &policy;
    return nullptr;
}

pct_policy_config policy_config(const PolicyInfo& policy, const RunSeed& seed, unsigned depth) {
    pct_policy_config config = {};
    config.seed = seed.stream;
    config.policy = policy.id;
    config.options = PCT_OPTION_READ_ONLY;
    config.stride_max = kStrideMax;
    config.yields_per_reset = kYieldsPerReset;
    config.sleep_one_in = kSleepOneIn;
    config.sleep_ns = kSleepNs;
    for (unsigned i = 1; seed.k > 0 && i < depth; ++i) {
        auto& point = config.change_points[config.nr_change_points++];
        if (policy.id == PCT_POLICY_RPRO)
            point = rpro_change_point(seed.stream, i, depth, seed.k, kRadius);
        else if (policy.id == PCT_POLICY_PREEMPT_BOUND)
            point = preempt_bound_point(seed.stream, i, seed.k);
        else
            point = pct_change_point(seed.stream, i, seed.k);
    }
    std::stable_sort(config.change_points, config.change_points + config.nr_change_points,
                     [](const auto& a, const auto& b) { return a.step < b.step; });
    return config;
}

bool is_parallel(const pct_policy_config& config) {
    return pct_policy_enforcement(&config) != PCT_ENFORCE_SERIAL;
}

bool is_stepwise(const pct_policy_config& config) {
    return config.policy != PCT_POLICY_PCT && config.policy != PCT_POLICY_RPRO &&
           !is_parallel(config);
}

// RPro's own bound needs the distance of a bug's events, which nobody knows.
bool has_bound(std::string_view policy) {
    return policy == "pct";
}

std::string policies_text() {
    std::string text;
    for (const PolicyInfo& policy : known_policies())
        text += fmt::format("{:<15} {}\n{:<15} guarantee: {}\n", policy.name, policy.summary, "",
                            policy.guarantee);
    return text;
}

} // namespace pctctl
