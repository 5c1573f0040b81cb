// SPDX-License-Identifier: GPL-2.0-only
#include "plan/races.h"

#include <algorithm>

namespace pctctl {
namespace {

std::size_t class_of(const Races::Access& access) {
    return (access.read_only ? 1U : 0U) | (access.within ? 2U : 0U);
}

// How many different numbers there are in sorted ranges.
std::uint64_t in_any_of(const std::vector<std::span<const std::uint32_t>>& ranges) {
    if (ranges.size() == 1)
        return ranges[0].size();
    std::vector<std::uint32_t> all;
    for (const auto& range : ranges)
        all.insert(all.end(), range.begin(), range.end());
    std::ranges::sort(all);
    return static_cast<std::uint64_t>(std::ranges::unique(all).begin() - all.begin());
}

} // namespace

void Races::join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size())
        clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i)
        clock[i] = std::max(clock[i], other[i]);
}

// With how many of the steps before does the thread's next one race?
std::uint64_t Races::racing(std::uint32_t thread, std::span<const Access> accesses) const {
    const Clock& clock = clocks_[thread];
    // One that acts on several of its objects counts once.
    std::unordered_map<std::uint32_t, std::vector<std::span<const std::uint32_t>>> met;
    for (const Access& access : accesses) {
        const auto at = objects_.find(access.object);
        if (at == objects_.end())
            continue;
        for (const auto& [other, steps] : at->second.steps) {
            if (other == thread)
                continue;
            const std::uint32_t before = other < clock.size() ? clock[other] : 0;
            for (std::size_t i = 0; i < kClasses; ++i) {
                if (i & class_of(access))
                    continue;
                const auto first = std::ranges::upper_bound(steps[i], before);
                if (first != steps[i].end())
                    met[other].emplace_back(first, steps[i].end());
            }
        }
    }
    std::uint64_t sum = 0;
    for (const auto& [other, ranges] : met)
        sum += in_any_of(ranges);
    return sum;
}

void Races::step(std::uint32_t thread, std::span<const Access> accesses) {
    if (clocks_.size() <= thread)
        clocks_.resize(thread + std::size_t{1});
    Clock& clock = clocks_[thread];
    if (clock.size() <= thread)
        clock.resize(thread + std::size_t{1});
    ++steps_;
    races_ += racing(thread, accesses);
    for (const Access& access : accesses)
        for (std::size_t i = 0; i < kClasses; ++i)
            if (!(i & class_of(access)))
                join(clock, objects_[access.object].after[i]);
    ++clock[thread];
    for (const Access& access : accesses) {
        Object& at = objects_[access.object];
        at.steps[thread][class_of(access)].push_back(clock[thread]);
        join(at.after[class_of(access)], clock);
    }
}

// An access to any object of a kind meets all of that kind: each of these acts on the kind as well.
std::vector<Races::Access> accesses_of(const pct_pending& step, bool read_only) {
    std::vector<Races::Access> result;
    for (std::uint32_t i = 0; i < PCT_MAX_ACCESSES; ++i) {
        const std::uint64_t object = pct_pending_object(&step, i);
        const std::uint32_t flags = pct_pending_flags(&step, i);
        if (object == 0)
            break;
        const bool reads = read_only && (flags & PCT_PENDING_READ_ONLY);
        const std::uint64_t kind = PCT_OBJECT_ANY(flags & PCT_PENDING_KINDS);
        if (object != kind)
            result.push_back({object, reads, (flags & PCT_PENDING_WITHIN) != 0});
        if (kind != 0)
            result.push_back({kind, reads, !(flags & PCT_PENDING_ANY)});
    }
    return result;
}

} // namespace pctctl
