// SPDX-License-Identifier: GPL-2.0-only
// The independent witness: a BPF program of its own that records who ran when (pctctl/witness.h).
#pragma once

#include <sys/types.h>

#include <condition_variable>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/result.h"
#include "pctctl/witness.h"

struct witness_bpf; // the skeleton
struct ring_buffer;

namespace pctctl {

// Records from load() until its destruction. Load it before the scheduler. Thread-safe.
class Witness {
public:
    struct Options {
        unsigned policy = 7; // scheduling policy of the threads to watch: SCHED_EXT
    };

    // Keeps the records of one run, from its own creation on. It must not outlive the Witness.
    class Watch {
    public:
        Watch(Watch&& other) noexcept;
        Watch& operator=(Watch&&) = delete;
        ~Watch();

        // The records of the thread `root` and of all its descendants so far, in the order in
        // which they were made. Call it when the run is over. An Error means that records were
        // lost. Then nothing can be said about the run, in particular not that it had no
        // violation.
        Result<std::vector<pct_witness_record>> take(pid_t root);

    private:
        friend class Witness;
        struct Mark {
            std::uint64_t start;   // number of the first record that matters
            std::uint64_t lost;    // Witness::lost() when the watch began
            std::uint64_t dropped; // Witness::dropped_ when the watch began
        };
        Watch(Witness* witness, std::list<Mark>::iterator mark) : witness_(witness), mark_(mark) {}

        Witness* witness_;
        std::list<Mark>::iterator mark_;
    };

    static Result<std::unique_ptr<Witness>> load(const Options& options);
    static Result<std::unique_ptr<Witness>> load() { return load(Options{}); }
    Witness(const Witness&) = delete;
    Witness& operator=(const Witness&) = delete;
    ~Witness();

    // Begins to keep records. The run's first process must exist already, for then no other thread
    // can have its pid. It must not have entered the watched policy yet.
    Watch watch();

private:
    struct SkeletonDeleter {
        void operator()(witness_bpf* skeleton) const;
    };
    struct RingDeleter {
        void operator()(ring_buffer* ring) const;
    };

    Witness() = default;
    static int store(void* self, void* data, std::size_t size);
    void keep_draining(const std::stop_token& stop);
    // Call the others with mutex_ held.
    void drain();
    void drain_completely();    // all that is in the ring now
    std::uint64_t lost() const; // records that the kernel side could not write, ever
    void forget_old();          // records that no watch needs

    std::unique_ptr<witness_bpf, SkeletonDeleter> skeleton_;
    std::unique_ptr<ring_buffer, RingDeleter> ring_;
    std::mutex mutex_;
    std::condition_variable_any watched_; // a watch has begun
    std::deque<pct_witness_record> records_;
    std::uint64_t first_ = 0;   // number of records_.front()
    std::uint64_t dropped_ = 0; // records dropped here because there were too many
    std::list<Watch::Mark> marks_;
    std::jthread drainer_; // last: stops before the rest goes
};

} // namespace pctctl
