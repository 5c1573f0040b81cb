// SPDX-License-Identifier: GPL-2.0-only
// How long a stride must be, in proportion to the thread, for the least likely order of two events:
// that the thread ends before another one begins. M. Abdelrasoul, "Promoting Secondary Orders of
// Event Pairs in Randomized Scheduling using a Randomized Stride" (ASE 2017), section IV.
// Arithmetic only: the model's tests use it as well.
#pragma once

#include <cstdint>

namespace pctctl {

// Probability of the least likely edge for length / stride_max = ratio: E[2^-N], N the number of
// strides, uniform in (0, 1), that make up the ratio. By the differential equation f' = (f(x) -
// f(x-1)) / 2 it satisfies, instead of the paper's Monte Carlo, with which tests compare it.
double least_likely_edge_of_ratio(double ratio);

// The largest ratio at which that edge has the probability; 0 < probability <= 1/2.
double ratio_for(double probability);

// What one run needs if in so many runs there is to be a hit with the given confidence: for one
// edge, or for each of two independent ones in the same run.
double probability_per_run(double confidence, double runs, unsigned edges);

// L / s_max for a campaign: the least likely edges (1 or 2 of them in the same run) are met with 95
// % confidence. Never below 1.
double stride_ratio(std::uint64_t runs, unsigned edges);

} // namespace pctctl
