// SPDX-License-Identifier: GPL-2.0-only
// Which serial policy finds which bug how often: programs of the papers' evaluations.
#include "tables.h"

#include "edges.h"
#include "plan/stride_ratio.h"
#include "sampling.h"
#include "subjects.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

namespace pctctl::model {
namespace {

constexpr double kRuns = 10'000; // the stride is chosen for so many runs, as in its paper

struct Lengths {
    std::vector<std::uint64_t> thread; // longest, by thread
    unsigned steps = 1;
};

struct Way {
    const char* name;
    pct_policy policy;
    std::function<void(pct_policy_config&, const Lengths&)> once; // what is the same for all runs
    std::function<void(pct_policy_config&, const Lengths&)> for_run; // what depends on the seed
};

void strides(pct_policy_config& c, const Lengths& l, int edges) {
    const double ratio = ratio_for(probability_per_run(0.999, kRuns, edges));
    c.nr_strides = 0;
    c.stride_max = 1;
    for (Thread t = 0; t < l.thread.size() && t < PCT_MAX_STRIDES; t++)
        c.strides[c.nr_strides++] = {
            Mechanism::identity(t),
            static_cast<__u64>(std::ceil(static_cast<double>(l.thread[t]) / ratio))};
}

std::vector<Way> ways() {
    const auto nothing = [](pct_policy_config&, const Lengths&) {};
    std::vector<Way> result;
    for (const unsigned d : {1u, 2u, 3u})
        result.push_back({d == 1   ? "pct d=1"
                          : d == 2 ? "pct d=2"
                                   : "pct d=3",
                          PCT_POLICY_PCT, nothing, [d](pct_policy_config& c, const Lengths& l) {
                              draw_change_points(c, d, l.steps);
                          }});
    result.push_back(
        {"rpro d=3 r=10", PCT_POLICY_RPRO, nothing, [](pct_policy_config& c, const Lengths& l) {
             draw_change_points(c, 3, l.steps); // the radius is 10 by default
         }});
    result.push_back({"random-walk", PCT_POLICY_RANDOM_WALK, nothing, nothing});
    result.push_back({"stride 1 edge", PCT_POLICY_STRIDE,
                      [](pct_policy_config& c, const Lengths& l) { strides(c, l, 1); }, nothing});
    result.push_back({"stride 2 edges", PCT_POLICY_STRIDE,
                      [](pct_policy_config& c, const Lengths& l) { strides(c, l, 2); }, nothing});
    result.push_back({"basic-pos", PCT_POLICY_BASIC_POS, nothing, nothing});
    result.push_back(
        {"pos", PCT_POLICY_POS,
         [](pct_policy_config& c, const Lengths&) { c.options = PCT_OPTION_READ_ONLY; }, nothing});
    result.push_back(
        {"rapos", PCT_POLICY_RAPOS,
         [](pct_policy_config& c, const Lengths&) { c.options = PCT_OPTION_READ_ONLY; }, nothing});
    result.push_back({"preempt-always", PCT_POLICY_PREEMPT_ALWAYS, nothing, nothing});
    result.push_back(
        {"preempt-bound 2", PCT_POLICY_PREEMPT_BOUND, nothing,
         [](pct_policy_config& c, const Lengths& l) { draw_change_points(c, 3, l.steps); }});
    result.push_back({"atom-fuzzer", PCT_POLICY_ATOM_FUZZER, nothing, nothing});
    return result;
}

Lengths measure(const Program& p) {
    Mechanism mechanism(p);
    Lengths l;
    l.thread.assign(p.threads.size(), 1);
    sample(
        mechanism, config_for(PCT_POLICY_RANDOM_WALK), 100, 1, [](pct_policy_config&) {},
        [&](const Mechanism& m) {
            for (std::size_t t = 0; t < l.thread.size(); t++)
                l.thread[t] = std::max(l.thread[t], m.steps(static_cast<Thread>(t)));
            l.steps = std::max(l.steps, static_cast<unsigned>(m.schedule().size()));
            return true;
        });
    return l;
}

struct Subject {
    Program program;
    const char* paper;
};

} // namespace

void subject_table(std::uint64_t samples) {
    const Subject subjects[] = {
        {work_stealing_queue(4, 1),
         "PCT d=2 0.002, random sleep 0.001, stress 0 (another build: n=2, k=75)"},
        {work_stealing_queue(4, 4), "PCT rises with the number of thieves (Fig. 9)"},
        {reorder(3), ""},
        {reorder(5), ""},
        {reorder(10), "missed by the random walk, found by the stride"},
        {reorder(20), "missed by the random walk, found by the stride"},
        {twostage(3), ""},
        {twostage(100), "missed by the random walk, found by the stride"},
    };
    std::printf("\n## Share of runs that find the bug\n\n| program | n | k | samples |");
    const std::vector<Way> all = ways();
    for (const Way& way : all)
        std::printf(" %s |", way.name);
    std::printf(" the papers |\n|---|---|---|---|---|");
    for (std::size_t i = 0; i < all.size(); i++)
        std::printf("---|");
    std::printf("\n");
    for (const Subject& subject : subjects) {
        const Lengths lengths = measure(subject.program);
        const std::uint64_t number = subject.program.threads.size() > 50
                                         ? std::max<std::uint64_t>(samples / 10, 1)
                                         : samples;
        std::printf("| %s | %zu | %u | %llu |", subject.program.name.c_str(),
                    subject.program.threads.size(), lengths.steps,
                    static_cast<unsigned long long>(number));
        for (const Way& way : all) {
            Mechanism mechanism(subject.program);
            pct_policy_config config = config_for(way.policy);
            way.once(config, lengths);
            const Share share = sample(
                mechanism, config, number, 5,
                [&](pct_policy_config& c) { way.for_run(c, lengths); },
                [](const Mechanism& m) { return m.found_bug(); });
            std::printf(" %.3g |", share.value());
            std::fflush(stdout);
        }
        std::printf(" %s |\n", subject.paper);
    }
}

void edge_tables() {
    std::printf("\n## Least likely edge against thread length / maximum stride\n\n"
                "| ratio | probability | by sampling, 10^6 |\n|---|---|---|\n");
    for (const double ratio : {0.5, 1.0, 1.5, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0})
        std::printf("| %.1f | %.3e | %.3e |\n", ratio, least_likely_edge_of_ratio(ratio),
                    least_likely_edge_by_sampling(ratio, 1'000'000));
    std::printf("\n## Ratio for at least one hit with confidence\n\n"
                "| runs | confidence | one edge | two independent edges |\n|---|---|---|---|\n");
    for (const double runs : {100.0, 1000.0, 10'000.0, 100'000.0})
        for (const double confidence : {0.95, 0.999})
            std::printf("| %.0f | %.3f | %.2f | %.2f |\n", runs, confidence,
                        ratio_for(probability_per_run(confidence, runs, 1)),
                        ratio_for(probability_per_run(confidence, runs, 2)));
    std::printf("\n## Share of secondary orders with a probability of at least 1 %%\n\n"
                "| length of both threads | random walk | times sqrt(2 length) | stride |\n"
                "|---|---|---|---|\n");
    for (const std::size_t length : {25u, 50u, 100u, 200u, 400u, 800u}) {
        const double walk = coverable_secondary_orders(length, 1, 0.01);
        const auto stride =
            static_cast<std::size_t>(std::ceil(static_cast<double>(length) / ratio_for(0.01)));
        std::printf("| %zu | %.3f | %.2f | %.3f |\n", length, walk,
                    walk * std::sqrt(2.0 * static_cast<double>(length)),
                    coverable_secondary_orders(length, stride, 0.01));
    }
}

} // namespace pctctl::model
