// SPDX-License-Identifier: GPL-2.0-only
#include "plan/races.h"

#include <algorithm>

namespace pctctl {

void Races::join(Clock& clock, const Clock& other) {
    if (clock.size() < other.size())
        clock.resize(other.size());
    for (std::size_t i = 0; i < other.size(); ++i)
        clock[i] = std::max(clock[i], other[i]);
}

void Races::step(std::uint32_t thread, std::uint64_t object, bool read_only) {
    if (clocks_.size() <= thread)
        clocks_.resize(thread + std::size_t{1});
    Clock& clock = clocks_[thread];
    if (clock.size() <= thread)
        clock.resize(thread + std::size_t{1});
    ++steps_;
    if (object == 0) {
        ++clock[thread];
        return;
    }
    Object& at = objects_[object];
    for (const auto& [other, accesses] : at.threads) {
        if (other == thread)
            continue;
        const std::vector<std::uint32_t>& conflicting = read_only ? accesses.writes : accesses.all;
        const std::uint32_t before = other < clock.size() ? clock[other] : 0;
        races_ += static_cast<std::uint64_t>(conflicting.end() -
                                             std::ranges::upper_bound(conflicting, before));
    }
    join(clock, read_only ? at.after_writes : at.after_all);
    ++clock[thread];
    Accesses& own = at.threads[thread];
    own.all.push_back(clock[thread]);
    join(at.after_all, clock);
    if (!read_only) {
        own.writes.push_back(clock[thread]);
        join(at.after_writes, clock);
    }
}

} // namespace pctctl
