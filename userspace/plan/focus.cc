// SPDX-License-Identifier: GPL-2.0-only
#include "plan/focus.h"

#include <algorithm>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "pctctl/run.h"

namespace pctctl {

std::string Focus::text() const {
    if (!on)
        return "off";
    std::string text = "on";
    for (const std::uint64_t name : names)
        text += fmt::format("{}{:x}", text.size() == 2 ? ':' : ',', name);
    return text;
}

Result<Focus> Focus::parse(std::string_view text) {
    if (text == "off")
        return Focus{.on = false};
    if (text == "on")
        return Focus{.on = true};
    Focus focus{.on = true};
    if (!text.starts_with("on:"))
        return Error::usage("expected on, off, or on: and names in hex");
    for (const std::string_view word : comma_separated(text.substr(3))) {
        const auto name = parse_number_or_hex("0x" + std::string(word));
        if (!name || focus.names.size() == PCT_MAX_FOCUS)
            return Error::usage("expected on, off, or on: and names in hex");
        focus.names.push_back(*name);
    }
    return focus;
}

void FocusLearner::add(std::span<const std::uint64_t> names) {
    if (!focus_.on)
        return;
    std::vector<std::uint64_t> fresh;
    for (const std::uint64_t name : names)
        if (known_.size() < PCT_MAX_FOCUS && known_.insert(name).second)
            fresh.push_back(name);
    std::ranges::sort(fresh);
    focus_.names.insert(focus_.names.end(), fresh.begin(), fresh.end());
}

} // namespace pctctl
