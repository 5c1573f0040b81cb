// SPDX-License-Identifier: GPL-2.0-only
// Histories written by hand, for tests of the proof that priorities were kept (strictness).
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
#include <vector>

#include "pct.h"
#include "pctctl/identity.h"
#include "pctctl/points.h"
#include "witness/strictness.h"

namespace pctctl::test {

constexpr std::uint32_t kPid = 100; // of thread 0; thread i has kPid + i

// Writes a history record by record, each 10 ns after the one before. A thread executes user code
// when run() says so; then its registers change.
class Story {
public:
    // The initial priorities of the threads have the order of `ranks`: a seed is chosen that gives
    // it. All threads but the first are children of thread 0.
    explicit Story(std::initializer_list<int> ranks, unsigned depth = 1, unsigned k = 0)
        : depth_(depth) {
        const std::vector<int> wanted(ranks);
        seed_ = {.k = k, .stream = 1};
        while (!ordered(wanted))
            seed_.stream++;
        threads_.resize(wanted.size());
        log_thread(0, 0);
    }

    RunSeed& seed() { return seed_; }
    Story& under(const char* policy) {
        policy_ = policy;
        return *this;
    }
    Story& with_phases() {
        parameters_.set(Parameter::join_phases, 1);
        return *this;
    }
    std::vector<pct_event>& log() { return log_; }
    std::vector<pct_witness_record>& records() { return records_; }

    Story& in(std::uint32_t thread, std::uint32_t cpu = 0) {
        threads_[thread].cpu = cpu;
        return record(thread, PCT_WITNESS_IN);
    }
    Story& run(std::uint32_t thread) {
        threads_[thread].registers++;
        return *this;
    }
    Story& out(std::uint32_t thread) { return leave(thread, true); }
    Story& sleep(std::uint32_t thread) { return leave(thread, false); }
    Story& wake(std::uint32_t thread, std::uint32_t on_cpu = 0) {
        if (enter_phase(thread))
            ++number_;
        record(thread, PCT_WITNESS_WAKE);
        records_.back().cpu = on_cpu;
        return *this;
    }
    Story& create(std::uint32_t thread, std::uint32_t creator = 0) {
        log_thread(thread, ++threads_[creator].children);
        return fork(thread, creator);
    }
    Story& fork(std::uint32_t thread, std::uint32_t creator) {
        record(thread, PCT_WITNESS_NEW);
        records_.back().parent = task(creator);
        records_.back().parent_pid = kPid + creator;
        records_.back().controlled = 1;
        return *this;
    }
    Story& exit(std::uint32_t thread) {
        leave(thread, false);
        records_.back().exiting = 1;
        return *this;
    }
    Story& record(std::uint32_t thread, std::uint8_t type) {
        pct_witness_record& r = records_.emplace_back();
        r.time_ns = now_ += 10;
        r.task = task(thread);
        r.pid = kPid + thread;
        r.cpu = threads_[thread].cpu;
        r.type = type;
        if (type == PCT_WITNESS_IN || type == PCT_WITNESS_OUT)
            r.user_state = threads_[thread].registers;
        return *this;
    }

    // A step. Its priority becomes that of the given change point, if any.
    Story& step(std::uint32_t thread, unsigned change_point = 0) {
        run(thread);
        if (change_point)
            threads_[thread].priority = PCT_PRIO_CHANGE + change_point;
        pct_event& e = event(thread, PCT_EVENT_STEP);
        e.step = ++steps_;
        e.code = ++number_;
        return *this;
    }
    // A thread's first step under stepwise policies, at which it arrives while it is made.
    Story& begin(std::uint32_t thread, std::uint32_t creator = 0) {
        pct_event& e = event(thread, PCT_EVENT_STEP);
        e.kind = PCT_KIND_BEGIN;
        e.parent = creator;
        e.step = ++steps_;
        return *this;
    }
    // A step that is not counted for change points, since no other thread is enabled.
    Story& sequential_step(std::uint32_t thread) {
        run(thread);
        if (number_ > 0 && parameters_.value(Parameter::join_phases)) {
            ++phase_;
            number_ = 0;
        }
        enter_phase(thread);
        event(thread, PCT_EVENT_STEP).step = ++steps_;
        return *this;
    }
    Story& demote(std::uint32_t thread, pct_demotion why) {
        threads_[thread].priority = pct_demoted_priority(++demotions_);
        event(thread, PCT_EVENT_PRIORITY).code = why;
        return *this;
    }

    // Valid as long as the story.
    StrictnessInput input() const {
        return {.seed = seed_,
                .algorithm = {.policy = policy_, .depth = depth_},
                .parameters = parameters_,
                .log = log_,
                .records = records_};
    }
    StrictnessReport check() const { return check_strictness(input()); }

    pct_event& event(std::uint32_t thread, std::uint32_t type) {
        pct_event& e = log_.emplace_back();
        e.time_ns = now_ += 10;
        e.type = type;
        e.thread = thread;
        e.pid = static_cast<int>(kPid + thread);
        e.priority = threads_[thread].priority;
        return e;
    }

private:
    struct Thread {
        std::uint64_t priority = 0;
        std::uint64_t registers = 0;
        std::uint64_t phase = 0;
        std::uint32_t children = 0;
        std::uint32_t cpu = 0;
    };

    // Brings the thread into the present phase. False if it was in it already.
    bool enter_phase(std::uint32_t thread) {
        if (threads_[thread].phase == phase_)
            return false;
        threads_[thread].phase = phase_;
        threads_[thread].priority = pct_initial_priority(seed_.stream, identity(thread), phase_);
        return true;
    }

    static std::uint64_t task(std::uint32_t thread) { return 0xffff0000 + thread * 64; }

    static std::uint64_t identity(std::uint32_t thread) {
        return thread == 0 ? PCT_ROOT_IDENTITY : pct_child_identity(PCT_ROOT_IDENTITY, thread);
    }

    bool ordered(const std::vector<int>& ranks) const {
        for (std::uint32_t a = 0; a < ranks.size(); a++)
            for (std::uint32_t b = 0; b < ranks.size(); b++)
                if ((ranks[a] < ranks[b]) != (pct_initial_priority(seed_.stream, identity(a), 0) <
                                              pct_initial_priority(seed_.stream, identity(b), 0)))
                    return false;
        return true;
    }

    void log_thread(std::uint32_t thread, std::uint32_t ordinal) {
        threads_[thread].phase = phase_;
        threads_[thread].priority = pct_initial_priority(seed_.stream, identity(thread), phase_);
        pct_event& e = event(thread, PCT_EVENT_THREAD);
        e.code = static_cast<std::int32_t>(phase_);
        e.ordinal = ordinal;
        e.identity = identity(thread);
    }

    Story& leave(std::uint32_t thread, bool ready) {
        record(thread, PCT_WITNESS_OUT);
        records_.back().ready = ready;
        return *this;
    }

    const char* policy_ = "pct";
    PolicyParameters parameters_;
    RunSeed seed_;
    unsigned depth_;
    std::uint64_t now_ = 1'000'000'000;
    std::uint64_t steps_ = 0;
    std::int32_t number_ = 0; // steps counted in the present phase
    std::uint64_t phase_ = 0;
    std::uint64_t demotions_ = 0;
    std::vector<Thread> threads_;
    std::vector<pct_event> log_;
    std::vector<pct_witness_record> records_;
};

// Checks that at depth 2 the only change point is at this step.
inline void put_change_point(Story& story, std::uint64_t step) {
    ASSERT_EQ(pct_change_point(story.seed().stream, 1, story.seed().k, 0).step, step);
}

// A seed decides both the order of priorities and the change point. With k = 1 the change point is
// always at step 1.
constexpr unsigned kFirstStep = 1;

inline void expect_none(const Story& story) {
    EXPECT_THAT(story.check().details, testing::IsEmpty());
}

inline void expect_one(const Story& story, const std::string& text) {
    const StrictnessReport report = story.check();
    EXPECT_THAT(report.details, testing::ElementsAre(testing::HasSubstr(text)));
    EXPECT_EQ(report.violations, report.details.size());
}

} // namespace pctctl::test
