// SPDX-License-Identifier: GPL-2.0-only
// What the steps of a campaign concentrate on: objects that more than one thread touches
// (pctctl/sharing.h).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "base/result.h"

namespace pctctl {

// With which steps a run counts. Part of what decides its schedule.
struct Focus {
    bool on = false; // only steps on objects that matter are counted; else all
    // Of objects that are known to matter from the start (pct_access.name), in the order in which
    // they were learned, each once. What turns out to matter during the run counts from then on.
    std::vector<std::uint64_t> names = {};

    // "off", "on", or "on:" and the names in hex with commas.
    std::string text() const;
    static Result<Focus> parse(std::string_view text);
    bool operator==(const Focus&) const = default;
};

// Collects what runs have learned. A name is never forgotten.
class FocusLearner {
public:
    explicit FocusLearner(Focus start) : focus_(std::move(start)) {
        known_.insert(focus_.names.begin(), focus_.names.end());
    }
    // Adds those that are new, in ascending order, so that the result does not depend on the order
    // in which a run has met them.
    void add(std::span<const std::uint64_t> names);
    const Focus& focus() const { return focus_; }

private:
    Focus focus_;
    std::unordered_set<std::uint64_t> known_;
};

} // namespace pctctl
