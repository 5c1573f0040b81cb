// SPDX-License-Identifier: GPL-2.0-only
// Compares the scheduler with the model (tests/model). Real threads execute random programs under
// pctctl, and must make their steps in the order that the model computes from the run's seed. The
// order is recorded twice: the program notes its thread before and after each event, and the
// scheduler computes the order hash from the identities and the kinds of steps.
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

constexpr unsigned kDepth = 4;          // number of change points or preemptions
constexpr std::size_t kRecord = 1024;   // bytes for what one run notes
constexpr std::size_t kMostSteps = 500; // what these note fits into a record

// "a0 a1 b0 a2"
std::string order(const Performance& performance) {
    std::string text;
    for (const model::EventId& event : performance.events) {
        text += static_cast<char>('a' + event.thread);
        text += std::to_string(event.index) + " ";
    }
    return text;
}

// One run of a program, and what the model says it should have been.
struct Triple {
    Executable executable;
    RunResult run;
    std::string marks;    // what the program noted
    Performance expected; // by the model
};

// A policy, perhaps with one of its options.
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

// Writes the files that programs/model_program needs: the programs, and room for what they note.
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

    // Each program with a seed of its own.
    std::vector<Triple> campaign(const std::vector<Executable>& programs, std::uint64_t seed) {
        return run({"--focus", "off", "--seed", std::to_string(seed), "--runs",
                    std::to_string(programs.size()), "--keep-going"},
                   programs);
    }

    // Each program with the seed of this run.
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

    // The number of interventions in the last campaign or replay.
    std::uint64_t interventions() const { return interventions_; }

    // Would the order be the same without the option?
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

    // Leaves out parts of the program as long as kernel and model still differ under the same seed.
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

    // The message about one that differs.
    std::string report(const Triple& triple) {
        return variant_.name() + ", seed " + triple.run.seed + ": " + triple.executable.text() +
               "\n" + difference(triple);
    }

    // The message about its smallest part that differs, or that the difference is not reproducible.
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
        // No spin limit: when the host stops the emulated machine for half a second, the running
        // thread looks to the scheduler as if it had been spinning all the time.
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

// Random programs. Every fourth has processes instead of threads.
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
        std::uint64_t expected = 0; // of interventions, by the model
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

// Options with values that make a difference in runs of about ten steps.
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

// A thread is about to end, but another one, which joins it, has the CPU. The first one makes no
// step any more and does not count for k_eff. Still it has to execute: a thread that polls keeps it
// from going on, and has to be demoted.
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
    EXPECT_GT(expected, 10U); // the main thread has the higher priority in half of the runs
}

// A scheduler that ignores priorities is found out, and the program is reduced to a small one that
// shows it.
TEST(ModelAgainstKernel, FindsAWrongScheduler) {
    Runner runner({"pct"}, built("pctctl-broken"));
    std::vector<Triple> wrong = runner.campaign(random_programs(20, 1), 1);
    std::erase_if(wrong, [&](const Triple& triple) {
        // Those cannot always be reduced: a process that does nothing matters for k_eff, which
        // counts steps while others exist.
        return triple.executable.processes || runner.difference(triple).empty();
    });
    ASSERT_FALSE(wrong.empty());
    const Triple& any = *std::min_element( // any would do; the smallest is the quickest
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

// A policy that is not serial decides no order, but it does decide who may execute. The witness
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
