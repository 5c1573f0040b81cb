// SPDX-License-Identifier: GPL-2.0-only
// The scheduler against the model (tests/model). Real threads execute random programs under pctctl,
// and must make their steps in the very order that the model computes from the run's seed. Two
// witnesses tell the order: the program notes before and behind each event which thread it is, and
// the scheduler computes the order hash over identities and kinds of steps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <optional>

#include "executable.h"
#include "harness.h"
#include "plan/policies.h"

namespace vmtest {
namespace {

namespace model = ::pctctl::model;
using model::Executable;
using model::Performance;

constexpr unsigned kDepth = 4; // change points, preemptions
constexpr std::size_t kRecord = 1024;
constexpr std::size_t kMostSteps = 500; // their marks fit into a record

// "a0 a1 b0 a2"
std::string order(const Performance& performance) {
    std::string text;
    for (const model::EventId& event : performance.events) {
        text += static_cast<char>('a' + event.thread);
        text += std::to_string(event.index) + " ";
    }
    return text;
}

// A program that was executed, and in what order.
struct Triple {
    Executable executable;
    RunResult run;
    std::string marks;
    Performance expected; // the model's
};

// A policy, perhaps with an option that changes what it does.
struct Variant {
    std::string policy;
    // NOLINTNEXTLINE(readability-redundant-member-init): designated initialisers may leave it out
    std::optional<std::pair<::pctctl::Parameter, std::uint64_t>> set = {};

    ::pctctl::PolicyParameters parameters() const {
        ::pctctl::PolicyParameters parameters;
        if (set)
            parameters.set(set->first, set->second);
        return parameters;
    }
    Arguments arguments() const {
        if (!set)
            return {};
        return {::pctctl::info(set->first).option, parameters().text(set->first)};
    }
    std::string name() const { return policy + (set ? arguments()[0] + "-" + arguments()[1] : ""); }
};

// model_program DIRECTORY: the programs, and room for what they note.
void prepare(const Directory& directory, const std::vector<Executable>& programs) {
    std::ofstream lines(directory.path() + "/programs");
    for (const Executable& program : programs)
        lines << program.text() << "\n";
    std::ofstream(directory.path() + "/marks") << std::string((programs.size() + 1) * kRecord, 0);
}

// Executes each program once.
class Runner {
public:
    explicit Runner(Variant variant, std::string pctctl = built("pctctl"))
        : variant_(std::move(variant)), parameters_(variant_.parameters()),
          pctctl_(std::move(pctctl)) {}

    // Each with its own seed.
    std::vector<Triple> campaign(const std::vector<Executable>& programs, std::uint64_t seed) {
        return run({"--focus", "off", "--seed", std::to_string(seed), "--runs",
                    std::to_string(programs.size()), "--keep-going"},
                   programs);
    }

    // All with this one.
    std::vector<Triple> same_seed(const std::vector<Executable>& programs, const RunResult& as) {
        Arguments replay = {"replay",
                            "--focus",
                            "off",
                            "--seed",
                            as.seed,
                            "--times",
                            std::to_string(programs.size())};
        if (!as.strides.empty())
            replay.insert(replay.end(), {"--strides", as.strides});
        return run(replay, programs);
    }

    // Of the last campaign or replay.
    std::uint64_t interventions() const { return interventions_; }

    // Whether the option makes a difference to it.
    bool like_default(const Triple& triple) const {
        ::pctctl::Algorithm algorithm{.policy = variant_.policy, .depth = kDepth};
        const auto usual =
            model::perform(triple.executable,
                           ::pctctl::policy_config(algorithm, {.k = triple.run.seed_k,
                                                               .stream = triple.run.seed_stream}));
        return usual.marks == triple.marks;
    }

    // Empty when the kernel's order is the model's.
    std::string difference(const Triple& triple) const {
        const Performance& expected = triple.expected;
        std::string text;
        if (expected.marks != triple.marks)
            text += "  marks of the model:    " + expected.marks +
                    "\n  marks of the program:  " + triple.marks + "\n";
        if (expected.hash != triple.run.order_hash)
            text += "  the order hashes differ; the model's order: " + order(expected) + "\n";
        if (expected.steps != triple.run.steps)
            text += "  steps: " + std::to_string(expected.steps) + " of the model, " +
                    std::to_string(triple.run.steps) + " of the scheduler\n";
        const std::uint64_t counted = parameters_.set_value(::pctctl::Parameter::join_phases)
                                          ? expected.longest_phase
                                          : expected.concurrent;
        const std::uint64_t k_eff = expected.steps > 0 ? std::max<std::uint64_t>(counted, 1) : 0;
        if (variant_.policy == "pct" && k_eff != triple.run.k_eff)
            text += "  k_eff: " + std::to_string(k_eff) + " of the model, " +
                    std::to_string(triple.run.k_eff) + " of the scheduler\n";
        if ((triple.run.outcome == "deadlock") != expected.deadlock ||
            (triple.run.outcome != "pass" && !expected.deadlock))
            text += "  outcome: " + triple.run.outcome +
                    (expected.deadlock ? ", deadlock in the model\n" : ", none in the model\n");
        return text;
    }

    // The smallest part of its program that still differs under the same seed.
    Triple shrunk(Triple triple) {
        for (bool again = true; again;) {
            again = false;
            const std::vector<Executable> parts = smaller(triple.executable);
            if (parts.empty())
                break;
            for (Triple& part : same_seed(parts, triple.run)) {
                if (difference(part).empty())
                    continue;
                triple = std::move(part);
                again = true;
                break;
            }
        }
        return triple;
    }

    // What to print of one that differs.
    std::string report(const Triple& triple) {
        return variant_.name() + ", seed " + triple.run.seed + ": " + triple.executable.text() +
               "\n" + difference(triple);
    }

    // The same of the smallest part, if it differs again and again.
    std::string minimal(const Triple& triple) {
        constexpr std::size_t kTries = 10;
        const auto again = same_seed(std::vector(kTries, triple.executable), triple.run);
        const auto same = std::count_if(again.begin(), again.end(), [&](const Triple& other) {
            return other.marks == triple.marks && other.run.order_hash == triple.run.order_hash;
        });
        if (static_cast<std::size_t>(same) < kTries)
            return "not reproducible: " + std::to_string(same) + " of " + std::to_string(kTries) +
                   " repetitions have this order";
        return "minimal: " + report(shrunk(triple));
    }

private:
    pct_policy_config config(const RunResult& run) const {
        ::pctctl::Algorithm algorithm{.policy = variant_.policy, .depth = kDepth};
        if (!run.strides.empty())
            algorithm.strides = *::pctctl::Strides::parse(run.strides);
        return ::pctctl::policy_config(algorithm, {.k = run.seed_k, .stream = run.seed_stream},
                                       parameters_);
    }

    std::vector<Triple> run(Arguments arguments, const std::vector<Executable>& programs) {
        const Directory directory;
        prepare(directory, programs);
        // An emulated machine that stands still for half a second spins, as the scheduler sees it.
        const Arguments rest = {"--policy",
                                variant_.policy,
                                "--points",
                                "pthread",
                                "--spin-limit",
                                "0",
                                "--jobs",
                                "1",
                                "--depth",
                                std::to_string(kDepth),
                                "--",
                                built("programs/model_program"),
                                directory.path()};
        const Arguments option = variant_.arguments();
        arguments.insert(arguments.end(), option.begin(), option.end());
        arguments.insert(arguments.end(), rest.begin(), rest.end());
        const Call call =
            pctctl(arguments, std::chrono::seconds(120 + 2 * programs.size()), pctctl_);
        interventions_ = call.summary.interventions;
        std::vector<Triple> triples;
        EXPECT_TRUE(call.reported) << call;
        EXPECT_EQ(programs.size(), call.summary.results.size()) << call;
        if (call.summary.results.size() != programs.size())
            return triples;
        const std::string marks = contents(directory.path() + "/marks");
        for (std::size_t i = 0; i < programs.size(); ++i) {
            const char* record = marks.data() + (i + 1) * kRecord;
            std::uint32_t length = 0;
            std::memcpy(&length, record, sizeof(length));
            EXPECT_EQ(i + 1, call.summary.results[i].number);
            const RunResult& run = call.summary.results[i];
            triples.push_back(
                {programs[i], run,
                 std::string(record + sizeof(length), std::min<std::size_t>(length, kRecord - 4)),
                 model::perform(programs[i], config(run))});
        }
        return triples;
    }

    Variant variant_;
    ::pctctl::PolicyParameters parameters_;
    std::string pctctl_;
    std::uint64_t interventions_ = 0;
};

// One in four with processes instead of threads.
std::vector<Executable> random_programs(std::size_t count, std::uint64_t seed) {
    model::Random random(seed);
    std::vector<Executable> programs;
    while (programs.size() < count) {
        Executable program = random_executable(random, programs.size() % 4 == 3);
        if (program.most_steps() <= kMostSteps)
            programs.push_back(std::move(program));
    }
    return programs;
}

std::uint64_t seed_of(std::string_view policy) {
    std::uint64_t seed = 0;
    for (const char character : policy)
        seed = pct_mix(seed ^ static_cast<unsigned char>(character));
    return seed >> 32;
}

void compare(const Variant& variant, std::size_t runs) {
    Runner runner(variant);
    const std::uint64_t seed = seed_of(variant.name());
    std::size_t deadlocks = 0;
    std::size_t events = 0;
    std::size_t as_usual = 0;
    std::uint64_t interventions = 0;
    std::vector<Triple> different;
    constexpr std::size_t kAtOnce = 250;
    for (std::size_t done = 0; done < runs; done += kAtOnce) {
        const auto programs = random_programs(std::min(kAtOnce, runs - done), seed + done);
        std::uint64_t expected = 0; // signs of no progress that the policy does something about
        for (Triple& triple : runner.campaign(programs, seed + done)) {
            expected += triple.expected.interventions;
            deadlocks += triple.run.outcome == "deadlock";
            events += triple.run.steps;
            as_usual += variant.set && runner.like_default(triple);
            if (!runner.difference(triple).empty())
                different.push_back(std::move(triple));
        }
        EXPECT_EQ(expected, runner.interventions());
        interventions += expected;
    }
    std::cout << variant.name() << ": " << runs << " programs, " << events << " events, "
              << deadlocks << " deadlocks, " << interventions << " interventions, "
              << different.size() << " differences\n";
    EXPECT_EQ(0U, different.size());
    for (std::size_t i = 0; i < std::min<std::size_t>(3, different.size()); ++i)
        ADD_FAILURE() << runner.report(different[i]);
    for (std::size_t i = 0; i < std::min<std::size_t>(3, different.size()); ++i)
        ADD_FAILURE() << runner.minimal(different[i]);
    if (variant.set) {
        std::cout << "  " << as_usual << " as without the option\n";
        EXPECT_LT(as_usual, runs);
    }
}

std::vector<Variant> serial_policies() {
    std::vector<Variant> variants;
    for (const ::pctctl::PolicyInfo& policy : ::pctctl::known_policies())
        if (pct_is_serial(policy.enforcement))
            variants.push_back({std::string(policy.name)});
    return variants;
}

// Values that make a difference where runs have some ten steps.
std::vector<Variant> options() {
    using ::pctctl::Parameter;
    return {{"pct", {{Parameter::join_phases, 1}}},
            {"pct", {{Parameter::skip_sequential, 0}}},
            {"pos", {{Parameter::pos_readonly, 0}}},
            {"rpro", {{Parameter::radius, 2}}},
            {"preempt-bound", {{Parameter::preemptions, 1}}},
            {"stride", {{Parameter::stride_max, 4}}}};
}

class ModelAgainstKernel : public testing::TestWithParam<Variant> {};

TEST_P(ModelAgainstKernel, HaveTheSameOrders) {
    compare(GetParam(), long_tests() ? 1000 : 40);
}

std::string identifier(std::string name) {
    std::erase(name, '-');
    return name;
}

INSTANTIATE_TEST_SUITE_P(Serial, ModelAgainstKernel, testing::ValuesIn(serial_policies()),
                         [](const auto& info) { return identifier(info.param.name()); });
INSTANTIATE_TEST_SUITE_P(Options, ModelAgainstKernel, testing::ValuesIn(options()),
                         [](const auto& info) { return identifier(info.param.name()); });

// A thread that has lost the CPU to the one that joins it, before it was gone, is one that polling
// keeps from going on, although it makes no step any more and does not count for k_eff.
TEST(ModelAgainstKernel, PollsWhileAThreadIsDying) {
    const Executable executable{
        .threads = {{model::fork(1), model::join(1), {.op = model::Op::kPoll, .object = 2}},
                    {model::access(1)}}};
    Runner runner({"pct"});
    std::uint64_t expected = 0;
    for (const Triple& triple : runner.campaign(std::vector(40, executable), 5)) {
        EXPECT_TRUE(runner.difference(triple).empty()) << runner.report(triple);
        expected += triple.expected.interventions;
    }
    EXPECT_EQ(expected, runner.interventions());
    EXPECT_GT(expected, 10U); // the main thread is the higher one in half of them
}

// A scheduler that does as it likes is found out, and the program shrinks to one that shows it.
TEST(ModelAgainstKernel, FindsAWrongScheduler) {
    Runner runner({"pct"}, built("pctctl-broken"));
    std::vector<Triple> wrong = runner.campaign(random_programs(20, 1), 1);
    std::erase_if(wrong, [&](const Triple& triple) {
        // Idle processes can matter: k_eff counts the steps while there are others.
        return triple.executable.processes || runner.difference(triple).empty();
    });
    ASSERT_FALSE(wrong.empty());
    const Triple& any = *std::min_element( // it is only faster
        wrong.begin(), wrong.end(), [](const Triple& a, const Triple& b) {
            return a.executable.nr_events() < b.executable.nr_events();
        });
    const Triple small = runner.shrunk(any);
    std::cout << small.executable.text() << ", from " << any.executable.text() << "\n"
              << runner.difference(small);
    EXPECT_FALSE(runner.difference(small).empty());
    EXPECT_EQ(2U, small.executable.threads.size());
    EXPECT_LE(small.executable.nr_events(), 4U);
}

// Of a policy that is not serial no order follows. Defined is who may execute at all: the witness
// checks that no thread of the low set makes a step while one above it is enabled.
Call parallel_campaign(unsigned depth, const std::string& program = built("pctctl")) {
    const std::size_t runs = long_tests() ? 1000 : 40;
    const auto programs = random_programs(runs, 77 + depth);
    const Directory directory;
    prepare(directory, programs);
    return pctctl({"--focus",
                   "off",
                   "--policy",
                   "ppct",
                   "--depth",
                   std::to_string(depth),
                   "--verify",
                   "--seed",
                   std::to_string(depth),
                   "--runs",
                   std::to_string(runs),
                   "--keep-going",
                   "--points",
                   "pthread",
                   "--spin-limit",
                   "0",
                   "--jobs",
                   "1",
                   "--",
                   built("programs/model_program"),
                   directory.path()},
                  std::chrono::seconds(120 + 2 * runs), program);
}

class ParallelModel : public testing::TestWithParam<unsigned> {};

TEST_P(ParallelModel, OnlyAdmissibleThreadsExecute) {
    const Call call = parallel_campaign(GetParam());
    ASSERT_TRUE(call.reported) << call;
    std::size_t steps = 0;
    std::size_t deadlocks = 0;
    for (const RunResult& run : call.summary.results) {
        EXPECT_TRUE(run.outcome == "pass" || run.outcome == "deadlock") << run.number << call;
        deadlocks += run.outcome == "deadlock";
        steps += run.steps;
    }
    EXPECT_EQ(0U, call.summary.violations.value_or(1)) << call;
    EXPECT_NE(
        std::string::npos,
        (call.out + call.err)
            .find("0 violations in " + std::to_string(call.summary.runs_done) + " verified runs"))
        << call;
    EXPECT_GT(steps, 5 * call.summary.runs_done);
    std::cout << call.summary.runs_done << " programs, " << steps << " steps, " << deadlocks
              << " deadlocks\n";
}

INSTANTIATE_TEST_SUITE_P(Ppct, ParallelModel, testing::Values(1U, 2U, 3U, 4U));

TEST(WrongParallelScheduler, IsCaught) {
    const Call call = parallel_campaign(2, built("pctctl-broken"));
    ASSERT_TRUE(call.reported) << call;
    EXPECT_GT(call.summary.violations.value_or(0), 0U) << call;
}

} // namespace
} // namespace vmtest
