// SPDX-License-Identifier: GPL-2.0-only
// Programs for the comparison with the kernel. The model must agree with cases that are worked out
// by hand.
#include "executable.h"
#include "mechanism.h"
#include "sampling.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <map>

namespace pctctl::model {
namespace {

constexpr Object kMutex = 2, kSemaphore = 3, kCondition = 4;

// PCT without change points, with a seed under which the first thread has a higher priority than
// the second, or a lower one.
pct_policy_config pct_with(const Executable& executable, bool first_is_higher) {
    const std::vector<std::uint64_t> identities = executable.identities();
    pct_policy_config config = config_for(PCT_POLICY_PCT);
    while ((pct_initial_priority(config.seed, identities[0], 0) >
            pct_initial_priority(config.seed, identities[1], 0)) != first_is_higher)
        config.seed++;
    return config;
}

// The first thread waits for a signal of the second one.
Executable waiter_and_signaller() {
    const Event wait{.op = Op::kCondSleep, .object = kCondition, .other = kMutex};
    const Event signal{.op = Op::kSignal, .object = kCondition};
    return {.threads = {{fork(1), lock(kMutex), wait, unlock(kMutex), join(1)},
                        {lock(kMutex), signal, unlock(kMutex), access(1)}}};
}

// The waiting thread wakes up twice: by the signal, and again when it has got the mutex, for which
// it had to wait as well. Still its wait is one event. (f fork, l lock, w wait, s signal, u unlock,
// j join, a access.)
TEST(Executable, ConditionWaitIsWokenTwice) {
    const Executable executable = waiter_and_signaller();
    const Performance waiter_first = perform(executable, pct_with(executable, true));
    EXPECT_EQ("aAaAa" // f l w
              "bBb"   // l s
              "Bb"    // u
              "AaAa"  // w is over, u j
              "BbB"   // a
              "A",
              waiter_first.marks);
    EXPECT_FALSE(waiter_first.deadlock);
    EXPECT_EQ(9U, waiter_first.steps);
}

// The wait is one step, whatever the model does with threads that have to wait (enum Waiting).
TEST(Executable, ConditionWaitIsOneStepInAnyMachine) {
    const Executable executable = waiter_and_signaller();
    const Program program = executable.program(false); // pct
    for (const Waiting waiting : {Waiting::kDisabled, Waiting::kAttempts, Waiting::kQueues}) {
        Mechanism mechanism(program, waiting);
        mechanism.set_identities(executable.identities());
        // f l, l s u, w u, a, j
        EXPECT_EQ((Schedule{0, 0, 1, 1, 1, 0, 0, 1, 0}), mechanism.run(pct_with(executable, true)));
        // f, l s u a, l: the signal came too early, so the first thread waits for ever
        EXPECT_EQ((Schedule{0, 1, 1, 1, 1, 0}), mechanism.run(pct_with(executable, false)));
        EXPECT_TRUE(mechanism.state().deadlocked());
    }
}

TEST(Executable, EarlySignalIsLost) {
    const Executable executable = waiter_and_signaller();
    const Performance signal_first = perform(executable, pct_with(executable, false));
    EXPECT_EQ("a" // f
              "bBbBbBbB"
              "AaAa", // l w
              signal_first.marks);
    EXPECT_TRUE(signal_first.deadlock);
}

// From the 17th on, each poll of the semaphore is a sign of no progress. Then each has one chance
// in 16 to demote the thread. That matters in half of the runs, in which the other thread is the
// lower one.
TEST(Executable, PollingEndsByChance) {
    const Executable executable{
        .threads = {{fork(1), {.op = Op::kPoll, .object = kSemaphore}, join(1)},
                    {release(kSemaphore)}}};
    pct_policy_config config = config_for(PCT_POLICY_PCT);
    Share demoted{0, 100'000};
    std::uint64_t longest = 0;
    for (std::uint64_t i = 0; i < demoted.samples; i++) {
        config.seed = pct_random(7, PCT_RAND_RUN_SEED, i);
        const Performance performance = perform(executable, config);
        demoted.hits += performance.interventions;
        longest = std::max(longest, performance.steps);
    }
    const double by_try = 1 - std::pow(15.0 / 16, Executable::kTries - 16);
    EXPECT_TRUE(interval(demoted).contains(by_try / 2))
        << demoted.value() << ", not " << by_try / 2;
    EXPECT_EQ(Executable::kTries + 3, longest);
}

// What a creator does behind the creation and what the new thread does before its first event come
// in either order: under the random walk the one is as likely as the other. A process is created
// between steps.
TEST(Executable, BeginningsCompeteWithTheirCreators) {
    const Executable thread{.threads = {{fork(1), access(1), join(1)}, {access(1)}}};
    const Executable process{.threads = {{access(1)}, {access(1)}}, .processes = true};
    for (const Executable& executable : {thread, process}) {
        pct_policy_config config = config_for(PCT_POLICY_RANDOM_WALK);
        Share late{0, 100'000};
        for (std::uint64_t i = 0; i < late.samples; i++) {
            config.seed = pct_random(8, PCT_RAND_RUN_SEED, i);
            const Performance performance = perform(executable, config);
            const std::size_t behind = performance.marks.find('a', !executable.processes);
            late.hits += behind < performance.marks.find('b');
            ASSERT_EQ(executable.nr_events() + 2, performance.steps);
        }
        EXPECT_TRUE(interval(late).contains(0.5)) << late.hits;
        EXPECT_EQ(executable.nr_events(), perform(executable, config_for(PCT_POLICY_PCT)).steps);
    }
}

TEST(Executable, RandomOnesDoEverything) {
    constexpr unsigned kPrograms = 10'000;
    Random random(3);
    std::map<char, unsigned> with; // a letter in their text
    unsigned deadlocks = 0;
    for (unsigned i = 0; i < kPrograms; i++) {
        const Executable executable = random_executable(random, i % 4 == 3);
        pct_policy_config config = config_for(PCT_POLICY_RANDOM_WALK);
        config.seed = i;
        deadlocks += perform(executable, config).deadlock;
        const std::string text = executable.text();
        for (const char letter : std::string("arlupvfjwsbt"))
            with[letter] += text.find(letter) != std::string::npos;
    }
    for (const auto& [letter, programs] : with)
        EXPECT_GT(programs, kPrograms / 5) << letter;
    EXPECT_GT(deadlocks, kPrograms / 10);
    EXPECT_LT(deadlocks, kPrograms / 2);
    std::cout << deadlocks << " of " << kPrograms << " end in a deadlock\n";
}

} // namespace
} // namespace pctctl::model
