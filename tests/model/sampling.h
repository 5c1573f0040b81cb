// SPDX-License-Identifier: GPL-2.0-only
// Samples the policies' code. Seeds are fixed, so the result is the same every time.
#pragma once

#include "mechanism.h"
#include "plan/parameters.h"

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace pctctl::model {

// A configuration for the policy, with neither change points nor options.
inline pct_policy_config config_for(pct_policy policy) {
    pct_policy_config config{};
    config.policy = policy;
    config.stride_max = 1;
    config.sleep_one_in = 1;
    return config;
}

// Sets what the controller draws for the policy and seed of the configuration: change points in 1
// .. k.
void draw_change_points(pct_policy_config& config, unsigned depth, unsigned k,
                        const PolicyParameters& parameters = {});

struct Share {
    std::uint64_t hits = 0, samples = 0;
    double value() const { return static_cast<double>(hits) / static_cast<double>(samples); }
};

// Wilson's score interval for the probability, with 99.9 % confidence.
struct Interval {
    double low, high;
    bool contains(double p) const { return low <= p && p <= high; }
};
Interval interval(const Share& share, double z = 3.2905);

// Runs the program once for each run seed of a campaign seed. prepare(config) sets what else
// depends on the run seed. hit(mechanism) tells whether the run counts as a hit.
template <typename Prepare, typename Hit>
Share sample(Mechanism& mechanism, pct_policy_config config, std::uint64_t samples,
             std::uint64_t seed, Prepare prepare, Hit hit) {
    Share share;
    for (; share.samples < samples; share.samples++) {
        config.seed = pct_random(seed, PCT_RAND_RUN_SEED, share.samples);
        prepare(config);
        mechanism.run(config);
        share.hits += hit(mechanism);
    }
    return share;
}

// Do the counts follow the distribution? Pearson's chi-square test. By chance, the statistic
// exceeds the limit in one of 100,000 cases: there are about a hundred such tests, which makes 99.9
// % confidence for all together. Classes with an expected count below five are merged.
struct ChiSquare {
    double statistic, limit;
    std::size_t classes;
    bool fits() const { return statistic <= limit; }
};
ChiSquare chi_square(std::span<const double> probabilities, std::span<const std::uint64_t> counts);

inline bool long_tests() {
    return std::getenv("PCTCTL_LONG_TESTS") != nullptr;
}

} // namespace pctctl::model
