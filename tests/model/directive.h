// SPDX-License-Identifier: GPL-2.0-only
// Directives, and the directed scheduler (DirS) of PCT's proof (ASPLOS 2010, section 3.3; PLDI
// 2012, section 6). A directive is a list of ordering constraints that brings a bug about. For
// example A_1 = {use}, b_1 = initialize: the initialization comes too late.
#pragma once

#include "exact.h"
#include "program.h"

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace pctctl::model {

// Definition 5: b_i is executed after all of A_i and after b_(i-1). The paper's labels are the
// program's events here, of each thread in the order in which it executes them.
struct Directive {
    std::vector<std::vector<EventId>> before; // A_1 .. A_d
    std::vector<EventId> events;              // b_1 .. b_d, pairwise distinct
    std::size_t size() const { return events.size(); }
};

// Definition 6. A partial schedule can violate a directive, too.
bool violates(const Directive& directive, const Schedule& schedule);
bool satisfies(const Directive& directive, const Schedule& schedule);

// Does the directive guarantee the bug "the directive is satisfied"? That is condition 1 of
// Definition 7, and that every complete schedule either violates the directive or satisfies it.
// Tries all schedules of a small program.
bool guarantees(const Program& program, const Directive& directive);

// What has failed in an execution of DirS: an assertion of line 15, which may fail, or a lemma of
// the proof, which must not.
enum class Broken { kNot, kAssertion, kLemma13, kLemma14, kLemma15 };

struct DirectedExecution {
    Schedule schedule;
    Broken broken = Broken::kNot;   // kAssertion: DirS gives up, as it may
    std::vector<unsigned> asserted; // times that line 15 was executed, by i - 1
    bool succeeds() const { return broken == Broken::kNot; }
};

// Picks one of the admissible threads. If unset, the one of highest priority: then PPCT's DirS is
// PCT's.
using Choose = std::function<std::size_t(std::span<const Thread>)>;

// DirS: Fig. 8 of PCT, Fig. 5 of PPCT. With ChangeAt::kArrival a thread is at a label once it has
// arrived there, and length(S) is the number of arrivals.
DirectedExecution directed_execution(const Program& program, const Directive& directive,
                                     const PctRandomness& randomness, ChangeAt at,
                                     const Choose& choose = nullptr);

} // namespace pctctl::model
