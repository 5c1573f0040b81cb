// SPDX-License-Identifier: GPL-2.0-only
//
// Histories written by hand, one rule each, kept and broken.
#include "witness/strictness.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

#include "pct.h"
#include "pctctl/identity.h"

namespace pctctl {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::uint32_t kPid = 100; // of thread 0; thread i has kPid + i

// Writes a history line by line. Time passes by 10 ns with each line. Threads run user code when
// told to by run(), and their registers show it.
class Story {
public:
    // The first thread has `priorities[0]` for a rank among the threads to come, and so on: a seed
    // is chosen for which the initial priorities have that order. All others are children of thread
    // 0.
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

    // A step at which the priority stays or becomes that of change point i.
    Story& step(std::uint32_t thread, unsigned change_point = 0) {
        run(thread);
        if (change_point)
            threads_[thread].priority = PCT_PRIO_CHANGE + change_point;
        pct_event& e = event(thread, PCT_EVENT_STEP);
        e.step = ++steps_;
        e.code = ++number_;
        return *this;
    }
    // One that is not counted for change points.
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

    StrictnessReport check() const {
        return check_strictness({.seed = seed_,
                                 .algorithm = {.policy = policy_, .depth = depth_},
                                 .parameters = parameters_,
                                 .log = log_,
                                 .records = records_});
    }

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

    // Is it new to the thread?
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
    std::int32_t number_ = 0; // in the phase
    std::uint64_t phase_ = 0;
    std::uint64_t demotions_ = 0;
    std::vector<Thread> threads_;
    std::vector<pct_event> log_;
    std::vector<pct_witness_record> records_;
};

// A change point at this step of a run with at most k steps, and nowhere else, at depth 2.
void put_change_point(Story& story, std::uint64_t step) {
    ASSERT_EQ(pct_change_point(story.seed().stream, 1, story.seed().k, 0).step, step);
}

// The order of first and second among children depends on the seed, so does the change point. With
// k = 1 that is always step 1.
constexpr unsigned kFirstStep = 1;

void expect_none(const Story& story) {
    EXPECT_THAT(story.check().details, IsEmpty());
}

void expect_one(const Story& story, const std::string& text) {
    const StrictnessReport report = story.check();
    EXPECT_THAT(report.details, ElementsAre(HasSubstr(text)));
    EXPECT_EQ(report.violations, report.details.size());
}

// ---- A: one at a time ----

TEST(Strictness, OneThreadThenAnotherIsFine) {
    Story story({1, 2});
    story.in(0).step(0).create(1).run(0).out(0).in(1, 1).run(1).sleep(1).in(0).run(0).sleep(0);
    expect_none(story);
    EXPECT_EQ(story.check().turns, 3u);
    EXPECT_EQ(story.check().steps, 1u);
}

TEST(Strictness, TwoAtOnceOnTwoCpus) {
    Story story({2, 1});
    story.in(0).run(0).create(1).in(1, 1).run(1).sleep(1).run(0).sleep(0);
    expect_one(story, "while thread 0 (pid 100) was running");
}

TEST(Strictness, PassingThroughAnotherCpuWithoutUserCodeIsFine) {
    Story story({2, 1});
    story.in(0).run(0).create(1).in(1, 1).out(1).run(0).sleep(0).in(1, 1).run(1).sleep(1);
    expect_none(story);
}

// ---- B: the best of those ready ----

TEST(Strictness, LowerThreadChosen) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 1 (pid 101) got CPU 0 and ran user code though thread 2 (pid 102)");
}

TEST(Strictness, HigherThreadChosen) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, LowerThreadPassesThroughUnpunished) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).out(1).in(2).run(2).sleep(2);
    expect_none(story);
}

TEST(Strictness, PreemptedThreadIsStillReady) {
    Story story({2, 1});
    story.in(0).run(0).create(1).run(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "though thread 0 (pid 100), of higher priority, was ready");
}

TEST(Strictness, WokenAfterTheDecision) {
    // Thread 2 gets ready on another CPU when thread 1 has been chosen already.
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.wake(2, 1).in(1).run(1).step(1).out(1).in(2).run(2).sleep(2).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, WokenBeforeTheDecisionOnTheSameCpu) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(1).wake(2).in(2).step(2).wake(0).sleep(2);
    story.in(1).run(1).sleep(1);
    expect_one(story, "though thread 0 (pid 100), of higher priority, was ready");
}

TEST(Strictness, WokenWhileTheDecisionIsTaken) {
    // The other CPU's clock was read before this one left thread 0, but nothing says whether the
    // scheduler had decided by then.
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(0).wake(1).in(0).step(0).wake(2, 1).sleep(0);
    story.in(1).run(1).step(1).out(1).in(2).run(2).sleep(2);
    expect_none(story);
}

TEST(Strictness, WokenBeforeAStepOfTheThreadBefore) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    story.in(1).run(1).sleep(1).wake(0).wake(1).in(0).wake(2, 1).step(0).sleep(0);
    story.in(1).run(1).sleep(1).in(2).run(2).sleep(2);
    expect_one(story, "thread 1 (pid 101) got CPU 0 and ran user code though thread 2");
}

TEST(Strictness, WokenByAnExitingThread) {
    Story story({1, 3, 2});
    story.in(0).run(0).create(1).create(2).step(0).out(0).in(1).run(1).sleep(1);
    story.in(2).wake(1).exit(2).in(0).run(0).sleep(0);
    expect_one(story, "thread 0 (pid 100) got CPU 0");
    // The same in a turn with user code.
    Story other({1, 3, 2});
    other.in(0).run(0).create(1).create(2).step(0).out(0).in(1).run(1).sleep(1);
    other.in(2).run(2).wake(1).exit(2).in(0).run(0).sleep(0);
    expect_one(other, "ran user code though thread 1 (pid 101)");
}

TEST(Strictness, ThreadThatSleptIsChosenAnew) {
    Story story({1, 2});
    story.in(0).run(0).create(1).run(0).sleep(0).wake(0).in(0).run(0).sleep(0);
    expect_one(story, "thread 0 (pid 100) got CPU 0 and ran user code though thread 1");
}

TEST(Strictness, InterruptedThreadGoesOnUntilItsNextStep) {
    // Another program takes the CPU; meanwhile thread 1 gets ready.
    Story story({1, 2});
    story.in(0).run(0).create(1).out(0).in(1).run(1).sleep(1).in(0).run(0).out(0).wake(1, 1);
    story.in(0).run(0).out(0).in(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

// ---- C: giving way ----

TEST(Strictness, WokenThreadTakesOverAtTheNextStep) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(1).run(1).sleep(1);
    story.in(0).run(0).wake(1, 1).run(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, WokenThreadHasToWaitLongerThanThat) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1 (pid 101)");
}

TEST(Strictness, SleepsInTheOperationInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) went to sleep in an operation though thread 1");
}

TEST(Strictness, ExitsInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).exit(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) exited though thread 1");
}

TEST(Strictness, KilledAfterGivingWay) {
    // Dies in the kernel, without user code; when it gets there is nobody's business.
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).exit(0).in(1).run(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ExitingThreadNeedNotBePreferred) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(1).run(1).out(1);
    story.records().back().exiting = 1;
    story.in(0).run(0).exit(0).in(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ExitingThreadMayStillBeOnItsCpu) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).record(0, PCT_WITNESS_EXIT).in(1, 1).run(1).exit(0);
    story.step(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ThreadsAboveTheLowSetExecuteTogether) {
    Story story({2, 3, 1});
    story.under("ppct").in(0).run(0).create(1).create(2).step(0).in(1, 1).run(1).step(1);
    story.step(0).step(1).sleep(1).sleep(0).in(2, 1).step(2).step(2).exit(2);
    expect_none(story);
}

TEST(Strictness, LowSetDoesNotExecuteBesideOthers) {
    Story story({2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).out(0);
    expect_one(story, "thread 1 (pid 101) made step 3 though thread 0");
}

TEST(Strictness, LowSetExecutesAsSoonAsTheOthersSleep) {
    // The record that thread 0 has left its CPU comes late.
    Story story({2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).sleep(0);
    expect_none(story);
    Story earlier({2, 1});
    earlier.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).step(0).sleep(0);
    expect_one(earlier, "thread 1 (pid 101) made step 3 though thread 0");
}

TEST(Strictness, LowSetChangesBeforeTheLogTellsOfANewThread) {
    // Thread 1 is the lowest until thread 2 appears, which thread 0 begins to create in its last
    // turn.
    Story story({3, 2, 1});
    story.under("ppct").in(0).run(0).create(1).step(0).in(1, 1).step(1).step(1).create(2).out(0);
    expect_none(story);
}

TEST(Strictness, RunsAgainInsteadOfGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).run(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) ran user code again though thread 1");
}

TEST(Strictness, PassesThroughAfterGivingWay) {
    Story story({1, 2});
    story.in(0).run(0).create(1).step(0).out(0).in(0).out(0).in(1).run(1).out(1).in(0).out(0);
    story.in(1).run(1).sleep(1).in(0).run(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, ChangePointLetsTheOtherRun) {
    Story story({2, 1}, 2, kFirstStep);
    put_change_point(story, 1);
    story.in(0).run(0).create(1).step(0, 1).out(0).in(1).run(1).step(1).sleep(1);
    story.in(0).step(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, ChangePointWithoutEffect) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).run(0).create(1).step(0, 1).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1");
}

TEST(Strictness, DemotionLetsTheOtherRun) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).demote(0, PCT_DEMOTE_YIELD).out(0).in(1).run(1).sleep(1);
    story.in(0).run(0).sleep(0);
    expect_none(story);
}

TEST(Strictness, DemotionWithoutEffect) {
    Story story({2, 1});
    story.in(0).run(0).create(1).step(0).demote(0, PCT_DEMOTE_YIELD).step(0).out(0);
    expect_one(story, "thread 0 (pid 100) made step 2 though thread 1");
}

TEST(Strictness, SpinDemotionJustBeforeAStep) {
    Story story({2, 1});
    story.in(0).step(0).create(1).demote(0, PCT_DEMOTE_SPIN).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

TEST(Strictness, SpinDemotionWithoutEffect) {
    Story story({2, 1});
    story.in(0).step(0).create(1).demote(0, PCT_DEMOTE_SPIN).step(0).step(0).out(0);
    expect_one(story, "thread 0 (pid 100) made step 3 though thread 1");
    Story other({2, 1});
    other.in(0).step(0).create(1).run(0).demote(0, PCT_DEMOTE_SPIN).out(0).in(0).run(0).out(0);
    expect_one(other, "thread 0 (pid 100) ran user code again though thread 1");
}

TEST(Strictness, DemotedThreadRaisedByAChangePoint) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).run(0).create(1).demote(0, PCT_DEMOTE_SPIN).out(0).in(1).run(1).sleep(1);
    story.in(0).step(0, 1).wake(1).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
}

// ---- D: membership ----

TEST(Strictness, ThreadMissingInTheLog) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0).sleep(0).in(1).run(1).sleep(1);
    expect_one(story, "thread 1 (pid 101) ran user code, but is not in the log");
}

TEST(Strictness, ThreadMissingInTheLogThatNeverRan) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0).sleep(0).in(1).exit(1);
    expect_none(story);
}

TEST(Strictness, ThreadCreatedOutsideSchedExt) {
    Story story({2, 1});
    story.in(0).step(0).fork(1, 0);
    story.records().back().controlled = 0;
    story.sleep(0);
    expect_one(story, "thread 1 (pid 101) was created outside sched_ext");
}

TEST(Strictness, ThreadOfAnotherRunIsNoneOfOurs) {
    Story story({2, 1});
    story.in(0).step(0).in(1, 1).run(1).sleep(1).sleep(0);
    expect_none(story);
}

TEST(Strictness, WrongCreator) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1).create(2);
    for (pct_witness_record& record : story.records())
        if (record.type == PCT_WITNESS_NEW && record.pid == kPid + 2)
            record.parent = story.records()[1].task; // thread 1's
    story.sleep(0);
    expect_one(story, "said to be created by thread 0, but thread 1 did it");
}

TEST(Strictness, SameChildTwice) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1).create(2).sleep(0);
    story.log().back().ordinal = 1;
    EXPECT_THAT(story.check().details,
                testing::Contains(HasSubstr("child 1 of thread 0, as another is")));
}

TEST(Strictness, CreationThatFailedLeavesItsPid) {
    Story story({3, 2, 1});
    story.in(0).step(0).create(1);
    story.records().pop_back();
    story.create(2).sleep(0).in(2).step(2).sleep(2);
    for (pct_witness_record& record : story.records())
        if (record.pid == kPid + 2)
            record.pid = kPid + 1;
    for (pct_event& event : story.log())
        event.pid = static_cast<int>(event.thread ? kPid + 1 : kPid);
    expect_none(story);
}

TEST(Strictness, AddressUsedAgainByAnotherRun) {
    for (const bool created_by_watched : {false, true}) {
        Story story({2, 1});
        story.in(0).run(0).create(1).sleep(0).in(1).run(1);
        if (created_by_watched)
            story.sleep(1).wake(0).in(0).fork(1, 7); // thread 1's end has been overlooked
        else
            story.wake(0).exit(1).in(0);
        story.in(1, 1).run(1).sleep(1).run(0).sleep(0);
        expect_none(story);
    }
}

TEST(Strictness, PidUsedTwice) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).step(0).sleep(0).in(1).run(1).wake(0).exit(1);
    story.in(0).run(0).create(2).step(0).sleep(0).in(2).run(2).sleep(2);
    for (pct_witness_record& record : story.records())
        if (record.pid == kPid + 2)
            record.pid = kPid + 1;
    for (pct_event& event : story.log())
        if (event.thread == 2)
            event.pid = kPid + 1;
    expect_none(story);
}

TEST(Strictness, FirstThreadIsOnItsCpuWhenRecordsBegin) {
    Story story({1, 2});
    story.step(0).create(1).step(0).out(0).in(1).run(1).sleep(1);
    expect_none(story);
    Story other({1, 2});
    other.step(0).create(1).step(0).step(0).out(0).in(1).run(1).sleep(1);
    expect_one(other, "thread 0 (pid 100) made step 3");
}

// ---- E: the log is what the seed says ----

TEST(Strictness, PriorityOfAnotherSeed) {
    Story story({1, 2});
    story.in(0).step(0).sleep(0);
    story.seed().stream++;
    EXPECT_THAT(story.check().details, testing::Contains(HasSubstr("by the log")));
}

TEST(Strictness, ChangePointMissing) {
    Story story({2, 1}, 2, kFirstStep);
    story.in(0).step(0).sleep(0);
    expect_one(story, "after step 1, but 4294967297 by the seed");
}

TEST(Strictness, ChangePointInvented) {
    Story story({2, 1}, 1, kFirstStep);
    story.in(0).step(0, 1).sleep(0);
    expect_one(story, "has priority 4294967297 after step 1");
}

TEST(Strictness, DemotionNotBelowAllOthers) {
    Story story({2, 1});
    story.in(0).step(0).demote(0, PCT_DEMOTE_YIELD).demote(0, PCT_DEMOTE_YIELD).sleep(0);
    story.log().back().priority += 1;
    expect_one(story, "not below all before");
}

TEST(Strictness, StepCountedTwice) {
    Story story({2, 1});
    story.in(0).step(0).step(0).sleep(0);
    story.log().back().step = 1;
    expect_one(story, "step 1 follows step 1");
}

TEST(Strictness, StepOfAThreadThatWasNotOnACpu) {
    Story story({2, 1});
    story.in(0).step(0).sleep(0).step(0);
    expect_one(story, "made step 2 without being on a CPU");
}

TEST(Strictness, StepsWithoutAnyRecord) {
    Story story({2, 1});
    story.step(0).step(0);
    EXPECT_EQ(story.check().violations, 2u);
}

TEST(Strictness, LogWithFlaws) {
    Story story({2, 1});
    story.in(0).step(0).sleep(0);
    story.log().back().thread = 7;
    expect_one(story, "thread 7, which it never created");
    EXPECT_EQ(check_strictness({}).violations, 1u);
}

// ---- What counts as user code ----

TEST(Strictness, StepCountsAsUserCode) {
    Story story({3, 1, 2});
    story.in(0).run(0).create(1).create(2).step(0).sleep(0).in(1).step(1);
    story.records().back().user_state = 1; // as if nothing had happened
    story.out(1);
    story.records().back().user_state = 1;
    story.in(2).run(2).sleep(2);
    expect_one(story, "thread 1 (pid 101) got CPU 0");
}

TEST(Strictness, StepsOfASingleEnabledThreadAreNotCounted) {
    Story story({1, 0}, 2, 1);
    story.in(0).sequential_step(0).create(1).step(0, 1); // the change point is at number 1
    EXPECT_EQ(story.check().violations, 0u);
    Story ended({1, 0});
    ended.in(0).create(1).sleep(0).in(1).step(1).exit(1).wake(0).in(0).sequential_step(0);
    EXPECT_EQ(ended.check().violations, 0u);
}

TEST(Strictness, AStepHasToCountWhileAnotherThreadIsReady) {
    Story story({1, 0});
    story.in(0).create(1).wake(1).step(0).sequential_step(0);
    EXPECT_EQ(story.check().violations, 1u);
}

// Thread 1 sleeps from the first phase into the second, where thread 2 appears.
Story two_phases() {
    Story story({2, 1, 0});
    story.with_phases()
        .in(0)
        .create(1)
        .step(0)
        .sleep(0)
        .in(1)
        .step(1)
        .wake(0)
        .sleep(1)
        .in(0)
        .sequential_step(0);
    story.wake(1).create(2).step(0);
    return story;
}

TEST(Strictness, APhaseHasItsOwnPrioritiesAndNumbers) {
    Story story = two_phases();
    EXPECT_EQ(story.check().violations, 0u);
    EXPECT_EQ(story.log().back().code, 2); // the wake-up was number 1
    EXPECT_NE(story.log().front().priority, story.log().back().priority);
}

TEST(Strictness, APriorityOfTheLastPhaseIsWrong) {
    Story story = two_phases();
    story.log().back().priority = story.log().front().priority;
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, AWakeUpInANewPhaseCounts) {
    Story story = two_phases();
    story.log().back().code = 1;
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, AThreadAppearsInItsPhase) {
    Story story = two_phases();
    pct_event& appears = story.log()[story.log().size() - 2];
    ASSERT_EQ(appears.type, PCT_EVENT_THREAD);
    appears.code = 0;
    appears.priority = pct_initial_priority(story.seed().stream, appears.identity, 0);
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, StepsAreNumberedForChangePointsWithoutAGap) {
    Story story({1, 0});
    story.in(0).create(1).wake(1).step(0).step(0);
    story.log().back().code = 1;
    EXPECT_EQ(story.check().violations, 1u);
}

TEST(Strictness, DetailsAreLimited) {
    Story story({1, 2});
    story.in(0).run(0).create(1);
    for (int i = 0; i < 30; i++)
        story.step(0);
    story.out(0);
    const StrictnessReport report = story.check();
    EXPECT_EQ(report.violations, 29u);
    EXPECT_EQ(report.details.size(), 10u);
}

} // namespace
} // namespace pctctl
