// SPDX-License-Identifier: GPL-2.0-only
// A short name for a long text.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

namespace vm {

inline std::string hash(std::string_view text) { // FNV-1a, 16 hex digits
    std::uint64_t h = 0xcbf29ce484222325;
    for (const char c : text)
        h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    char buffer[17];
    std::snprintf(buffer, sizeof buffer, "%016llx", static_cast<unsigned long long>(h));
    return buffer;
}

} // namespace vm
