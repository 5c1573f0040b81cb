// SPDX-License-Identifier: GPL-2.0-only
// Programs from the papers, families of programs with bugs of known depth, and random ones.
#pragma once

#include "directive.h"
#include "program.h"

#include <cstdint>
#include <optional>

namespace pctctl::model {

// Random numbers that are the same on every machine.
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

// From the summary of Cuzz, "An example": two threads of r and s instructions, r, s >= 2, with a
// bug of depth 2.
Program cuzz_example(unsigned r, unsigned s);

// A program for which PCT's bound is the exact probability: n >= 2 threads with a bug of depth d.
// Only one thread may have the lowest priority, and given the other priorities only one choice of
// change points finds the bug. The first two threads alternate d - 1 times, as in the POS example.
// The others have two events each.
struct DirectedProgram {
    Program program;
    Directive directive;
};
DirectedProgram tight_program(unsigned n, unsigned d);

// A deadlock of depth 2: two threads take two locks in opposite orders, with other events before
// and between.
Program abba_deadlock(unsigned before, unsigned between);

struct RandomProgramOptions {
    unsigned threads = 3, events = 3, objects = 2;
    unsigned read_percent = 0;
    bool locks = false; // some events are in critical sections
    bool forks = false; // the first thread starts the others at random places
};
Program random_program(const RandomProgramOptions& options, Random& random);

// A directive of size d that some schedule of the program satisfies. With first_events false, none
// of its labels is the first event of a thread (Definition 4, NotFirst).
std::optional<Directive> random_directive(const Program& program, unsigned d, bool first_events,
                                          Random& random);

// n threads. The first two or three are a random program that guarantees a random directive of size
// d. The others share a lock and have nothing to do with the bug.
DirectedProgram crowded_program(unsigned n, unsigned d, Random& random);

} // namespace pctctl::model
