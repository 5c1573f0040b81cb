// SPDX-License-Identifier: GPL-2.0-only
// Loads the BPF scheduler and its probes, and gives access to the state of the runs.
//
// Life cycle: load() attaches everything, the destructor detaches it. Nothing is pinned, so the
// kernel detaches it as well when the process ends in whatever way.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/fd.h"
#include "base/result.h"
#include "kernel/private_libc.h"
#include "pctctl/run.h"
#include "plan/policies.h"

namespace pctctl {

// A file with libc operations to probe. Its path must stay valid as long as the BpfScheduler lives.
struct ProbedObject {
    std::string probe_path;
    int fd = -1;
    std::vector<LibcPoint> points;
};

class BpfScheduler {
public:
    struct Options {
        unsigned slots = 1;
        unsigned points = 0;                // PCT_POINTS_*
        std::vector<pct_policy> policies;   // those that a run can have
        std::vector<ProbedObject> objects;  // at most PCT_MAX_OBJECTS; [0] is the C library
        std::optional<std::uint64_t> flags; // of this kernel, see KernelSupport
    };

    static Result<std::unique_ptr<BpfScheduler>> load(const Options& options);
    ~BpfScheduler();
    BpfScheduler(const BpfScheduler&) = delete;
    BpfScheduler& operator=(const BpfScheduler&) = delete;

    // The state that the scheduler shares with us in memory, one for each slot.
    volatile pct_run_state& state(unsigned slot) { return states_[slot]; }
    pct_run_state snapshot(unsigned slot) const;

    // Names of objects that matter, for runs with pct_run_config.focus. Each call has all names of
    // the call before at its beginning.
    Status teach(std::span<const std::uint64_t> names);
    // Of the run that has ended: the names of what mattered, but for those it began with. Forgets
    // what the run has touched, so it must be called once for each run with a focus. While it reads
    // the map the kernel calls no tracepoint program on the reading thread's CPU, whichever thread
    // executes there meanwhile: another run under way may be disturbed (skipped_calls()).
    Result<std::vector<std::uint64_t>> learned(unsigned slot);

    // Zeroes the slot's state for a new run, and gives the run an id of its own.
    void start_run(unsigned slot, pct_run_config config);
    void end_run(unsigned slot);

    // Makes the task the run's first thread. pid: as the initial PID namespace numbers it.
    Status adopt(unsigned slot, pid_t pid);
    // Gives up a hold (pct_run_state.holds): lower threads go on although its thread still waits
    // inside the kernel.
    void break_hold(unsigned slot, unsigned hold);

    // How often, since the slot's run began, the kernel did not call a program of the scheduler
    // that it should have called. Which run was concerned is not known: it may be any that is under
    // way.
    std::uint64_t skipped_calls(unsigned slot) const;

    // Becomes readable when the run's last runnable thread blocks after quiescent_armed was set.
    int quiescent_fd(unsigned slot) const { return inboxes_[slot].wake.get(); }
    // All events of the slot's run since the last call, up to now.
    std::vector<pct_event> take_events(unsigned slot);

    // If the kernel has unloaded the scheduler: its reason, in one line.
    std::optional<std::string> ejected() const;
    // The same, but notices it from the moment when the kernel begins to unload, and waits for the
    // reason then.
    std::optional<std::string> ejected_by_now() const;

private:
    struct Objects;
    struct Inbox {
        std::mutex mutex;
        std::vector<pct_event> events;
        Fd wake;                         // eventfd
        std::uint64_t skipped_calls = 0; // all there were when the run began
    };

    explicit BpfScheduler(unsigned slots);
    Status attach(const Options& options);
    std::uint64_t all_skipped_calls() const;
    void consume();
    void consume_all(); // everything that has been written by now
    static int receive(void* self, void* data, std::size_t size);

    Status prepare_sharing(unsigned slots);

    std::vector<Inbox> inboxes_;
    std::vector<Fd> sharing_; // the map of each slot
    std::mutex teaching_;
    std::size_t taught_ = 0; // names in the map `focus`
    std::unique_ptr<Objects> objects_;
    pct_run_config* configs_ = nullptr;
    pct_run_state* states_ = nullptr;
    std::atomic<std::uint64_t> next_id_{1};
    std::mutex ring_mutex_;
    std::jthread reader_;
};

} // namespace pctctl
