// SPDX-License-Identifier: GPL-2.0-only
#include "run/kernel_executor.h"

#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstring>
#include <utility>

#include "base/log.h"
#include "base/text.h"
#include "judge/judge.h"
#include "judge/roster.h"
#include "kernel/bpf_scheduler.h"
#include "kernel/libbpf_messages.h"
#include "kernel/private_libc.h"
#include "plan/policies.h"
#include "plan/races.h"
#include "run/capture.h"
#include "run/cgroup.h"
#include "run/guardian.h"
#include "run/identity.h"
#include "run/launch.h"
#include "run/liveness.h"
#include "run/preflight.h"
#include "witness/recorder.h"
#include "witness/strictness.h"

namespace pctctl {
namespace {

using Clock = std::chrono::steady_clock;
using namespace std::chrono_literals;

// Leftover processes: after its main process has ended, a run goes on for at most this long, as
// long as not all of its threads are blocked.
constexpr auto kRestOfRun = 2s;
// While a thread waits inside the kernel, lower threads stand still (a hold). If that lasts longer
// than this, the thread may be waiting for one of them, and the hold is given up.
constexpr auto kLongestHold = 10s;
// How often a run is looked at even if nothing was reported.
constexpr std::chrono::nanoseconds kHeartbeat = 100ms;
// How long the kernel may take to remove the threads of a run after they have been killed.
constexpr auto kBurial = 30s;

Result<std::vector<int>> allowed_cpus() {
    cpu_set_t allowed[8]; // 8192 CPUs, more than any kernel is built for
    if (sched_getaffinity(0, sizeof allowed, allowed) != 0)
        return Error::environment("cannot find out on which CPUs to run: " + errno_text(errno));
    std::vector<int> cpus;
    for (int cpu = 0; cpu < static_cast<int>(8 * sizeof allowed); ++cpu)
        if (CPU_ISSET_S(static_cast<unsigned>(cpu), sizeof allowed, allowed))
            cpus.push_back(cpu);
    return cpus;
}

// Departures from the algorithm. (The final wait is part of the algorithm.)
std::uint64_t interventions(const pct_run_state& state) {
    std::uint64_t count = state.hold_breaks;
    for (unsigned why = 0; why < PCT_DEMOTE_NR; ++why)
        if (why != PCT_DEMOTE_FINAL_WAIT)
            count += state.demotions[why];
    return count;
}

// Will nothing happen by itself? A thread that waits for a disk goes on by itself. When it does is
// not the program's doing, so it must not decide how far the program gets.
bool looks_at_rest(const pct_run_state& state) {
    return state.runnable == 0 &&
           std::all_of(std::begin(state.holds), std::end(state.holds),
                       [](const pct_hold& hold) { return hold.priority == 0; });
}

// "yield 2, spin 1"; "none".
std::string demotions_text(const pct_run_state& state) {
    constexpr std::pair<unsigned, const char*> kSigns[] = {
        {PCT_DEMOTE_YIELD, "yield"},       {PCT_DEMOTE_POLL, "poll"},
        {PCT_DEMOTE_LOOP, "loop"},         {PCT_DEMOTE_SPIN, "spin"},
        {PCT_DEMOTE_STARVE, "starvation"}, {PCT_DEMOTE_FINAL_WAIT, "final wait"},
    };
    std::string text;
    for (const auto& [sign, word] : kSigns)
        if (state.demotions[sign] != 0)
            text += fmt::format("{}{} {}", text.empty() ? "" : ", ", word, state.demotions[sign]);
    return text.empty() ? "none" : text;
}

std::string joined(const std::vector<std::string>& lines) {
    std::string text;
    for (const std::string& line : lines)
        text += (text.empty() ? "" : "; ") + line;
    return text;
}

class KernelExecutor : public Executor {
public:
    static Result<std::unique_ptr<Executor>> make(const ExecutorOptions& options, const Log& log);
    Result<RunResult> execute(unsigned slot, const RunPlan& plan) override;
    void cancel() override { cancelled_ = true; }
    std::vector<std::string> warnings() const override { return warnings_; }

private:
    // A run under way.
    struct Watched {
        unsigned slot;
        std::uint32_t number;
        Process& process;
        Roster roster;
        Races races;
        std::vector<pct_event> log;
        bool live;
        std::chrono::nanoseconds time_limit;
        Capture& out;
        Capture& err;
    };
    // The first group has changed settings of the groups above for all of them, so it is removed
    // last.
    struct Groups : std::vector<Cgroup> {
        ~Groups() {
            while (!empty())
                pop_back();
        }
    };
    // What ended a run, and why.
    struct Ending {
        Outcome outcome = Outcome::pass;
        std::string detail;
    };

    KernelExecutor(const ExecutorOptions& options, std::vector<int> cpus, Log log)
        : options_(options), cpus_(std::move(cpus)), log_(std::move(log)), libbpf_messages_(log_) {}
    Status prepare_groups();
    pct_run_config configure(unsigned slot, const RunPlan& plan) const;
    Cgroup& group(unsigned slot) { return options_.jobs > 1 ? slots_[slot] : *cgroup_; }
    void hear(Watched& run);
    Result<Ending> watch(Watched& run);
    Ending ending_of(const Watched& run, int wait_status) const;
    std::optional<std::string> deadlock(Watched& run);
    bool at_rest(unsigned slot) const;
    Status bury(unsigned slot, Process& process);
    void tell_what_is_loaded(const BpfScheduler::Options& load) const;
    void tell_counters(const RunResult& run, const pct_run_state& state) const;

    // In order of construction, since a later member may use an earlier one.
    ExecutorOptions options_;
    std::vector<int> cpus_; // never empty
    Log log_;
    LibbpfMessages libbpf_messages_;      // before all that uses libbpf
    std::atomic<bool> cancelled_ = false; // noticed within a kHeartbeat
    std::optional<Guardian> guardian_;
    std::optional<Cgroup> cgroup_;
    Groups slots_; // with jobs > 1
    std::vector<std::string> warnings_;
    std::vector<std::uint64_t> limit_hits_; // of each slot's group, as of the end of its last run
    std::optional<PrivateFile> libc_;
    std::optional<PrivateFile> program_; // of a static program
    std::optional<Launcher> launcher_;
    std::unique_ptr<Witness> witness_;
    std::unique_ptr<BpfScheduler> kernel_;
};

Result<std::unique_ptr<Executor>> KernelExecutor::make(const ExecutorOptions& options,
                                                       const Log& log) {
    Result<std::vector<int>> cpus = allowed_cpus();
    if (!cpus)
        return cpus.error();
    std::unique_ptr<KernelExecutor> self(new KernelExecutor(options, std::move(*cpus), log));

    Result<ProgramInfo> program = inspect_program(options.command.front());
    if (!program)
        return program.error();
    // Errors of the program come first, since they do not depend on the machine.
    const Result<KernelSupport> support = preflight();
    if (!support)
        return support.error();
    const std::vector<pct_policy> policies = portfolio_ids(options.policy);
    const auto runs_in_parallel = [](pct_policy id) {
        pct_policy_config config = {};
        config.policy = id;
        return is_parallel(config);
    };
    if (const Check cpus_used = check_cpus();
        cpus_used.level != Check::Level::ok &&
        std::any_of(policies.begin(), policies.end(), runs_in_parallel))
        self->warnings_.push_back(cpus_used.detail + "; " + cpus_used.remedy);

    LaunchOptions launch;
    launch.command = options.command;
    launch.slots = options.jobs;
    if (options.user) {
        Result<Identity> identity = find_identity(*options.user);
        if (!identity)
            return identity.error();
        launch.identity = std::move(*identity);
    } else {
        Result<std::optional<Identity>> identity = guest_identity();
        if (!identity)
            return identity.error();
        launch.identity = std::move(*identity);
    }

    // Fork the helper processes before we have threads or map much memory.
    Result<Guardian> guardian = Guardian::start();
    if (!guardian)
        return guardian.error();
    self->guardian_.emplace(std::move(*guardian));

    BpfScheduler::Options load;
    load.slots = options.jobs;
    load.points = options.points;
    load.policies = policies;
    load.flags = support->scheduler_flags;
    Result<std::string> libc = libc_path();
    if (!libc)
        return libc.error();
    Result<PrivateFile> copy = PrivateFile::copy(*libc);
    if (!copy)
        return copy.error();
    self->libc_.emplace(std::move(*copy));
    Result<std::vector<LibcPoint>> points = prepare_libc_points(self->libc_->fd());
    if (!points)
        return points.error();
    load.objects.push_back({self->libc_->probe_path(), self->libc_->fd(), std::move(*points)});
    launch.private_files.push_back(&*self->libc_);
    if (program->is_static && !program->points.empty()) {
        Result<PrivateFile> own = PrivateFile::copy(program->path);
        if (!own)
            return own.error();
        if (Status s = own->close_for_writing(); !s)
            return s.error();
        self->program_.emplace(std::move(*own));
        load.objects.push_back(
            {self->program_->probe_path(), self->program_->fd(), program->points});
        launch.private_files.push_back(&*self->program_);
    }

    if (Status s = self->prepare_groups(); !s)
        return s.error();
    Result<Launcher> launcher = Launcher::create(launch);
    if (!launcher)
        return launcher.error();
    self->launcher_.emplace(std::move(*launcher));

    if (options.verify) {
        Result<std::unique_ptr<Witness>> witness = Witness::load();
        if (!witness)
            return witness.error();
        self->witness_ = std::move(*witness);
        log.info("the witness is loaded");
    }
    const auto start = Clock::now();
    Result<std::unique_ptr<BpfScheduler>> kernel = BpfScheduler::load(load);
    if (!kernel)
        return kernel.error();
    self->kernel_ = std::move(*kernel);
    log.info("the scheduler is loaded and attached after {} ms, for policy {}",
             (Clock::now() - start) / 1ms, options.policy);
    self->tell_what_is_loaded(load);
    return std::unique_ptr<Executor>(std::move(self));
}

void KernelExecutor::tell_what_is_loaded(const BpfScheduler::Options& load) const {
    const PrivateFile* files[] = {&*libc_, program_ ? &*program_ : nullptr};
    for (std::size_t i = 0; i < load.objects.size(); ++i)
        log_.info("probes: {} on a private copy of {}",
                  options_.points & PCT_POINTS_PTHREAD ? load.objects[i].points.size() : 0,
                  printable(files[i]->original()));
    log_.debug("runs at once: {}; CPUs that may be used: {}; cgroup {}", options_.jobs,
               cpus_.size(), printable(cgroup_->path()));
}

Status KernelExecutor::prepare_groups() {
    const std::string name =
        options_.cgroup ? *options_.cgroup : "pctctl-" + std::to_string(getpid());
    Result<Cgroup> cgroup = Cgroup::create(name, &*guardian_);
    if (!cgroup)
        return cgroup.error();
    cgroup_.emplace(std::move(*cgroup));
    for (unsigned i = 0; options_.jobs > 1 && i < options_.jobs; ++i) {
        Result<Cgroup> slot = cgroup_->child("job-" + std::to_string(i));
        if (!slot)
            return slot.error();
        slots_.push_back(std::move(*slot));
    }
    bool told = false;
    for (unsigned i = 0; i < options_.jobs; ++i) {
        // One more, for process 1 of the run, which is ours.
        Result<std::optional<std::string>> unlimited =
            group(i).limit_processes(static_cast<unsigned>(options_.pids_limit) + 1);
        if (!unlimited)
            return unlimited.error();
        if (*unlimited && !std::exchange(told, true)) // the others' reason is the same
            warnings_.push_back("the number of processes is not limited: " + **unlimited);
        limit_hits_.push_back(group(i).limit_hits());
    }
    return Done{};
}

pct_run_config KernelExecutor::configure(unsigned slot, const RunPlan& plan) const {
    pct_run_config config = {};
    config.spin_limit_ns = static_cast<std::uint64_t>(options_.spin_limit.count());
    config.points = options_.points;
    config.trace = plan.verify;
    config.home_cpu = cpus_[slot % cpus_.size()];
    config.policy = policy_config(plan.algorithm, plan.seed, options_.parameters);
    config.stepwise = is_stepwise(config.policy);
    config.executed = promise_of(find_policy(plan.algorithm.policy)->id) == Promise::partial_orders;
    config.parallel = is_parallel(config.policy);
    config.focus = plan.focus.on ? static_cast<std::uint32_t>(plan.focus.names.size() + 1) : 0;
    return config;
}

void KernelExecutor::hear(Watched& run) {
    for (const pct_event& event : kernel_->take_events(run.slot)) {
        run.roster.learn(event);
        if (event.type == PCT_EVENT_EXECUTED)
            run.races.step(event.thread, accesses_of(event.executed, options_.parameters.value(
                                                                         Parameter::pos_readonly)));
        else
            run.log.push_back(event);
    }
    if (run.live) {
        run.out.forward(STDOUT_FILENO);
        run.err.forward(STDERR_FILENO);
    }
    run.out.trim();
    run.err.trim();
}

// Is the run deadlocked? Then returns why. If the main process has ended, the leftover processes
// may be an idle service that waits for a client. They count as deadlocked only if each of their
// threads waits for another of them (all_held).
std::optional<std::string> KernelExecutor::deadlock(Watched& run) {
    const pct_run_state before = kernel_->snapshot(run.slot);
    if (!looks_at_rest(before) || before.alive == 0)
        return std::nullopt;
    hear(run); // now the roster has all threads that there were: a child may wait for the disk
    LiveInspector inspector;
    const std::vector<LiveThread> threads = run.roster.alive();
    const Verdict verdict = judge(threads, before.timers != 0, inspector);
    const pct_run_state after = kernel_->snapshot(run.slot);
    const pid_t main_process = run.process.root_pid();
    const bool left_behind =
        std::none_of(threads.begin(), threads.end(), [main_process](const LiveThread& thread) {
            return thread.pid == main_process;
        });
    if (left_behind && !verdict.all_held)
        return std::nullopt;
    if (after.lost_events != 0) // there may be threads that the roster does not have
        return std::nullopt;
    if (!verdict.deadlock || after.runnable != 0 || after.progress != before.progress)
        return std::nullopt;
    return joined(verdict.lines);
}

// Looks twice. A copy of the state is not taken at one instant: a thread that changes between held
// and runnable meanwhile may show up as neither.
bool KernelExecutor::at_rest(unsigned slot) const {
    const pct_run_state before = kernel_->snapshot(slot);
    if (!looks_at_rest(before))
        return false;
    const pct_run_state after = kernel_->snapshot(slot);
    return looks_at_rest(after) && after.progress == before.progress;
}

KernelExecutor::Ending KernelExecutor::ending_of(const Watched& run, int wait_status) const {
    const unsigned first_signal = kernel_->state(run.slot).first_signal;
    if (std::string killed = run.roster.fatal_signal(first_signal); !killed.empty())
        return {Outcome::signal, std::move(killed)};
    if (WIFSIGNALED(wait_status))
        return {Outcome::signal,
                "the main process was killed by " + signal_name(WTERMSIG(wait_status))};
    if (WEXITSTATUS(wait_status) != 0)
        return {Outcome::exit, "exit status " + std::to_string(WEXITSTATUS(wait_status))};
    return {};
}

Result<KernelExecutor::Ending> KernelExecutor::watch(Watched& run) {
    const auto start = Clock::now();
    Liveness liveness(run.time_limit);
    // Set once the main process has ended: the time that its leftover processes have had since.
    std::optional<std::chrono::nanoseconds> rest;
    auto looked = start;
    std::uint64_t judged = ~0ull; // progress of the run when it was last checked for a deadlock
    struct Held {
        std::uint64_t count = 0;
        Clock::time_point since;
    };
    std::array<Held, PCT_MAX_HOLDS> held{};
    volatile pct_run_state& state = kernel_->state(run.slot);

    for (;;) {
        state.quiescent_armed = 1;
        const bool unjudged = !rest && state.runnable == 0 && state.progress != judged;
        std::chrono::nanoseconds patience = std::min<std::chrono::nanoseconds>(
            kHeartbeat, std::max<std::chrono::nanoseconds>(liveness.left(), 0ns));
        if (rest)
            patience = std::min<std::chrono::nanoseconds>(patience, 1ms);
        pollfd ready[] = {{run.process.event_fd(), POLLIN, 0},
                          {kernel_->quiescent_fd(run.slot), POLLIN, 0}};
        poll(ready, 2, unjudged ? 0 : static_cast<int>(patience / 1ms));
        eventfd_t ignored;
        eventfd_read(kernel_->quiescent_fd(run.slot), &ignored);
        hear(run);
        if (std::optional<std::string> reason = kernel_->ejected())
            return Error::environment(*reason);
        if (cancelled_)
            return Error::environment("the run was cancelled");

        const std::optional<int> status = run.process.wait_status();
        const pct_run_state now = kernel_->snapshot(run.slot);
        const auto before = std::exchange(looked, Clock::now());
        liveness.look(now, looked - before);
        if (status) // time in which a whole virtual machine stood still does not count
            rest = rest ? *rest + std::min<std::chrono::nanoseconds>(looked - before, kHeartbeat)
                        : 0ns;
        if (rest && (now.alive == 0 || at_rest(run.slot) || *rest > kRestOfRun)) {
            std::optional<std::string> why = deadlock(run);
            hear(run);
            Ending ending = ending_of(run, *status);
            if (why && ending.outcome == Outcome::pass)
                ending = {Outcome::deadlock, std::move(*why)};
            return ending;
        }
        if (!rest && now.runnable == 0 && now.progress != judged) {
            judged = now.progress;
            if (std::optional<std::string> why = deadlock(run))
                return Ending{Outcome::deadlock, std::move(*why)};
        }
        if (liveness.time_is_up()) {
            if (rest) // the main process ended in time; leftover processes would be killed soon
                      // anyway
                return ending_of(run, *status);
            if (!liveness.hangs())
                return Ending{Outcome::unfinished, liveness.text()};
            LiveInspector inspector;
            std::vector<std::string> lines = judge(run.roster.alive(), true, inspector).lines;
            lines.insert(lines.begin(), liveness.text());
            return Ending{Outcome::timeout, joined(lines)};
        }
        for (unsigned i = 0; i < PCT_MAX_HOLDS; ++i) {
            const pct_hold& hold = now.holds[i];
            if (hold.priority == 0 || hold.count != held[i].count)
                held[i] = {hold.count, looked};
            else if (now.runnable > 0 && looked - held[i].since > kLongestHold) {
                log_.debug("run {}: the others go on without the thread of priority {:#x}, which "
                           "waits inside the kernel",
                           run.number, hold.priority);
                kernel_->break_hold(run.slot, i);
            }
        }
    }
}

// Kills the leftover processes of a run, and waits until the scheduler has seen the last thread
// end.
Status KernelExecutor::bury(unsigned slot, Process& process) {
    // Not by cgroup.kill: afterwards some kernels kill what is started in that cgroup (see
    // zygote.cc).
    if (Status s = process.kill_all(); !s)
        return s;
    const auto patience = Clock::now() + kBurial;
    while (kernel_->snapshot(slot).alive != 0 && !kernel_->ejected()) {
        if (Clock::now() > patience)
            return Error::environment("processes of a run are still alive after SIGKILL; see "
                                      "cgroup " +
                                      group(slot).path());
        usleep(200);
    }
    return Done{};
}

void KernelExecutor::tell_counters(const RunResult& run, const pct_run_state& state) const {
    log_.debug("run {}: switches {}; demotions: {}; holds given up {}; interventions {}; calls "
               "left out {}, "
               "not kept apart {}; events lost {}",
               run.number, run.switches, demotions_text(state), state.hold_breaks,
               run.interventions, run.skipped_calls, run.unlocked_hooks, state.lost_events);
}

Result<RunResult> KernelExecutor::execute(unsigned slot, const RunPlan& plan) {
    Result<Capture> out = Capture::create("stdout");
    if (!out)
        return out.error();
    Result<Capture> err = Capture::create("stderr");
    if (!err)
        return err.error();

    const auto start = Clock::now();

    Result<Process> process = launcher_->prepare(slot, group(slot).fd(), out->fd(), err->fd());
    if (!process)
        return process.error();
    const pid_t root = process->root_pid();
    log_.debug("run {} starts: seed {}, policy {}, depth {}, slot {}, first process {}",
               plan.number, plan.seed.text(), plan.algorithm.policy, plan.algorithm.depth, slot,
               root);
    std::optional<Witness::Watch> watch_of_witness;
    if (witness_ && plan.verify)
        watch_of_witness.emplace(witness_->watch());
    if (Status s = kernel_->teach(plan.focus.names); !s)
        return s.error();
    kernel_->start_run(slot, configure(slot, plan));
    if (Status s = kernel_->adopt(slot, root); !s)
        return s.error();
    log_.debug("run {}: the scheduler has adopted the first process", plan.number);
    if (Status s = process->release(); !s) {
        if (std::optional<std::string> reason = kernel_->ejected())
            return Error::environment(*reason);
        return s.error();
    }

    Watched run{slot, plan.number,      *process,        {},   {},
                {},   plan.live_output, plan.time_limit, *out, *err};
    Result<Ending> ending = watch(run);
    const pct_run_state state = kernel_->snapshot(slot);
    const std::uint64_t skipped = kernel_->skipped_calls(slot);
    const std::optional<int> status = process->wait_status();
    const Status buried = bury(slot, *process);
    hear(run);
    const auto end = Clock::now();
    if (run.live) {
        run.out.forward_rest(STDOUT_FILENO);
        run.err.forward_rest(STDERR_FILENO);
    }
    kernel_->end_run(slot);
    if (ending && !buried)
        return buried.error();
    if (!ending)
        return ending.error();
    if (std::optional<std::string> reason = kernel_->ejected_by_now())
        return Error::environment(*reason);
    Result<std::vector<std::uint64_t>> learned = std::vector<std::uint64_t>{};
    if (plan.focus.on)
        learned = kernel_->learned(slot);
    if (!learned)
        return learned.error();

    RunResult result;
    result.learned = std::move(*learned);
    result.number = plan.number;
    result.seed = plan.seed;
    result.algorithm = plan.algorithm;
    result.focus = plan.focus;
    result.time_limit = plan.time_limit;
    result.outcome = ending->outcome;
    result.detail = std::move(ending->detail);
    const std::uint64_t hits = group(slot).limit_hits();
    if (std::exchange(limit_hits_[slot], hits) != hits && result.outcome != Outcome::pass) {
        const std::string met = "it met the limit of processes and threads, --pids-limit " +
                                std::to_string(options_.pids_limit);
        // The detail about many threads may be long, so the limit comes first.
        if (result.outcome == Outcome::exit)
            result.detail += "; " + met;
        else
            result.detail = met + (result.detail.empty() ? "" : "; " + result.detail);
    }
    result.exit_code = status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
    if (result.outcome == Outcome::signal)
        result.signal = state.first_signal ? static_cast<int>(state.first_signal)
                                           : (status ? WTERMSIG(*status) : 0);
    result.threads = state.threads;
    result.arrivals = state.arrivals;
    result.steps = state.steps;
    // A run in which no other thread was ever enabled counts as having one such step, so that k is
    // not 0. A change point there changes nothing.
    if (state.arrivals) {
        result.concurrent = std::max<std::uint64_t>(state.policy.concurrent, 1);
        result.longest_phase = std::max<std::uint64_t>(state.policy.longest_phase, 1);
    }
    result.switches = state.switches;
    result.order_hash = state.order_hash;
    if (!result.cut_off()) // a thread in an endless loop has no length
        result.lengths = run.roster.lengths();
    if (run.races.steps() > 0 && state.lost_events == 0)
        result.races = run.races.races();
    result.interventions = interventions(state);
    result.skipped_calls = skipped;
    result.unlocked_hooks = state.lock_breaks;
    result.duration_ms = std::chrono::duration<double, std::milli>(end - start).count();
    result.out = out->contents();
    result.err = err->contents();
    tell_counters(result, state);
    if (watch_of_witness) {
        Result<std::vector<pct_witness_record>> records = watch_of_witness->take(root);
        if (!records)
            return records.error();
        if (state.lost_events)
            return Error::environment("events of run " + std::to_string(plan.number) +
                                      " were lost, so it cannot be verified; use fewer --jobs");
        StrictnessReport report =
            check_strictness({plan.seed, plan.algorithm, options_.parameters, run.log, *records});
        result.violations = report.violations;
        result.violation_details = std::move(report.details);
    }
    return result;
}

} // namespace

Result<std::unique_ptr<Executor>> make_kernel_executor(const ExecutorOptions& options,
                                                       const Log& log) {
    return KernelExecutor::make(options, log);
}

} // namespace pctctl
