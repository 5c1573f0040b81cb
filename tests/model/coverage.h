// SPDX-License-Identifier: GPL-2.0-only
// The micro benchmark of POS (CAV 2018, section 6.1): how evenly do algorithms cover the partial
// orders of programs whose threads never wait for each other?
#pragma once

#include "programs.h"
#include "sampling.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pctctl::model {

// A program whose threads have the same number of events each. accesses[i] events, in random
// places, access object i + 1. If asked for, half of the events, in random places, are read-only.
Program micro_program(unsigned threads, const std::vector<unsigned>& accesses, bool half_read,
                      Random& random);

struct PartialOrderFacts {
    std::unordered_map<std::uint64_t, double> random_walk; // exact probability, by hash
    unsigned max_preemptions = 0; // each partial order has a schedule with at most these
    unsigned max_races = 0;       // pairs of conflicting events that can be enabled together
};

// Finds all partial orders of a program without synchronization, of at most 4 threads and 16
// events. Events that only read do not conflict with each other.
PartialOrderFacts partial_order_facts(const Program& program);

// The hash of a schedule's partial order that partial_order_facts() uses.
class PartialOrderHash {
public:
    explicit PartialOrderHash(const Program& program);
    std::uint64_t operator()(const Schedule& schedule) const;

private:
    const Program& program_;
};

struct Coverage {
    double lowest;       // the lowest share of samples of a partial order
    std::size_t covered; // number of partial orders seen
};
Coverage coverage(const Program& program, const PartialOrderFacts& facts, pct_policy policy,
                  __u32 options, std::uint64_t samples, std::uint64_t seed);

} // namespace pctctl::model
