// SPDX-License-Identifier: GPL-2.0-only
// The probability that an event of one thread comes before an event of another, for two threads
// that never wait, under the random walk and the randomized stride: M. Abdelrasoul, "Promoting
// Secondary Orders of Event Pairs in Randomized Scheduling using a Randomized Stride" (ASE 2017),
// sections III and IV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace pctctl::model {

// Element [b][a]: the probability that the b-th event of one thread comes before the a-th event of
// another thread of the same length, 1 <= a, b <= length. Exact, for strides uniform in 1 ..
// stride_max; 1 is the random walk.
std::vector<std::vector<double>> edge_probabilities(std::size_t length, std::size_t stride_max);

// The same for the random walk by the paper's approximation, which is good for large b: the other
// thread has made a number of steps that is normally distributed, with mean b and variance 2 b.
double edge_by_formula(double a, double b);

// Of each pair of events the less likely order is the secondary one. Returns the share of pairs
// whose secondary order has at least this probability.
double coverable_secondary_orders(std::size_t length, std::size_t stride_max, double probability);

// The probability of the least likely order: a thread of the given length ends before another one
// begins.
double least_likely_edge(std::size_t length, std::size_t stride_max);

// The first thread creates the other one by the first of its `length` events, and has made all of
// them before the other one makes its second; that one's strides are uniform in 1 .. others_max.
double least_likely_edge_of_created(std::size_t length, std::size_t stride_max,
                                    std::size_t others_max);

// What least_likely_edge_of_ratio() computes, by sampling as in the paper, with fixed random
// numbers.
double least_likely_edge_by_sampling(double ratio, std::uint64_t samples);

} // namespace pctctl::model
