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

// A thread's time on a CPU without interruption.
struct Turn {
    std::size_t thread = 0;
    bool user_code = false; // surely some was executed; false: none, or it left no trace
};

class History {
public:
    static constexpr std::size_t none = static_cast<std::size_t>(-1);

    struct Thread {
        const pct_event* created = nullptr; // from the log; absent: the log does not know it
        std::uint32_t pid = 0;
        std::size_t creator = none; // index in threads(), from the witness
        bool controlled = true;     // created within sched_ext, from the witness
        bool seen = false;          // the witness has records of it
        bool starts_on_cpu = false; // it was on a CPU already when its records begin
    };

    // A log event or a witness record.
    struct Moment {
        std::uint64_t time_ns = 0;
        const pct_event* event = nullptr;
        const pct_witness_record* record = nullptr;
        std::size_t thread = none; // index in threads()
        std::size_t turn = none;   // index in turns(): the thread's at that time
    };

    // Refers to both spans, which must outlive it.
    History(std::span<const pct_event> log, std::span<const pct_witness_record> records);

    // Those of the log at their index there, then those the log does not know.
    const std::vector<Thread>& threads() const { return threads_; }
    const std::vector<Turn>& turns() const { return turns_; }
    // In order of time. Records of other runs, if any, are left out.
    const std::vector<Moment>& moments() const { return moments_; }
    // What is wrong with the log itself, a line each; then nothing else holds.
    const std::vector<std::string>& flaws() const { return flaws_; }

private:
    struct Life;
    void read_threads(std::span<const pct_event> log);
    void merge(std::span<const pct_event> log, std::span<const pct_witness_record> records);
    void ascribe();

    std::vector<Thread> threads_;
    std::vector<Turn> turns_;
    std::vector<Moment> moments_;
    std::vector<std::string> flaws_;
};

} // namespace pctctl
