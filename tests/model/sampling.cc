// SPDX-License-Identifier: GPL-2.0-only
#include "sampling.h"

#include "plan/policies.h"

#include <algorithm>
#include <string>

namespace pctctl::model {

void draw_change_points(pct_policy_config& config, unsigned depth, unsigned k,
                        const PolicyParameters& parameters) {
    const std::string policy(name_of(static_cast<pct_policy>(config.policy)));
    const pct_policy_config drawn =
        policy_config({.policy = policy, .depth = depth}, {k, config.seed}, parameters);
    config.nr_change_points = drawn.nr_change_points;
    config.change_range = drawn.change_range;
    std::copy_n(drawn.change_points, drawn.nr_change_points, config.change_points);
}

Interval interval(const Share& share, double z) {
    const double n = static_cast<double>(share.samples), p = share.value();
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {middle - half, middle + half};
}

ChiSquare chi_square(std::span<const double> probabilities, std::span<const std::uint64_t> counts) {
    double samples = 0;
    for (const std::uint64_t count : counts)
        samples += static_cast<double>(count);
    ChiSquare result{0, 0, 0};
    double rest_expected = 0, rest_count = 0;
    const auto add = [&](double expected, double count) {
        result.statistic += (count - expected) * (count - expected) / expected;
        result.classes++;
    };
    for (std::size_t i = 0; i < counts.size(); i++) {
        const double expected = probabilities[i] * samples, count = static_cast<double>(counts[i]);
        if (expected >= 5) {
            add(expected, count);
        } else {
            rest_expected += expected;
            rest_count += count;
        }
    }
    if (rest_expected > 0)
        add(rest_expected, rest_count);
    // Wilson and Hilferty's approximation of the quantile.
    const double df = std::max(1.0, static_cast<double>(result.classes) - 1), z = 4.2649;
    result.limit = df * std::pow(1 - 2 / (9 * df) + z * std::sqrt(2 / (9 * df)), 3);
    return result;
}

} // namespace pctctl::model
