// SPDX-License-Identifier: GPL-2.0-only
#include "sampling.h"

#include <algorithm>

namespace pctctl::model {

void draw_change_points(pct_policy_config& config, unsigned depth, unsigned k) {
    config.nr_change_points = 0;
    for (unsigned i = 1; i < depth; i++)
        config.change_points[config.nr_change_points++] = pct_change_point(config.seed, i, k);
    std::stable_sort(config.change_points, config.change_points + config.nr_change_points,
                     [](const auto& a, const auto& b) { return a.step < b.step; });
}

Interval interval(const Share& share, double z) {
    const double n = static_cast<double>(share.samples), p = share.value();
    const double middle = (p + z * z / (2 * n)) / (1 + z * z / n);
    const double half = z / (1 + z * z / n) * std::sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    return {middle - half, middle + half};
}

} // namespace pctctl::model
