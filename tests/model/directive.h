// SPDX-License-Identifier: GPL-2.0-only
// Directives, and the directed scheduler (DirS) of PCT's proof (ASPLOS 2010, section 3.3; PLDI
// 2012, section 6). A directive is a list of ordering constraints that brings a bug about.
#pragma once

#include "exact.h"
#include "program.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pctctl::model {

// Definition 5. The labels are the program's events: those of a thread in the order in which it
// executes them.
struct Directive {
    std::vector<std::vector<EventId>> before; // A_1 .. A_d
    std::vector<EventId> events;              // b_1 .. b_d, pairwise distinct
    std::size_t size() const { return events.size(); }
};

// Definition 6; the first of partial schedules too.
bool violates(const Directive& directive, const Schedule& schedule);
bool satisfies(const Directive& directive, const Schedule& schedule);

// Definition 7, condition 1, and that complete schedules which do not violate the directive satisfy
// it, over all schedules of a small program: the directive guarantees the bug "the directive is
// satisfied".
bool guarantees(const Program& program, const Directive& directive);

enum class Broken { kNot, kAssertion, kLemma13, kLemma14, kLemma15 };

struct DirectedExecution {
    Schedule schedule;
    Broken broken = Broken::kNot;   // kAssertion: DirS fails, by intention; lemmas: the proof does
    std::vector<unsigned> asserted; // how often the assertion of line 15 was executed, by i - 1
    bool succeeds() const { return broken == Broken::kNot; }
};

// Picks one of the admissible threads; unset: the one of highest priority, which makes PPCT's DirS
// PCT's.
using Choose = std::function<std::size_t(std::span<const Thread>)>;

// DirS, Fig. 8 (PCT) and Fig. 5 (PPCT). With ChangeAt::kArrival a thread is at a label when it
// arrives there, and length(S) is the number of arrivals.
DirectedExecution directed_execution(const Program& program, const Directive& directive,
                                     const PctRandomness& randomness, ChangeAt at,
                                     const Choose& choose = nullptr);

} // namespace pctctl::model
