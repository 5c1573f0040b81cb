// SPDX-License-Identifier: GPL-2.0-only
// The races of a run's partial order: D of Theorem 1 in Yuan, Yang, Gu, "Partial Order Aware
// Concurrency Sampling" (CAV 2018), section 4.2.
//
// Two steps of different threads on the same object, not both read-only, race if both can be next
// in their threads at the same time. That is so if the step before the later one, in its thread,
// can come before the earlier one. Two steps may never be next at the same time because one enables
// the other in a way that is not seen here. They are counted all the same, which makes the
// theorem's probability smaller.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

namespace pctctl {

class Races {
public:
    // Adds the next step in the order of execution. Object 0 conflicts with nothing. Threads are
    // numbered from 0, without large gaps.
    void step(std::uint32_t thread, std::uint64_t object, bool read_only);

    std::uint64_t steps() const { return steps_; }
    std::uint64_t races() const { return races_; }

private:
    // A vector clock: for each thread, how many of its steps come before something, or at it.
    using Clock = std::vector<std::uint32_t>;
    struct Accesses {
        std::vector<std::uint32_t> all; // numbers of the thread's steps on the object, from 1
        std::vector<std::uint32_t> writes;
    };
    struct Object {
        std::unordered_map<std::uint32_t, Accesses> threads;
        Clock after_all; // joined over all its steps
        Clock after_writes;
    };

    static void join(Clock& clock, const Clock& other);

    std::vector<Clock> clocks_; // by thread: at its last step
    std::unordered_map<std::uint64_t, Object> objects_;
    std::uint64_t steps_ = 0;
    std::uint64_t races_ = 0;
};

} // namespace pctctl
