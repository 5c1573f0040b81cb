// SPDX-License-Identifier: GPL-2.0-only
// PCT's probability of finding a bug: Burckhardt et al., ASPLOS 2010, Theorem 9 (section 3.3.3).
//
// For a program that creates at most n threads and executes at most k steps, one run finds a given
// bug of depth d with probability at least 1 / (n k^(d-1)). The theorem wants k >= maxsteps(P) and
// n >= maxthreads(P); both are measured here, so what a campaign states is about the schedules no
// larger than the largest it has seen. A bug of smaller depth is found at least as often.
#pragma once

#include <cstdint>

namespace pctctl {

// 1 / (n k^(d-1)), without overflow for any n, k, d; 0 when n, k or d is 0: then nothing was
// controlled and nothing can be said.
double run_bound(std::uint64_t n, std::uint64_t k, unsigned d);

// n k^(d-1) when it is below 2^53, so exact as a double; else 0.
std::uint64_t exact_odds(std::uint64_t n, std::uint64_t k, unsigned d);

// Probability that at least one of `runs` finds the bug, when each does with probability `p`:
// 1 - (1-p)^runs. The runs' random choices are independent (each is drawn from its own stream), so
// the product holds although k of a run depends on what earlier runs have shown.
double campaign_bound(double p, std::uint64_t runs);

// Its complement (1-p)^runs; not 1 - campaign_bound(), which loses digits.
double campaign_miss(double p, std::uint64_t runs);

// The number of runs after which campaign_miss() <= miss (0 < miss < 1); 0: none is enough, or more
// than 10^15.
std::uint64_t runs_needed(double p, double miss);

} // namespace pctctl
