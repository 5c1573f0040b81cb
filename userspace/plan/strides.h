// SPDX-License-Identifier: GPL-2.0-only
// How far a thread goes at a time under --policy stride, from the lengths threads had in earlier
// runs: M. Abdelrasoul, "Promoting Secondary Orders of Event Pairs in Randomized Scheduling using a
// Randomized Stride" (ASE 2017), sections IV and V.A. A length L is a thread's number of steps; its
// s_max is ceil(L / ratio), see stride_ratio.h.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace pctctl {

// The largest s_max; pct_random_upto() takes 32 bits.
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
    // "3", "3,00c0ffee00c0ffee:12,...": of others, then of each thread.
    std::string text() const;
    static Result<Strides> parse(std::string_view text); // Error of usage, without the option
};

// The longest that each thread has been so far.
class ThreadLengths {
public:
    void add(std::span<const ThreadLength> run);
    // The longest threads get their own s_max. The others have that of the longest among them; of
    // those not seen yet, no length is known: if there is none among them that is, the longest of
    // all. Nothing seen: the random walk.
    Strides strides(double ratio) const;

private:
    std::map<std::uint64_t, std::uint64_t> steps_; // by identity
};

} // namespace pctctl
