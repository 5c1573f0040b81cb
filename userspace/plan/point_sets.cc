// SPDX-License-Identifier: GPL-2.0-only
#include "plan/point_sets.h"

#include <array>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "pctctl/points.h"

namespace pctctl {
namespace {

struct PointSet {
    std::string_view name;
    unsigned bit;
};
constexpr std::array kSets = {
    PointSet{"pthread", PCT_POINTS_PTHREAD},
    PointSet{"syscall", PCT_POINTS_SYSCALL},
};

} // namespace

Result<unsigned> parse_points(std::string_view text) {
    unsigned points = 0;
    for (const std::string_view word : comma_separated(text)) {
        unsigned bit = 0;
        for (const PointSet& set : kSets)
            if (set.name == word)
                bit = set.bit;
        if (bit == 0)
            return Error::usage(
                fmt::format("unknown points '{}'; known: {}", printable(word), points_text(~0U)));
        points |= bit;
    }
    return points;
}

std::vector<std::string> point_names(unsigned points) {
    std::vector<std::string> names;
    for (const PointSet& set : kSets)
        if (points & set.bit)
            names.emplace_back(set.name);
    return names;
}

std::string points_text(unsigned points) {
    return fmt::format("{}", fmt::join(point_names(points), ","));
}

} // namespace pctctl
