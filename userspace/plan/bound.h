// SPDX-License-Identifier: GPL-2.0-only
// What the policies promise.
//
// pct: Burckhardt et al., ASPLOS 2010, Theorem 9 (section 3.3.3). ppct: Nagarakatte et al., PLDI
// 2012, Theorem 9 (section 6.5.3), the same formula. The program creates at most n threads and
// executes at most k steps. Then one run finds a given bug of depth d with probability at least 1 /
// (n k^(d-1)). A bug of smaller depth is found at least as often. The theorem wants k >=
// maxsteps(P) and n >= maxthreads(P). We measure both, so a campaign's statement is about the
// schedules no larger than the largest it has seen.
//
// rpro: for a bug of depth d > 2 whose change points lie within r steps of each other, 1 / (n k
// (d-1) r^(d-2)), by the proof of that theorem (policies/rpro.h). This does not cover bugs of
// smaller depth: the surplus change points always follow closely and cannot be out of the way.
//
// pos: Yuan, Yang, Gu, CAV 2018, Theorem 1, about partial orders, not bugs.
#pragma once

#include <cstdint>

namespace pctctl {

// What a policy's promise is about.
enum class Promise {
    nothing,
    depth,          // bugs of at most the depth
    radius,         // bugs of exactly the depth, within a radius
    partial_orders, // each partial order of a run's steps
};

constexpr bool is_about_depths(Promise promise) {
    return promise == Promise::depth || promise == Promise::radius;
}

// 1 / (n k^(d-1)), without overflow for any n, k, d. 0 if n, k or d is 0: then nothing was under
// control, and nothing can be said.
double run_bound(std::uint64_t n, std::uint64_t k, unsigned d);

// n k^(d-1) if it is below 2^53, and so exact as a double. Else 0.
std::uint64_t exact_odds(std::uint64_t n, std::uint64_t k, unsigned d);

// The same two for rpro, r >= 1. For d <= 2 it is PCT, whatever r is.
double rpro_bound(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r);
std::uint64_t exact_rpro_odds(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r);

// The least probability that pos takes a given partial order of V events with D races among P > 1
// threads: (1/P)^V R^U with R = P V / (V + D), U = (V - ceil(D / (P - 1))) / 2. A larger D than V
// (P - 1) counts as that: there the value is smallest, P^-V. 0 for P < 2, for V = 0, and below what
// a double holds.
double pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races);
// The natural logarithm of that, also where a double does not hold the bound. Minus infinity for 0.
double log_pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races);

// Logarithm of (1-p)^runs: the probability that none of `runs` finds the bug, if each does with
// probability `p`. As a logarithm neither it nor its complement loses digits. The product holds
// although a run's k depends on earlier runs: the random choices are independent, each run draws
// them from a stream of its own.
double log_miss(double p, std::uint64_t runs);

// The number of runs after which (1-p)^runs <= miss (0 < miss < 1). 0: no number is enough, or more
// than 10^15.
std::uint64_t runs_needed(double p, double miss);

} // namespace pctctl
