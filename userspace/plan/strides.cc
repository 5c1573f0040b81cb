// SPDX-License-Identifier: GPL-2.0-only
#include "plan/strides.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "policy.h"

namespace pctctl {
namespace {

constexpr std::size_t kIdentityDigits = 16;

Result<std::uint32_t> parse_stride(std::string_view text) {
    const auto value = parse_number(text);
    if (!value || *value == 0 || *value > kLongestStride)
        return Error::usage(
            fmt::format("'{}' is not a stride from 1 to {}", printable(text), kLongestStride));
    return static_cast<std::uint32_t>(*value);
}

} // namespace

std::string Strides::text() const {
    std::string text = fmt::format("{}", others);
    for (const auto& [identity, stride_max] : threads)
        text += fmt::format(",{:016x}:{}", identity, stride_max);
    return text;
}

Result<Strides> Strides::parse(std::string_view text) {
    Strides strides;
    bool first = true;
    for (const std::string_view word : comma_separated(text)) {
        const std::size_t sign = first ? 0 : word.find(':') + 1;
        const auto stride = parse_stride(word.substr(sign));
        if (!stride)
            return stride.error();
        if (std::exchange(first, false)) {
            strides.others = *stride;
            continue;
        }
        const auto identity =
            sign == kIdentityDigits + 1
                ? parse_number_or_hex(fmt::format("0x{}", word.substr(0, kIdentityDigits)))
                : std::nullopt;
        if (!identity)
            return Error::usage(fmt::format("'{}' is not a thread's identity (16 hex digits), a "
                                            "colon and its stride",
                                            printable(word)));
        strides.threads.push_back({*identity, *stride});
    }
    if (strides.threads.size() > PCT_MAX_STRIDES)
        return Error::usage(fmt::format("more than {} threads", PCT_MAX_STRIDES));
    return strides;
}

void ThreadLengths::add(std::span<const ThreadLength> run) {
    for (const ThreadLength& thread : run)
        if (thread.steps > 0)
            steps_[thread.identity] = std::max(steps_[thread.identity], thread.steps);
}

Strides ThreadLengths::strides(double ratio) const {
    const auto stride_for = [ratio](std::uint64_t steps) {
        return static_cast<std::uint32_t>(
            std::min<double>(std::ceil(static_cast<double>(steps) / ratio), kLongestStride));
    };
    std::vector<ThreadLength> longest;
    for (const auto& [identity, steps] : steps_)
        longest.push_back({identity, steps});
    std::ranges::stable_sort(longest, std::greater{}, &ThreadLength::steps);
    Strides strides;
    if (!longest.empty())
        strides.others =
            stride_for(longest[longest.size() > PCT_MAX_STRIDES ? PCT_MAX_STRIDES : 0].steps);
    for (std::size_t i = 0; i < longest.size() && i < PCT_MAX_STRIDES; ++i)
        strides.threads.push_back({longest[i].identity, stride_for(longest[i].steps)});
    return strides;
}

} // namespace pctctl
