// SPDX-License-Identifier: GPL-2.0-only
// How long must strides be, in proportion to a thread, to meet the least likely order of two
// events? That order is that the thread ends before another one begins. M. Abdelrasoul, "Promoting
// Secondary Orders of Event Pairs in Randomized Scheduling using a Randomized Stride" (ASE 2017),
// section IV. Arithmetic only, since the model's tests use it as well.
#pragma once

#include <cstdint>

namespace pctctl {

// Probability of the least likely edge for length / stride_max = ratio: E[2^-N], N the number of
// strides, uniform in (0, 1), that make up the ratio. It is computed from the differential equation
// that it satisfies, f' = (f(x) - f(x-1)) / 2. The paper uses Monte Carlo; tests compare the two.
double least_likely_edge_of_ratio(double ratio);

// The largest ratio at which that edge has at least the probability; 0 < probability <= 1/2.
double ratio_for(double probability);

// The probability that an edge needs in one run, so that `runs` runs have a hit with the given
// confidence. A hit is one edge, or two independent edges in the same run.
double probability_per_run(double confidence, double runs, unsigned edges);

// L / s_max for a campaign that is to meet the least likely edges (1 or 2 of them in the same run)
// with 95 % confidence. Never below 1.
double stride_ratio(std::uint64_t runs, unsigned edges);

} // namespace pctctl
