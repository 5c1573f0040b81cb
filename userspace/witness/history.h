// SPDX-License-Identifier: GPL-2.0-only
// The history of one run: the scheduler's log and the witness's records on one time line. Each
// record is assigned to a thread of the log.
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
    static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

    struct Thread {
        const pct_event* created = nullptr; // null: the log does not know it
        std::uint32_t pid = 0;
        std::size_t creator = kNone; // index in `threads`, by the witness
        bool controlled = true;      // created within sched_ext, by the witness
        bool starts_on_cpu = false;  // it was on a CPU already when its records begin
        // It was created after this: its creator's last sign before the log tells of it.
        std::uint64_t not_before_ns = 0;
    };

    // A thread's uninterrupted time on a CPU.
    struct Turn {
        std::size_t thread = kNone;
        bool user_code = false; // some was executed for sure; false: none, or it left no trace
        bool slept = false;     // the turn ends because the thread goes to sleep
        std::uint64_t last_sign_ns = 0; // its beginning, or its last step
    };

    // A log event or a witness record.
    struct Moment {
        std::uint64_t time_ns = 0;
        const pct_event* event = nullptr;
        const pct_witness_record* record = nullptr;
        std::size_t thread = kNone; // index in `threads`
        std::size_t turn = kNone;   // index in `turns`: the thread's at that time
    };

    // "thread 1 (pid 101)".
    std::string name(std::size_t thread) const;

    std::vector<Thread> threads; // those of the log at their index there, then all others
    std::vector<Turn> turns;
    std::vector<Moment> moments; // in order of time; nothing about other runs
    // Why the log cannot be read, a line each. If there are any, there are no moments.
    std::vector<std::string> flaws;
};

// The result refers to both spans, which must outlive it.
History read_history(std::span<const pct_event> log, std::span<const pct_witness_record> records);

} // namespace pctctl
