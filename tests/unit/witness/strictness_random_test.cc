// SPDX-License-Identifier: GPL-2.0-only
// Random histories. Those of a scheduler that keeps to the rules, in all the ways that they allow,
// have no violation. Those of a scheduler that breaks the rules in one way have some.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <utility>
#include <vector>

#include "simulated_threads.h"

namespace pctctl {
namespace {

using namespace test;

// A program with random threads on two CPUs, and its scheduler.
class Simulation : public SimulatedThreads {
public:
    Simulation(std::uint32_t seed, Fault fault) : SimulatedThreads(seed, fault) {
        depth_ = 1 + below(4);
        seed_ = {.k = depth_ > 1 ? 1 + below(300) : 0, .stream = random_()};
        max_threads_ = 2 + below(12);
        lazy_ = chance(2);
        for (unsigned i = 1; i < depth_ && seed_.k; i++)
            changes_.push_back(pct_change_point(seed_.stream, i, seed_.k, 0));
        add_thread(0, 0, PCT_ROOT_IDENTITY);
        threads_[0].ready = true;
        for (int i = 0; i < 400 && !over(); i++)
            turn();
    }

private:
    std::vector<std::uint32_t> sleepers() const {
        std::vector<std::uint32_t> result;
        for (std::uint32_t i = 0; i < threads_.size(); i++)
            if (!threads_[i].ready && !threads_[i].gone && i != running_)
                result.push_back(i);
        return result;
    }
    void wake_someone(std::uint32_t cpu) {
        const std::vector<std::uint32_t> asleep = sleepers();
        if (asleep.empty())
            return;
        const std::uint32_t thread = asleep[below(static_cast<std::uint32_t>(asleep.size()))];
        record(thread, PCT_WITNESS_WAKE, cpu);
        threads_[thread].ready = true;
    }

    // Every starved thread gets its CPU, and is sent away before it executes anything.
    void refresh() {
        for (std::uint32_t i = 0; i < threads_.size(); i++) {
            Thread& thread = threads_[i];
            if (!thread.ready)
                continue;
            in(i);
            if (fault_ == Fault::starved_run && i != last_ && known_better_than(i) && chance(4)) {
                thread.registers += 100;
                faults_++;
            }
            out(i, true);
        }
    }

    // A thread is chosen, executes, and leaves the CPU.
    void turn() {
        if (best() == ~0u)
            wake_someone(below(2));
        std::uint32_t thread = best();
        if (thread == ~0u)
            return;
        bool wrong = false;
        if (fault_ == Fault::any_thread && chance(4)) {
            do
                thread = below(static_cast<std::uint32_t>(threads_.size()));
            while (!threads_[thread].ready);
            wrong = thread != last_ && known_better_than(thread);
        }
        if (chance(20))
            wake_someone(below(2)); // after the choice
        if (chance(20))
            refresh();

        in(thread);
        running_ = last_ = thread;
        note_ready();
        if (chance(10)) // sleeps again: its condition does not hold yet
            return leave(thread, false);
        user_code(thread);
        faults_ += wrong;
        while (running_ != ~0u)
            act(thread);
    }

    void leave(std::uint32_t thread, bool ready) {
        out(thread, ready);
        running_ = ~0u;
        demoted_ = unseen_ = false;
    }

    // Another thread may be better now. This one gives way at once or at its next step.
    void give_way_or_not(std::uint32_t thread) {
        if (!better_than(thread) || fault_ == Fault::no_wake_ups)
            return;
        if (!lazy_ || chance(2))
            leave(thread, true);
    }

    void act(std::uint32_t thread) {
        Thread& self = threads_[thread];
        if (unseen_)
            return chance(2) ? step(thread) : leave(thread, false);
        switch (below(11)) {
        case 0:
            wake_someone(self.cpu);
            return give_way_or_not(thread);
        case 1:
            wake_someone(1 - self.cpu); // by an interrupt on the other CPU
            return give_way_or_not(thread);
        case 2:
            if (threads_.size() < max_threads_)
                create(thread);
            return;
        case 3: // another program needs the CPU for a moment
            out(thread, true);
            if (chance(3))
                wake_someone(below(2));
            if (chance(3))
                refresh();
            if (better_than(thread) && (demoted_ || !lazy_ || chance(2))) {
                running_ = ~0u;
                demoted_ = false;
                return;
            }
            in(thread);
            return user_code(thread);
        case 4: // waits for a page
            return leave(thread, false);
        case 5:
            if (chance(20)) {
                demote(thread, PCT_DEMOTE_SPIN);
                demoted_ = true;
                give_way_or_not(thread);
            }
            return;
        case 6:
            if (fault_ == Fault::two_cpus && chance(4))
                run_another(thread);
            return;
        default:
            return step(thread);
        }
    }

    void create(std::uint32_t creator) {
        const auto child = static_cast<std::uint32_t>(threads_.size());
        const std::uint32_t ordinal = ++threads_[creator].children;
        if (!threads_[creator].reported)
            return;
        add_thread(creator, ordinal, pct_child_identity(threads_[creator].identity, ordinal));
        threads_[child].cpu = chance(4);
        pct_witness_record& born = record(child, PCT_WITNESS_NEW, threads_[creator].cpu);
        born.parent = threads_[creator].task;
        born.parent_pid = 500 + creator;
        born.controlled = 1;
        threads_[child].ready = true;
        if (!threads_[child].reported) { // the scheduler does not control it: it just runs
            threads_[child].cpu = 1 - threads_[creator].cpu;
            in(child);
            user_code(child);
            out(child, false);
            threads_[child].gone = true;
            faults_++;
            return;
        }
        give_way_or_not(creator);
    }

    void demote(std::uint32_t thread, pct_demotion why) {
        threads_[thread].priority = pct_demoted_priority(++demotions_);
        event(thread, PCT_EVENT_PRIORITY).code = why;
    }

    void run_another(std::uint32_t thread) {
        const std::uint32_t other = best(thread);
        if (other == ~0u)
            return;
        const std::uint32_t cpu = threads_[other].cpu;
        threads_[other].cpu = 1 - threads_[thread].cpu;
        in(other);
        user_code(other);
        out(other, true);
        threads_[other].cpu = cpu;
        faults_++;
    }

    void step(std::uint32_t thread) {
        Thread& self = threads_[thread];
        const bool waiting_since_before = better_than(thread);
        user_code(thread);
        ++steps_;
        bool changed = false, demoted = false;
        for (const auto& point : changes_)
            if (point.step == steps_) {
                self.priority = point.priority;
                changed = true;
            }
        if (fault_ == Fault::drops_step && chance(50)) {
            dropped_ = true;
        } else {
            pct_event& e = event(thread, PCT_EVENT_STEP);
            e.step = steps_;
            e.code = static_cast<int>(steps_);
            faults_ += std::exchange(dropped_, false);
        }
        demoted_ = unseen_ = false;
        note_ready();
        if (chance(30)) {
            demote(thread, chance(2) ? PCT_DEMOTE_YIELD : PCT_DEMOTE_POLL);
            demoted = true;
        }

        if (better_than(thread)) {
            const bool ignores = (fault_ == Fault::no_change_points && changed) ||
                                 (fault_ == Fault::no_demotions && demoted) ||
                                 (fault_ == Fault::no_wake_ups && waiting_since_before);
            if (!ignores)
                return leave(thread, true);
            faults_++;
            unseen_ = true;
        }
        // The operation itself.
        switch (below(8)) {
        case 0:
            return leave(thread, false);
        case 1:
            if (!chance(4))
                break;
            event(thread, PCT_EVENT_EXIT);
            self.gone = true;
            self.ready = false;
            if (chance(2))
                wake_someone(self.cpu);
            leave(thread, false);
            records_.back().exiting = 1;
            return;
        default:
            user_code(thread);
        }
    }

    std::size_t max_threads_ = 0;
    bool lazy_ = false;    // gives way only at the next step, where that is allowed
    bool demoted_ = false; // for spinning: has to give way once it is off the CPU
    bool unseen_ = false;  // a fault that shows only if the thread goes on
    bool dropped_ = false; // the log lacks a step
    std::vector<struct pct_change_point> changes_;
    std::uint32_t running_ = ~0u;
    std::uint32_t last_ = ~0u; // the thread that executed last
    std::uint64_t steps_ = 0;
    std::uint64_t demotions_ = 0;
};

constexpr std::uint32_t kHistories = 150;

TEST(StrictnessRandom, CorrectHistoriesHaveNoViolation) {
    std::uint64_t steps = 0;
    for (std::uint32_t seed = 1; seed <= kHistories; seed++) {
        const StrictnessReport report = Simulation(seed, Fault::none).check();
        ASSERT_THAT(report.details, testing::IsEmpty()) << "history " << seed;
        ASSERT_GT(report.turns, 0u);
        steps += report.steps;
    }
    EXPECT_GT(steps, 100u * kHistories);
}

struct NamedFault {
    const char* name;
    Fault fault;
};

class StrictnessFaults : public testing::TestWithParam<NamedFault> {};

TEST_P(StrictnessFaults, AreFound) {
    std::uint32_t shown = 0;
    for (std::uint32_t seed = 1; seed <= kHistories; seed++) {
        const Simulation simulation(seed, GetParam().fault);
        if (!simulation.faults())
            continue;
        shown++;
        ASSERT_GT(simulation.check().violations, 0u) << "history " << seed;
    }
    EXPECT_GT(shown, kHistories / 10);
}

INSTANTIATE_TEST_SUITE_P(All, StrictnessFaults,
                         testing::Values(NamedFault{"AnyThread", Fault::any_thread},
                                         NamedFault{"NoChangePoints", Fault::no_change_points},
                                         NamedFault{"NoDemotions", Fault::no_demotions},
                                         NamedFault{"NoWakeUps", Fault::no_wake_ups},
                                         NamedFault{"TwoCpus", Fault::two_cpus},
                                         NamedFault{"StarvedRun", Fault::starved_run},
                                         NamedFault{"DropsThread", Fault::drops_thread},
                                         NamedFault{"DropsStep", Fault::drops_step},
                                         NamedFault{"WrongPriority", Fault::wrong_priority}),
                         [](const auto& test) { return test.param.name; });

} // namespace
} // namespace pctctl
