// SPDX-License-Identifier: GPL-2.0-only
// One run's history: the scheduler's log and the witness's records on one time line, with every
// record ascribed to a thread of the log.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "pctctl/run.h"
#include "pctctl/witness.h"

namespace pctctl {

struct History {
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Thread {
        const pct_event* created = nullptr; // absent: the log does not know it
        std::uint32_t pid = 0;
        std::size_t creator = none;      // index in `threads`, from the witness
        bool controlled = true;          // created within sched_ext, from the witness
        bool starts_on_cpu = false;      // it was on a CPU already when its records begin
        std::uint64_t not_before_ns = 0; // its creator's last sign before the log tells of it
    };

    // A thread's time on a CPU without interruption.
    struct Turn {
        std::size_t thread = none;
        bool user_code = false; // some was executed for sure; false: none, or it left no trace
        bool slept = false;     // it ends with the thread asleep, at some time after
        std::uint64_t last_sign_ns = 0; // its beginning or its last step
    };

    // A log event or a witness record.
    struct Moment {
        std::uint64_t time_ns = 0;
        const pct_event* event = nullptr;
        const pct_witness_record* record = nullptr;
        std::size_t thread = none; // index in `threads`
        std::size_t turn = none;   // index in `turns`: the thread's at that time
    };

    std::vector<Thread> threads; // those of the log at their index there, then all others
    std::vector<Turn> turns;
    std::vector<Moment> moments;    // in order of time, without what happened to other runs
    std::vector<std::string> flaws; // of the log, a line each; with any, the rest is empty
};

// The result refers to both spans, which must outlive it.
History read_history(std::span<const pct_event> log, std::span<const pct_witness_record> records);

} // namespace pctctl
