// SPDX-License-Identifier: GPL-2.0-only
// Samples taken in turns, and the table that shows them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bench {

// The median of a copy. 0 if there are no values.
inline double median(std::vector<double> values) {
    if (values.empty())
        return 0;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

// Two things measured in turns. The two halves of a pair are taken right after each other, so that
// whatever else the machine does is in both. The median is over the pairs' ratios.
struct Pairs {
    std::vector<double> ours; // any unit, the same in both
    std::vector<double> theirs;

    void add(double our, double their) {
        ours.push_back(our);
        theirs.push_back(their);
    }
    std::vector<double> ratios() const { // ascending
        std::vector<double> result;
        for (std::size_t i = 0; i < ours.size(); ++i)
            result.push_back(ours[i] / theirs[i]);
        std::sort(result.begin(), result.end());
        return result;
    }
};

enum class Goal { none, at_most, at_least };

class Table {
public:
    void add(std::string name, const Pairs& pairs, const char* unit, Goal goal = Goal::none,
             double limit = 0) {
        const std::vector<double> ratios = pairs.ratios();
        if (ratios.empty())
            return;
        Row row;
        row.name = std::move(name);
        row.ratio = median(ratios);
        row.low = ratios[ratios.size() / 4];
        row.high = ratios[ratios.size() * 3 / 4];
        row.ours = median(pairs.ours);
        row.theirs = median(pairs.theirs);
        row.unit = unit;
        row.goal = goal;
        row.limit = limit;
        row.pairs = ratios.size();
        rows_.push_back(std::move(row));
        print(rows_.back()); // at once, since the rest takes minutes
    }

    void not_measured(const std::string& section, const std::string& why) {
        failures_.push_back(section + ": NOT MEASURED: " + why);
        std::printf("%s\n", failures_.back().c_str());
        std::fflush(stdout);
    }
    bool complete() const { return failures_.empty(); }

    void head() const {
        std::printf("%-48s %8s %17s %9s %-8s  %s\n", "what", "ratio", "middle half", "goal", "",
                    "medians; pairs");
    }

    void print_all() const {
        head();
        for (const Row& row : rows_)
            print(row);
        for (const std::string& failure : failures_)
            std::printf("%s\n", failure.c_str());
    }

private:
    struct Row {
        std::string name;
        double ratio, low, high, ours, theirs, limit;
        const char* unit;
        Goal goal;
        std::size_t pairs;
    };

    static void print(const Row& row) {
        char goal[32] = "-";
        const char* verdict = "";
        if (row.goal != Goal::none) {
            const bool at_most = row.goal == Goal::at_most;
            std::snprintf(goal, sizeof goal, "%s %.2f", at_most ? "<=" : ">=", row.limit);
            verdict =
                (at_most ? row.ratio <= row.limit : row.ratio >= row.limit) ? "met" : "NOT MET";
        }
        std::printf("%-48s %8.3f %8.3f-%-8.3f %9s %-8s  %.4g / %.4g %s; %zu\n", row.name.c_str(),
                    row.ratio, row.low, row.high, goal, verdict, row.ours, row.theirs, row.unit,
                    row.pairs);
        std::fflush(stdout);
    }

    std::vector<Row> rows_;
    std::vector<std::string> failures_;
};

// A part of a benchmark. Its name on the command line selects it alone.
struct Section {
    const char* name;
    void (*measure)(Table&, int rounds);
    int rounds;
};

// The sections of this name; all for "".
template <std::size_t N>
void measure(const Section (&sections)[N], std::string_view only, Table& table) {
    table.head();
    for (const Section& section : sections) {
        if (!only.empty() && only != section.name)
            continue;
        try {
            section.measure(table, section.rounds);
        } catch (const std::exception& error) {
            table.not_measured(section.name, error.what());
        }
    }
}

} // namespace bench
