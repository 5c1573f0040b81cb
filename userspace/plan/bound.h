// SPDX-License-Identifier: GPL-2.0-only
// What the policies promise.
//
// pct: Burckhardt et al., ASPLOS 2010, Theorem 9 (section 3.3.3); ppct: Nagarakatte et al., PLDI
// 2012, Theorem 9 (section 6.5.3), the same formula. For a program that creates at most n threads
// and executes at most k steps, one run finds a given bug of depth d with probability at least 1 /
// (n k^(d-1)). The theorem wants k >= maxsteps(P) and n >= maxthreads(P); both are measured here,
// so what a campaign states is about the schedules no larger than the largest it has seen. A bug of
// smaller depth is found at least as often.
//
// rpro: for a bug of depth d whose change points lie within r steps of each other, 1 / (n k (d-1)
// r^(d-2)) for d > 2, by the proof of that theorem (policies/rpro.h). Not of bugs of smaller depth:
// the points drawn too many always follow closely.
//
// pos: Yuan, Yang, Gu, CAV 2018, Theorem 1, about partial orders, not bugs.
#pragma once

#include <cstdint>

namespace pctctl {

// What a policy's promise is about.
enum class Promise {
    nothing,
    depth,          // bugs of at most the depth
    radius,         // bugs of the depth, within a radius
    partial_orders, // each partial order of a run's steps
};

// 1 / (n k^(d-1)), without overflow for any n, k, d; 0 when n, k or d is 0: then nothing was
// controlled and nothing can be said.
double run_bound(std::uint64_t n, std::uint64_t k, unsigned d);

// n k^(d-1) when it is below 2^53, so exact as a double; else 0.
std::uint64_t exact_odds(std::uint64_t n, std::uint64_t k, unsigned d);

// The same two for rpro; r >= 1. For d <= 2 it is PCT, whatever r.
double rpro_bound(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r);
std::uint64_t exact_rpro_odds(std::uint64_t n, std::uint64_t k, unsigned d, std::uint64_t r);

// (1/P)^V R^U with R = P V / (V + D), U = (V - ceil(D / (P - 1))) / 2: the probability, at least,
// that pos takes a given partial order of V events with D races among P > 1 threads. D counts at
// most V (P - 1), where this has its smallest value P^-V. 0 for P < 2, for V = 0, and below what a
// double holds.
double pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races);
// Its natural logarithm, also where a double does not hold the bound; minus infinity for 0.
double log_pos_bound(std::uint64_t threads, std::uint64_t events, std::uint64_t races);

// Logarithm of the probability (1-p)^runs that none of `runs` finds the bug, when each does with
// probability `p`; a logarithm, since neither it nor its complement must lose digits. The runs'
// random choices are independent (each is drawn from its own stream), so the product holds although
// k of a run depends on what earlier runs have shown.
double log_miss(double p, std::uint64_t runs);

// The number of runs after which (1-p)^runs <= miss (0 < miss < 1); 0: none is enough, or more than
// 10^15.
std::uint64_t runs_needed(double p, double miss);

} // namespace pctctl
