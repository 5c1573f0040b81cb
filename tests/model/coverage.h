// SPDX-License-Identifier: GPL-2.0-only
// The micro benchmark of POS (CAV 2018, section 6.1): how evenly do algorithms cover the partial
// orders of programs whose threads are independent, without synchronization?
#pragma once

#include "programs.h"
#include "sampling.h"

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace pctctl::model {

// A program of threads with the same number of events each. accesses[i] events are on object i + 1,
// in random places. If asked for, half of the events, in random places, are read-only.
Program micro_program(unsigned threads, const std::vector<unsigned>& accesses, bool half_read,
                      Random& random);

struct PartialOrderFacts {
    std::unordered_map<std::uint64_t, double> random_walk; // exact probability by partial order
    unsigned max_preemptions = 0; // needed for the hardest partial order, in its easiest schedule
    unsigned max_races = 0;       // pairs of conflicting events that can be enabled together
};

// All partial orders of a program without synchronization, of at most 4 threads and 16 events;
// events that only read do not conflict with each other.
PartialOrderFacts partial_order_facts(const Program& program);

// Hash of a schedule's partial order, as in partial_order_facts().
class PartialOrderHash {
public:
    explicit PartialOrderHash(const Program& program);
    std::uint64_t operator()(const Schedule& schedule) const;

private:
    const Program& program_;
};

struct Coverage {
    double lowest;       // lowest share of samples over all partial orders
    std::size_t covered; // partial orders seen
};
Coverage coverage(const Program& program, const PartialOrderFacts& facts, pct_policy policy,
                  __u32 options, std::uint64_t samples, std::uint64_t seed);

} // namespace pctctl::model
