// SPDX-License-Identifier: GPL-2.0-only
// Exact probabilities of the algorithms, computed from their descriptions and sharing no code with
// the policies. For programs without kYield.
#pragma once

#include "program.h"
#include "rational.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pctctl::model {

// Every complete schedule, in lexical order, with the state at its end.
void for_each_schedule(const Program& program,
                       const std::function<void(const Schedule&, const State&)>& visit);

using Predicate = std::function<bool(const Schedule&, const State&)>;

// A uniform choice among the enabled threads at each step.
Rational random_walk_probability(const Program& program, const Predicate& predicate);

// The choice at each step is uniform, but another thread's than the last one's if there is one.
Rational preempt_always_probability(const Program& program, const Predicate& predicate);

// PCT, RandS of Fig. 7 (ASPLOS 2010), over all permutations and change points in 1 .. k.
enum class ChangeAt {
    kCompletion, // as printed: the priority changes after the k_i-th step
    kArrival,    // the priority changes before the k_i-th step, steps counted when a thread arrives
};
struct PctRandomness {
    std::vector<unsigned> rank;   // by thread, 0 .. n-1: pi(t) - 1
    std::vector<unsigned> change; // k_1 .. k_(d-1)
};
void for_each_pct_randomness(unsigned n, unsigned k, unsigned d,
                             const std::function<void(const PctRandomness&)>& visit);
struct Execution {
    Schedule schedule;
    State state;
};
Execution pct_execution(const Program& program, const PctRandomness& randomness, ChangeAt at);
Rational pct_probability(const Program& program, unsigned k, unsigned d, ChangeAt at,
                         const Predicate& predicate);

// POS, Algorithm 4 (CAV 2018), and BasicPOS, Algorithm 2, which never reassigns.
struct PosOptions {
    bool reassign = true;
    bool read_only = false; // two read-only events do not race
};
Rational pos_probability(const Program& program, PosOptions options, const Predicate& predicate);

// What distinguishes a schedule's partial order from others of the same program (POS section 3):
// the order of the events on each object. With read_only, between two changes of an object the
// order of the events that only read it does not count. For programs without jumps.
std::string partial_order(const Program& program, const Schedule& schedule, bool read_only);

// A uniform choice, as a distribution over partial orders.
std::map<std::string, Rational> random_walk_partial_orders(const Program& program, bool read_only);
std::map<std::string, Rational> pos_partial_orders(const Program& program, PosOptions options,
                                                   bool read_only);

} // namespace pctctl::model
