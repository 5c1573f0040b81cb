// SPDX-License-Identifier: GPL-2.0-only
#include "plan/bound.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>

namespace pctctl {
namespace {

struct Power {
    std::uint64_t base;
    unsigned exponent;
};

// The product of the powers. 0 if it is not below 2^53, or if one of the bases is 0.
std::uint64_t exact_product(std::initializer_list<Power> powers) {
    constexpr std::uint64_t kExact = 1ULL << 53;
    std::uint64_t product = 1;
    for (const Power& power : powers) {
        if (power.base == 0)
            return 0;
        for (unsigned i = 0; i < power.exponent && power.base > 1; ++i) {
            if (product > (kExact - 1) / power.base)
                return 0;
            product *= power.base;
        }
    }
    return product;
}

double one_in(std::initializer_list<Power> powers) {
    double logarithm = 0;
    for (const Power& power : powers) {
        if (power.base == 0)
            return 0;
        logarithm += power.exponent * std::log(static_cast<double>(power.base));
    }
    const std::uint64_t exact = exact_product(powers);
    return exact ? 1 / static_cast<double>(exact) : std::exp(-logarithm);
}

} // namespace

double run_bound(std::uint64_t n, std::uint64_t k, unsigned d) {
    return d == 0 ? 0 : one_in({{n, 1}, {k, d - 1}});
}

std::uint64_t exact_odds(std::uint64_t n, std::uint64_t k, unsigned d) {
    return d == 0 ? 0 : exact_product({{n, 1}, {k, d - 1}});
}

double rpro_bound(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r) {
    return d <= 2 ? run_bound(n, k, d) : one_in({{n, 1}, {k, 1}, {d - 1, 1}, {r, d - 2}});
}

std::uint64_t exact_rpro_odds(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r) {
    return d <= 2 ? exact_odds(n, k, d) : exact_product({{n, 1}, {k, 1}, {d - 1, 1}, {r, d - 2}});
}

double pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races) {
    return std::exp(log_pos_bound(threads, events, races));
}

double log_pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races) {
    if (threads < 2 || events == 0)
        return -std::numeric_limits<double>::infinity();
    const auto p = static_cast<double>(threads);
    const auto v = static_cast<double>(events);
    const double d = std::min(static_cast<double>(races), v * (p - 1));
    const double u = (v - std::ceil(d / (p - 1))) / 2;
    return -v * std::log(p) + u * std::log(p * v / (v + d));
}

double log_miss(double p, std::uint64_t runs) {
    return runs ? static_cast<double>(runs) * std::log1p(-p) : 0;
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
