// SPDX-License-Identifier: GPL-2.0-only
#include "plan/stride_ratio.h"

#include <cmath>
#include <cstddef>
#include <vector>

namespace pctctl {
namespace {

constexpr double kConfidence = 0.95;

} // namespace

double least_likely_edge_of_ratio(double ratio) {
    constexpr std::size_t kSteps = 10'000; // per unit
    if (ratio <= 1)
        return 1 - std::exp(ratio / 2) / 2;
    std::vector<double> f(kSteps + 1);
    for (std::size_t i = 0; i <= kSteps; i++)
        f[i] = 1 - std::exp(static_cast<double>(i) / kSteps / 2) / 2;
    const auto end = static_cast<std::size_t>(std::ceil(ratio * kSteps));
    constexpr double kWidth = 1.0 / kSteps;
    while (f.size() <= end) { // the trapezoidal rule, solved for the new value
        const std::size_t i = f.size();
        const double old = f[i - 1] - f[i - 1 - kSteps];
        f.push_back((f[i - 1] + kWidth / 4 * (old - f[i - kSteps])) / (1 - kWidth / 4));
    }
    return f[end];
}

double ratio_for(double probability) {
    double low = 0, high = 1;
    while (least_likely_edge_of_ratio(high) > probability)
        high *= 2;
    for (int i = 0; i < 40; i++) {
        const double middle = (low + high) / 2;
        (least_likely_edge_of_ratio(middle) >= probability ? low : high) = middle;
    }
    return low;
}

double probability_per_run(double confidence, double runs, unsigned edges) {
    const double run = -std::expm1(std::log1p(-confidence) / runs);
    return std::pow(run, 1.0 / edges);
}

double stride_ratio(std::uint64_t runs, unsigned edges) {
    const double wanted = probability_per_run(kConfidence, static_cast<double>(runs), edges);
    return wanted < least_likely_edge_of_ratio(1) ? ratio_for(wanted) : 1;
}

} // namespace pctctl
