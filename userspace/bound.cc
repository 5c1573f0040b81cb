// SPDX-License-Identifier: GPL-2.0-only
#include "bound.h"

#include <cmath>

namespace pctctl {

double run_bound(std::uint64_t n, std::uint64_t k, unsigned d) {
    if (n == 0 || k == 0 || d == 0)
        return 0;
    if (const std::uint64_t odds = exact_odds(n, k, d))
        return 1 / static_cast<double>(odds);
    return std::exp(-std::log(static_cast<double>(n)) -
                    (d - 1.0) * std::log(static_cast<double>(k)));
}

std::uint64_t exact_odds(std::uint64_t n, std::uint64_t k, unsigned d) {
    constexpr std::uint64_t kExact = 1ULL << 53;
    if (n == 0 || k == 0 || d == 0 || n >= kExact)
        return 0;
    std::uint64_t odds = n;
    for (unsigned i = 1; i < d && k > 1; ++i) {
        if (odds > (kExact - 1) / k)
            return 0;
        odds *= k;
    }
    return odds;
}

double campaign_miss(double p, std::uint64_t runs) {
    if (runs == 0)
        return 1;
    return std::exp(static_cast<double>(runs) * std::log1p(-p));
}

double campaign_bound(double p, std::uint64_t runs) {
    if (runs == 0)
        return 0;
    return -std::expm1(static_cast<double>(runs) * std::log1p(-p));
}

std::uint64_t runs_needed(double p, double miss) {
    if (!(p > 0))
        return 0;
    if (p >= 1)
        return 1;
    const double runs = std::ceil(std::log(miss) / std::log1p(-p));
    return runs <= 1e15 ? static_cast<std::uint64_t>(runs) : 0;
}

} // namespace pctctl
