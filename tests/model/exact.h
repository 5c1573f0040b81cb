// SPDX-License-Identifier: GPL-2.0-only
// Exact probabilities of the algorithms, computed from their descriptions in the papers. This
// shares no code with the policies, so that it can check them. For programs without kYield, kPoll
// and condition waits.
#pragma once

#include "program.h"
#include "rational.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace pctctl::model {

// Visits every complete schedule, in lexical order, with the state at its end.
void for_each_schedule(const Program& program,
                       const std::function<void(const Schedule&, const State&)>& visit);

using Predicate = std::function<bool(const Schedule&, const State&)>;

// A uniform choice among the enabled threads at each step.
Rational random_walk_probability(const Program& program, const Predicate& predicate);

// PCT: RandS of Fig. 7 (ASPLOS 2010), over all permutations and all change points in 1 .. k.
enum class ChangeAt {
    kCompletion, // as printed: the priority changes after the k_i-th step
    kArrival,    // as in pct.h: before the k_i-th step, steps counted when a thread arrives, and of
                 // several k_i at one step the highest priority prevails, not the lowest
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

// A text that is the same for two schedules of a program if they have the same partial order (POS,
// section 3): the order of the events on each object. With read_only, the order of events that only
// read an object between two changes does not count. For programs without jumps.
std::string partial_order(const Program& program, const Schedule& schedule, bool read_only);

// Distributions over complete schedules, under serial policies other than PCT. For programs of few
// threads and events, without kFork unless said otherwise.
using Schedules = std::map<Schedule, Rational>;
Schedules random_walk_schedules(const Program& program);
Schedules preempt_always_schedules(const Program& program);
Schedules pos_schedules(const Program& program, PosOptions options);
// A thread, chosen uniformly, makes s steps, s uniform in 1 .. stride_max (stride paper, section
// IV).
Schedules stride_schedules(const Program& program, unsigned stride_max);
// That many preemptions, at independent uniform steps in 1 .. k. Steps are counted when a thread
// arrives at them, also the first ones of the threads.
Schedules preempt_bound_schedules(const Program& program, unsigned preemptions, unsigned k);
// Before a thread acquires a lock again that it has held, another thread goes first.
Schedules atom_fuzzer_schedules(const Program& program);

// Distributions over partial orders.
using PartialOrders = std::map<std::string, Rational>;
PartialOrders partial_orders(const Program& program, const Schedules& schedules, bool read_only);
// RAPOS, from the description in rapos.h: the POS paper names it, but does not print it. kFork is
// allowed.
PartialOrders rapos_partial_orders(const Program& program, bool read_only);

} // namespace pctctl::model
