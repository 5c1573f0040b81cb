// SPDX-License-Identifier: GPL-2.0-only
// How many steps a thread makes at a time under --policy stride: at most its s_max, computed from
// the lengths that threads had in earlier runs. A thread's length L is its number of steps, its
// s_max is ceil(L / ratio), see stride_ratio.h. M. Abdelrasoul, "Promoting Secondary Orders of
// Event Pairs in Randomized Scheduling using a Randomized Stride" (ASE 2017), sections IV and V.A.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pctctl {

// The largest s_max, since pct_random_upto() takes 32 bits.
inline constexpr std::uint32_t kLongestStride = 1'000'000'000;

struct ThreadLength {
    std::uint64_t identity = 0; // pct_child_identity()
    std::uint64_t steps = 0;
};

struct ThreadStride {
    std::uint64_t identity = 0;
    std::uint32_t stride_max = 1; // >= 1
    bool operator==(const ThreadStride&) const = default;
};

// s_max of each thread in a run.
struct Strides {
    std::uint32_t others = 1;          // of threads not listed, >= 1; 1: the random walk
    std::vector<ThreadStride> threads; // at most PCT_MAX_STRIDES

    bool operator==(const Strides&) const = default;
    // "3", "3,00c0ffee00c0ffee:12,...": the s_max of others, then that of each listed thread.
    std::string text() const;
    static Result<Strides> parse(std::string_view text); // Error of usage; does not name the option
};

// The greatest length that each thread has had so far.
class ThreadLengths {
public:
    void add(std::span<const ThreadLength> run);
    // The longest threads (PCT_MAX_STRIDES) get their own s_max. All other threads, those not seen
    // yet included, have the s_max of the longest thread that got none; if all got one, that of the
    // longest of all. If no thread has been seen yet: the random walk.
    Strides strides(double ratio) const;

private:
    std::map<std::uint64_t, std::uint64_t> steps_; // by identity
};

} // namespace pctctl
