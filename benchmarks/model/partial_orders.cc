// SPDX-License-Identifier: GPL-2.0-only
// Tables 1 and 2 of POS (CAV 2018): how evenly do algorithms cover the partial orders of random
// programs?
#include "tables.h"

#include "coverage.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace pctctl::model {
namespace {

struct Column {
    const char* name;
    pct_policy policy;
    __u32 options;
    double paper; // geometric means of tables 1 and 2
    double paper_read;
};

const Column kColumns[] = {
    {"pct", PCT_POLICY_PCT, 0, 2.00e-8, 2.00e-8},
    {"rapos", PCT_POLICY_RAPOS, PCT_OPTION_READ_ONLY, 4.11e-7, 2.14e-6},
    {"basic-pos", PCT_POLICY_BASIC_POS, 0, 2.67e-8, 1.05e-7},
    {"pos", PCT_POLICY_POS, 0, 2.87e-6, 7.82e-6},
    {"pos*", PCT_POLICY_POS, PCT_OPTION_READ_ONLY, 0, 1.08e-5},
};

double geometric_mean(const std::vector<double>& values) {
    double sum = 0;
    for (const double v : values)
        sum += std::log(v);
    return std::exp(sum / static_cast<double>(values.size()));
}

void print_table(bool half_read, std::uint64_t samples) {
    std::printf(
        "\n## Lowest share of samples over all partial orders%s\n\n"
        "4 threads x 4 events x 4 objects; %llu samples each, random walk exact; 0(x): only x "
        "partial orders seen, counted as one sample in the mean.\n\n"
        "| objects | partial orders | preemptions | races | random-walk |",
        half_read ? ", half of the events read-only" : "",
        static_cast<unsigned long long>(samples));
    for (const Column& c : kColumns)
        if (half_read || c.paper > 0)
            std::printf(" %s |", c.name);
    std::printf("\n|---|---|---|---|---|%s\n",
                half_read ? "---|---|---|---|---|" : "---|---|---|---|");
    std::vector<std::vector<double>> values(std::size(kColumns) + 1);
    Random random(half_read ? 2 : 1);
    for (const std::vector<unsigned>& accesses :
         {std::vector<unsigned>{4, 4, 4, 4}, std::vector<unsigned>{2, 2, 6, 6}}) {
        for (int i = 0; i < 5; i++) {
            const Program p = micro_program(4, accesses, half_read, random);
            const PartialOrderFacts facts = partial_order_facts(p);
            double walk = 1;
            for (const auto& [key, probability] : facts.random_walk)
                walk = std::min(walk, probability);
            values.back().push_back(walk);
            std::printf("| %s | %zu | %u | %u | %.2e |", accesses[0] == 4 ? "uniform" : "skewed",
                        facts.random_walk.size(), facts.max_preemptions, facts.max_races, walk);
            for (std::size_t c = 0; c < std::size(kColumns); c++) {
                const Column& column = kColumns[c];
                if (!half_read && column.paper == 0)
                    continue;
                const Coverage seen = coverage(p, facts, column.policy, column.options, samples,
                                               static_cast<std::uint64_t>(i) * 100 + c);
                if (seen.covered == facts.random_walk.size())
                    std::printf(" %.2e |", seen.lowest);
                else
                    std::printf(" 0(%zu) |", seen.covered);
                std::fflush(stdout);
                values[c].push_back(std::max(seen.lowest, 1 / static_cast<double>(samples)));
            }
            std::printf("\n");
        }
    }
    std::printf("| **geometric mean** | | | | %.2e |", geometric_mean(values.back()));
    for (std::size_t c = 0; c < std::size(kColumns); c++)
        if (!values[c].empty())
            std::printf(" %.2e |", geometric_mean(values[c]));
    std::printf("\n| the paper's | | | | %.2e |", half_read ? 4.77e-8 : 2.14e-8);
    for (const Column& c : kColumns)
        if (half_read || c.paper > 0)
            std::printf(" %.2e |", half_read ? c.paper_read : c.paper);
    std::printf("\n");
}

// Pairs of events of different threads on one object, not both reading.
unsigned conflicting_pairs(const Program& p) {
    unsigned pairs = 0;
    for (std::size_t a = 0; a < p.threads.size(); a++)
        for (std::size_t b = 0; b < a; b++)
            for (const Event& x : p.threads[a])
                for (const Event& y : p.threads[b])
                    pairs += x.object == y.object && !(x.read_only && y.read_only);
    return pairs;
}

// How much of the difference between two tables comes from the choice of ten programs? This takes
// other programs of the same recipe, and computes what needs no sampling.
void print_recipe(unsigned programs) {
    std::printf(
        "\n## Other programs of the recipe\n\n"
        "%u of each kind. Partial orders and the random walk's lowest share: geometric "
        "means; the deviation: by what factor, one standard deviation; else means.\n\n"
        "| objects | half read | partial orders | preemptions | races | conflicting pairs | "
        "random-walk | deviation |\n|---|---|---|---|---|---|---|---|\n",
        programs);
    for (const bool half_read : {false, true}) {
        for (const std::vector<unsigned>& accesses :
             {std::vector<unsigned>{4, 4, 4, 4}, std::vector<unsigned>{2, 2, 6, 6}}) {
            Random random(half_read ? 101 : 100);
            std::vector<double> walks, orders;
            double preemptions = 0, races = 0, pairs = 0;
            for (unsigned i = 0; i < programs; i++) {
                const Program p = micro_program(4, accesses, half_read, random);
                const PartialOrderFacts facts = partial_order_facts(p);
                double walk = 1;
                for (const auto& [key, probability] : facts.random_walk)
                    walk = std::min(walk, probability);
                walks.push_back(walk);
                orders.push_back(static_cast<double>(facts.random_walk.size()));
                preemptions += facts.max_preemptions;
                races += facts.max_races;
                pairs += conflicting_pairs(p);
            }
            const double mean = geometric_mean(walks);
            double squares = 0;
            for (const double walk : walks)
                squares += std::log(walk / mean) * std::log(walk / mean);
            std::printf("| %s | %s | %.0f | %.1f | %.1f | %.1f | %.2e | %.1f |\n",
                        accesses[0] == 4 ? "uniform" : "skewed", half_read ? "yes" : "no",
                        geometric_mean(orders), preemptions / programs, races / programs,
                        pairs / programs, mean, std::exp(std::sqrt(squares / (programs - 1))));
        }
    }
}

} // namespace

void partial_order_tables(std::uint64_t samples) {
    print_recipe(100);
    print_table(false, samples);
    print_table(true, samples);
}

} // namespace pctctl::model
