// SPDX-License-Identifier: GPL-2.0-only
// The options of pctctl, one row each. To add one: its field in options.h and its row in
// option_table.cc.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/options.h"

namespace pctctl {

// An option as the user gave it.
struct Said {
    const char* option; // its name
    std::string value;  // empty for a flag
    unsigned times = 1; // of a flag: how often

    // Error of usage: what is wrong with the value.
    Error wrong(const std::string& why) const;
};

struct OptionRow {
    const char* names;      // "--depth", "-v,--verbose"
    const char* value_name; // as --help shows it; null: a flag, which has no value
    const char* group;      // heading of --help
    unsigned modes;         // bits in_*: where it is accepted,
    unsigned shown;         // and where --help shows it
    const char* help;       // its lines ending in '\n' but the last
    std::function<Status(Options&, const Said&)> set;

    bool is_flag() const { return !value_name; }
};

enum : unsigned { in_campaign = 1, in_replay = 2, in_doctor = 4 };
unsigned bit_of(Mode mode);

// Heading of the options that have no row: --help and --version.
inline constexpr const char* kOtherGroup = "Other";

// The rows of a mode, in the order of --help.
std::vector<OptionRow> option_rows(Mode mode);

} // namespace pctctl
