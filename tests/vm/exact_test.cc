// SPDX-License-Identifier: GPL-2.0-only
// The program exact3 must make its steps in the order that the rules in its header give
// (tests/zoo/exact3.c), for every permutation of the priorities and every change point. A small
// simulator carries out these rules. It knows nothing of the scheduler. From policies/ it takes
// only the random choices themselves (priorities, change points), which are functions of the run's
// seed. Compared with it are the letters that a run prints and its order hash.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cinttypes>
#include <map>
#include <set>
#include <utility>

#include "harness.h"
#include "pct.h"
#include "pctctl/identity.h"
#include "pctctl/points.h"
#include "pctctl/run.h"
#include "policy.h"

namespace vmtest {
namespace {

constexpr unsigned kSteps = 16; // K with --points pthread
constexpr int kOrders = 6;      // permutations of three

enum Who : std::size_t { main_thread, thread_a, thread_b };

const std::array<std::uint64_t, 3> kIdentity = {PCT_ROOT_IDENTITY,
                                                pct_child_identity(PCT_ROOT_IDENTITY, 1),
                                                pct_child_identity(PCT_ROOT_IDENTITY, 2)};

struct Choices {
    std::array<std::uint64_t, 3> priority{};       // M, A, B
    std::map<std::uint64_t, std::uint64_t> change; // step of the program -> new priority
};

struct Order {
    std::string letters;
    std::uint64_t hash = 0;
    std::uint64_t k_eff = 0; // steps counted; with Counting::all, those with another enabled
};

// Which steps are counted and can be change points.
enum class Counting {
    all,
    concurrent, // while another thread is enabled
    phases,     // the same, counted anew in each phase
};

// Carries out the rules R1 to R4 of tests/zoo/exact3.c, and the phases of section 4.2 of the PCT
// paper. A thread that arrives at a step while no other thread is enabled begins a new phase,
// unless the present one has no step yet. Each thread gets a new priority in each phase. A thread
// that sleeps in a join while a new phase begins is counted in that phase when it wakes.
class Simulator {
public:
    // One element for each phase.
    Simulator(std::vector<Choices> choices, Counting counting)
        : choices_(std::move(choices)), counting_(counting) {
        threads_[main_thread].program = "12mmmm34";
        threads_[thread_a].program = "aaaa";
        threads_[thread_b].program = "bbbb";
        appear(main_thread);
    }

    Order run() {
        while (const auto who = highest()) // R2
            go_on(*who);
        return order_;
    }

private:
    struct Thread {
        std::string program; // the letters of its steps
        std::size_t next = 0;
        std::uint64_t priority = 0;
        std::size_t phase = 0;
        bool exists = false;
        bool arrived = false;   // at the step `next`, which has been counted
        bool waits = false;     // in the join `next`
        bool to_append = false; // the step `next` is over, its letter is not yet written
        bool ended() const { return exists && next == program.size(); }
    };

    bool enabled(std::size_t who) const { // R1
        const Thread& thread = threads_[who];
        if (!thread.exists || thread.ended())
            return false;
        return !thread.waits || joined(thread).ended();
    }

    // The thread that is waited for; `thread` is at a join.
    const Thread& joined(const Thread& thread) const {
        return threads_[thread.program[thread.next] == '3' ? thread_a : thread_b];
    }

    std::optional<std::size_t> highest() const {
        std::optional<std::size_t> best;
        for (std::size_t i = 0; i < threads_.size(); ++i)
            if (enabled(i) && (!best || threads_[i].priority > threads_[*best].priority))
                best = i;
        return best;
    }

    void appear(std::size_t who) {
        threads_[who].exists = true;
        threads_[who].phase = phase_;
        threads_[who].priority = choices_[phase_].priority[who];
    }

    // Brings the thread into the present phase. False if it was in it already.
    bool enter_phase(std::size_t who) {
        Thread& thread = threads_[who];
        if (std::exchange(thread.phase, phase_) == phase_)
            return false;
        thread.priority = choices_[phase_].priority[who];
        return true;
    }

    // The thread does one thing: it arrives at a step, makes it, or writes its letter. Before the
    // next one another thread may be the highest.
    void go_on(std::size_t who) {
        Thread& thread = threads_[who];
        if (!thread.arrived && !thread.to_append) {
            arrive(who);
        } else if (thread.arrived) {
            const char step = thread.program[thread.next];
            thread.waits = (step == '3' || step == '4') && !joined(thread).ended();
            if (thread.waits)
                return;
            thread.arrived = false;
            thread.to_append = true;
            if (step == '1' || step == '2')
                appear(step == '1' ? thread_a : thread_b); // R4
        } else {
            thread.to_append = false;
            order_.letters += thread.program[thread.next++];
            const Thread& joiner = threads_[main_thread];
            if (joiner.waits && &joined(joiner) == &thread && thread.ended() &&
                enter_phase(main_thread))
                count(main_thread);
        }
    }

    void arrive(std::size_t who) {
        Thread& thread = threads_[who];
        thread.arrived = true;
        order_.hash = pct_order_hash(order_.hash, kIdentity[who], kind(thread));
        bool alone = true;
        for (std::size_t other = 0; other < threads_.size(); ++other)
            alone = alone && (other == who || !enabled(other));
        if (alone && counting_ == Counting::phases && count_ > 0) {
            ++phase_;
            count_ = 0;
        }
        enter_phase(who);
        concurrent_ += !alone;
        if (!alone || counting_ == Counting::all)
            count(who);
    }

    void count(std::size_t who) {
        const auto& change = choices_[phase_].change;
        const auto here = change.find(++count_); // R3
        if (here != change.end())
            threads_[who].priority = here->second;
        order_.k_eff = counting_ == Counting::phases ? std::max(order_.k_eff, count_) : concurrent_;
    }

    static std::uint32_t kind(const Thread& thread) {
        switch (thread.program[thread.next]) {
        case '1':
        case '2':
            return PCT_KIND_LIBC + PCT_LIBC_pthread_create;
        case '3':
        case '4':
            return PCT_KIND_LIBC + PCT_LIBC_pthread_join;
        default: // lock, unlock, lock, unlock; main's come after two others
            return PCT_KIND_LIBC +
                   (thread.next % 2 ? PCT_LIBC_pthread_mutex_unlock : PCT_LIBC_pthread_mutex_lock);
        }
    }

    std::vector<Choices> choices_;
    Counting counting_;
    std::array<Thread, 3> threads_;
    std::size_t phase_ = 0;
    std::uint64_t count_ = 0; // steps counted in the present phase
    std::uint64_t concurrent_ = 0;
    Order order_;
};

Order simulate(std::array<std::uint64_t, 3> priority,
               std::map<std::uint64_t, std::uint64_t> change = {}) {
    return Simulator({{priority, std::move(change)}}, Counting::all).run();
}

// The choices that follow from a run's seed, for one phase. `skipped` steps (of the loader) come
// before the program's 16. Of several change points at one step, the one with the highest number
// counts.
Choices choices(std::uint64_t stream, std::uint32_t k, unsigned depth, std::uint64_t skipped = 0,
                std::uint64_t phase = 0) {
    Choices made;
    for (std::size_t i = 0; i < kIdentity.size(); ++i)
        made.priority[i] = pct_initial_priority(stream, kIdentity[i], phase);
    for (unsigned i = 1; k > 0 && i < depth; ++i) {
        const std::uint64_t step = pct_change_point(stream, i, k, phase).step;
        if (step > skipped)
            made.change[step - skipped] = i;
        else
            made.priority[main_thread] = std::min<std::uint64_t>(made.priority[main_thread], i);
    }
    return made;
}

// The choices for as many phases as the program can have.
std::vector<Choices> choices_by_phase(std::uint64_t stream, std::uint32_t k, unsigned depth) {
    std::vector<Choices> phases;
    for (std::uint64_t phase = 0; phase <= kSteps; ++phase)
        phases.push_back(choices(stream, k, depth, 0, phase));
    return phases;
}

// A different number for each order of three priorities.
int permutation(const std::array<std::uint64_t, 3>& p) {
    return (p[0] > p[1]) + 2 * (p[0] > p[2]) + 4 * (p[1] > p[2]);
}

// The lines of 16 letters that the runs of a campaign with -v have printed, in order.
std::vector<std::string> printed(const std::string& out) {
    std::vector<std::string> found;
    for (const std::string& line : lines(out))
        if (line.size() == kSteps && line.find_first_not_of("1234mab") == std::string::npos)
            found.push_back(line);
    return found;
}

// How many runs of a campaign it takes until every permutation has met every change point. `most` +
// 1: more than `most`.
unsigned runs_to_meet_all(std::uint64_t campaign_seed, unsigned most) {
    std::set<std::pair<int, std::uint64_t>> met;
    for (unsigned run = 2; run <= most; ++run) {
        const std::uint64_t stream = pct_random(campaign_seed, PCT_RAND_RUN_SEED, run);
        const Choices made = choices(stream, kSteps, 2);
        met.emplace(permutation(made.priority), made.change.begin()->first);
        if (met.size() == kOrders * kSteps)
            return run;
    }
    return most + 1;
}

Call campaign(std::uint64_t seed, unsigned runs, const Arguments& more) {
    Arguments arguments = {
        "-v",      "--seed", std::to_string(seed), "--runs", std::to_string(runs), "--jobs", "1",
        "--focus", "off"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--", built("zoo/exact3")});
    return pctctl(arguments, std::chrono::seconds(100 + runs));
}

// Checks the simulator itself against the examples in the program's header.
TEST(Simulator, AgreesWithTheHeadersExamples) {
    constexpr std::uint64_t high = 30;
    constexpr std::uint64_t mid = 20;
    constexpr std::uint64_t low = 10;
    EXPECT_EQ("12mmmmaaaa3bbbb4", simulate({high, mid, low}).letters);
    EXPECT_EQ("12mmmmbbbbaaaa34", simulate({high, low, mid}).letters);
    EXPECT_EQ("aaaa12mmmm3bbbb4", simulate({mid, high, low}).letters);
    EXPECT_EQ("1bbbb2mmmmaaaa34", simulate({mid, low, high}).letters);
    EXPECT_EQ("aaaa1bbbb2mmmm34", simulate({low, high, mid}).letters);
    EXPECT_EQ("aaaa1bbbb2mmmm34", simulate({low, mid, high}).letters);
    EXPECT_EQ("12maaaabbbbmmm34", simulate({high, mid, low}, {{4, 1}}).letters);
    EXPECT_EQ("a12mmmmbbbbaaa34", simulate({mid, high, low}, {{3, 1}}).letters);
}

TEST(Exact, EveryChangePointUnderEveryPermutation) {
    // Look for a campaign seed whose first runs meet all 96 pairs of permutation and change point.
    // The results below say whether they did.
    std::uint64_t seed = 1;
    const unsigned most = 260;
    unsigned runs = most + 1;
    for (; runs > most; ++seed)
        runs = runs_to_meet_all(seed, most);
    --seed;

    const Call call =
        campaign(seed, runs, {"--points", "pthread", "--depth", "2", "--skip-sequential", "off"});
    ASSERT_EQ(0, call.status) << call;
    ASSERT_TRUE(call.reported) << call;
    const std::vector<std::string> letters = printed(call.out);
    ASSERT_EQ(runs, letters.size()) << call;
    ASSERT_EQ(runs, call.summary.results.size()) << call;
    std::set<std::pair<int, std::uint64_t>> met;
    std::set<std::string> orders;
    for (std::size_t i = 0; i < runs; ++i) {
        const RunResult& run = call.summary.results[i];
        ASSERT_EQ(kSteps, run.steps) << "run " << run.number;
        ASSERT_EQ(i == 0 ? 0 : kSteps, run.seed_k) << "run " << run.number;
        const Choices made = choices(run.seed_stream, run.seed_k, 2);
        const Order expected = Simulator({made}, Counting::all).run();
        const std::uint64_t at = made.change.empty() ? 0 : made.change.begin()->first;
        EXPECT_EQ(expected.letters, letters[i]) << "seed " << run.seed << ", change point " << at;
        EXPECT_EQ(expected.hash, run.order_hash) << "seed " << run.seed << ", change point " << at;
        EXPECT_EQ(expected.k_eff, run.k_eff) << "seed " << run.seed;
        if (at > 0)
            met.emplace(permutation(made.priority), at);
        orders.insert(letters[i]);
    }
    EXPECT_EQ(static_cast<std::size_t>(kOrders) * kSteps, met.size());
    std::cout << runs << " runs, " << met.size() << " pairs of permutation and change point, "
              << orders.size() << " different orders\n";
}

// Several change points, by the paper's rule: at the i-th the priority becomes i.
TEST(Exact, SeveralChangePoints) {
    const unsigned runs = long_tests() ? 3000 : 40;
    for (const unsigned depth : {3U, 5U})
        for (const Counting counting : {Counting::concurrent, Counting::phases}) {
            const Call call =
                campaign(depth, runs,
                         {"--points", "pthread", "--depth", std::to_string(depth), "--join-phases",
                          counting == Counting::phases ? "on" : "off"});
            ASSERT_EQ(0, call.status) << call;
            const std::vector<std::string> letters = printed(call.out);
            ASSERT_EQ(runs, letters.size()) << call;
            for (std::size_t i = 0; i < runs; ++i) {
                const RunResult& run = call.summary.results[i];
                const Order expected =
                    Simulator(choices_by_phase(run.seed_stream, run.seed_k, depth), counting).run();
                const std::string which = "seed " + run.seed + ", depth " + std::to_string(depth);
                EXPECT_EQ(expected.letters, letters[i]) << which;
                EXPECT_EQ(expected.k_eff, run.k_eff) << which;
                EXPECT_EQ(expected.hash, run.order_hash) << which;
            }
        }
}

// With system calls as points too there are more steps: those of the loader come before main, and
// the write of the letters comes last.
TEST(Exact, BothSetsOfPoints) {
    const unsigned runs = long_tests() ? 1000 : 60;
    const Call call = campaign(7, runs, {"--depth", "2", "--skip-sequential", "off"});
    ASSERT_EQ(0, call.status) << call;
    const std::vector<std::string> letters = printed(call.out);
    ASSERT_EQ(runs, letters.size()) << call;
    const std::uint64_t k = call.summary.steps;
    ASSERT_GT(k, kSteps + 1);
    for (std::size_t i = 0; i < runs; ++i) {
        const RunResult& run = call.summary.results[i];
        ASSERT_EQ(k, run.steps) << "seed " << run.seed;
        const Choices made = choices(run.seed_stream, run.seed_k, 2, k - kSteps - 1);
        EXPECT_EQ(Simulator({made}, Counting::all).run().letters, letters[i])
            << "seed " << run.seed;
    }
}

// Steps that main makes before the other threads exist, and after they have ended, are not counted,
// whichever operations `--points` makes a step.
TEST(Exact, SequentialStepsAreSkipped) {
    const unsigned runs = long_tests() ? 1000 : 50;
    for (const char* points : {"pthread", "pthread,syscall"})
        for (const Counting counting : {Counting::concurrent, Counting::phases}) {
            const bool phases = counting == Counting::phases;
            const Call call = campaign(
                8, runs,
                {"--depth", "2", "--points", points, "--join-phases", phases ? "on" : "off"});
            ASSERT_EQ(0, call.status) << call;
            const std::vector<std::string> letters = printed(call.out);
            ASSERT_EQ(runs, letters.size()) << call;
            std::uint64_t most = 0;
            for (std::size_t i = 0; i < runs; ++i) {
                const RunResult& run = call.summary.results[i];
                EXPECT_EQ(most, run.seed_k) << "run " << run.number;
                const Order expected =
                    Simulator(choices_by_phase(run.seed_stream, run.seed_k, 2), counting).run();
                EXPECT_EQ(expected.letters, letters[i])
                    << points << (phases ? ", phases" : "") << ", seed " << run.seed;
                EXPECT_EQ(expected.k_eff, run.k_eff) << points << ", seed " << run.seed;
                most = std::max(most, run.k_eff);
            }
            EXPECT_EQ(most, call.summary.k_eff);
            EXPECT_LT(most, kSteps);
            std::cout << points << ": k " << call.summary.steps << ", k_eff " << most << "\n";
        }
}

// Operations of the C library that call others, e.g. call_once() with a function that locks.
// programs/counted.c says how many steps each case makes. With system calls as points, the futex
// calls inside of an operation must not be counted.
TEST(Exact, StepsOfOperationsInsideOthers) {
    const std::vector<std::string> cases = {"nothing",   "once",    "once-once",
                                            "call-once", "handler", "futex2"};
    constexpr unsigned kTimes = 3;
    // The number of steps by case, including those that in_turn makes before it executes the
    // program.
    const auto steps = [&cases](const char* points) {
        std::vector<std::string> commands;
        for (const std::string& one : cases)
            commands.push_back(built("programs/counted") + " " + one);
        const InTurn all(commands, kTimes);
        Arguments arguments = {"--runs",   std::to_string(all.runs()),
                               "--seed",   "1",
                               "--focus",  "off",
                               "--points", points,
                               "--"};
        arguments.insert(arguments.end(), all.command().begin(), all.command().end());
        const Call call = pctctl(arguments);
        EXPECT_EQ(0, call.status) << call;
        EXPECT_EQ(all.runs(), call.summary.runs_done) << call;
        std::map<std::string, std::uint64_t> counted;
        for (std::size_t i = 0; i < call.summary.results.size(); ++i) {
            const std::uint64_t here = call.summary.results[i].steps;
            const auto [first, added] = counted.emplace(cases[i / kTimes], here);
            EXPECT_EQ(first->second, here) << call;
        }
        return counted;
    };
    auto libc = steps("pthread");
    auto both = steps("pthread,syscall");
    EXPECT_EQ(0U, libc["nothing"]);
    const std::map<std::string, std::uint64_t> expected = {
        {"once", 3}, {"once-once", 4}, {"call-once", 3}, {"handler", 3}};
    for (const auto& [what, number] : expected) {
        EXPECT_EQ(number, libc[what]) << what;
        EXPECT_EQ(both["nothing"] + number, both[what]) << what;
    }
    EXPECT_EQ(both["nothing"] + 2, both["futex2"]);
}

// A replay makes the run that the seed stands for, each time.
TEST(Exact, Replays) {
    for (std::uint64_t stream = 100; stream < 102; ++stream) {
        char seed[25];
        const std::uint64_t mixed = stream * 0x9e3779b97f4a7c15;
        std::snprintf(seed, sizeof(seed), "%08x%016" PRIx64, kSteps, mixed);
        const Order expected =
            Simulator(choices_by_phase(mixed, kSteps, 2), Counting::concurrent).run();
        const Call call =
            pctctl({"replay", "--focus", "off", "-v", "--seed", seed, "--points", "pthread",
                    "--depth", "2", "--times", "3", "--", built("zoo/exact3")});
        ASSERT_EQ(0, call.status) << call;
        EXPECT_EQ(std::vector<std::string>(3, expected.letters), printed(call.out)) << call;
        ASSERT_EQ(3U, call.summary.results.size());
        for (const RunResult& run : call.summary.results)
            EXPECT_EQ(expected.hash, run.order_hash);
    }
}

} // namespace
} // namespace vmtest
