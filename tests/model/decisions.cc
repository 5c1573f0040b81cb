// SPDX-License-Identifier: GPL-2.0-only
#include "decisions.h"

#include "plan/policies.h"

#include <algorithm>
#include <stdexcept>

namespace pctctl::model {

Decisions::Decisions(pct_policy policy, unsigned n, unsigned k, unsigned d) : k_(k), d_(d) {
    constexpr std::uint64_t seed = 1;
    std::size_t missing = 1;
    for (unsigned i = 1; i < d; i++)
        missing *= k;
    configs_.resize(missing);
    // Drawn at random, all of them have come up after about missing * ln(missing) seeds.
    const std::uint64_t give_up = 100 * missing;
    PolicyParameters all_steps;
    if (policy == PCT_POLICY_PCT)
        all_steps.set(Parameter::skip_sequential, 0);
    for (std::uint64_t stream = 0; missing > 0; stream++) {
        if (stream > give_up)
            throw std::logic_error("change points that are never drawn");
        pct_policy_config drawn =
            policy_config({.policy = policy == PCT_POLICY_PCT ? "pct" : "ppct", .depth = d},
                          {k, pct_mix(stream)}, all_steps);
        if (drawn.nr_change_points != d - 1)
            throw std::logic_error("not d - 1 change points");
        std::vector<unsigned> change(d - 1);
        for (unsigned i = 0; i < d - 1; i++) {
            const auto& point = drawn.change_points[i];
            // Fig. 7's k_i has the priority d - i.
            change.at(d - 1 - (point.priority - PCT_PRIO_CHANGE)) =
                static_cast<unsigned>(point.step);
        }
        pct_policy_config& config = configs_[index(change)];
        if (config.yields_per_reset) // that one has been drawn: policy_config() sets this
            continue;
        config = drawn;
        config.seed = seed; // so that the identities alone decide the order of priorities
        missing--;
    }
    for (unsigned t = 0; t < n; t++)
        by_key_.push_back(Mechanism::identity(static_cast<Thread>(t)));
    std::sort(by_key_.begin(), by_key_.end(), [](std::uint64_t a, std::uint64_t b) {
        return pct_initial_priority(seed, a, 0) < pct_initial_priority(seed, b, 0);
    });
}

const pct_policy_config& Decisions::config(std::span<const unsigned> change) const {
    return configs_[index(change)];
}

std::vector<std::uint64_t> Decisions::identities(std::span<const unsigned> rank) const {
    std::vector<std::uint64_t> result;
    for (const unsigned r : rank)
        result.push_back(by_key_[r]);
    return result;
}

std::size_t Decisions::index(std::span<const unsigned> change) const {
    std::size_t result = 0;
    if (change.size() != d_ - 1)
        throw std::invalid_argument("not d - 1 change points");
    for (const unsigned step : change)
        result = result * k_ + (step - 1);
    return result;
}

} // namespace pctctl::model
