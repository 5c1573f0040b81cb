// SPDX-License-Identifier: GPL-2.0-only
// Programs from the papers, families of programs with bugs of known depth, and random ones.
#pragma once

#include "directive.h"
#include "program.h"

#include <cstdint>
#include <optional>

namespace pctctl::model {

// The same numbers on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : seed_(seed) {}
    std::uint64_t next();
    std::size_t below(std::size_t n) { return static_cast<std::size_t>(next() % n); }

private:
    std::uint64_t seed_, count_ = 0;
};

// POS (CAV 2018), Fig. 2: threads A and B, objects x, y, w, z. The bug is one total order.
Program pos_running_example();

// The same threads, of which one has just created the others, as stepwise policies have that: each
// has an event more, at its beginning or behind the creation, that nobody else sees.
Program just_created(Program program);

// The summary of Cuzz, "An example": threads of r and s instructions, r, s >= 2; a bug of depth 2.
Program cuzz_example(unsigned r, unsigned s);

// The lower bound is reached: n >= 2 threads, k steps at most, a bug of depth d which only one
// choice of the lowest thread and, given the other priorities, of the change points finds. The
// first two threads alternate d - 1 times as in the POS example; the others have two events each.
struct DirectedProgram {
    Program program;
    Directive directive;
};
DirectedProgram tight_program(unsigned n, unsigned d);

// Two locks taken in opposite orders, with other events before, between and after: depth 2.
Program abba_deadlock(unsigned before, unsigned between);

struct RandomProgramOptions {
    unsigned threads = 3, events = 3, objects = 2;
    unsigned read_percent = 0;
    bool locks = false; // events in pairs, within a critical section, now and then
    bool forks = false; // the first thread starts the others at random places
};
Program random_program(const RandomProgramOptions& options, Random& random);

// A directive of size d that some schedule of the program satisfies. With first_events false, none
// of its labels is its thread's first event (Definition 4, NotFirst).
std::optional<Directive> random_directive(const Program& program, unsigned d, bool first_events,
                                          Random& random);

// n threads, the first two or three of which are a random program that guarantees a random
// directive of size d; the others share a lock, and have nothing to do with it.
DirectedProgram crowded_program(unsigned n, unsigned d, Random& random);

} // namespace pctctl::model
