// SPDX-License-Identifier: GPL-2.0-only
// The user the program under test runs as, when not as the controller's.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace pctctl {

struct Identity {
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups; // supplementary ones, gid among them
    std::string name;          // empty when the number has no name
    std::string home = "/";
};

// By name, or by number: "1000", "1000:100". A number need not be known. Error of usage otherwise.
Result<Identity> find_identity(const std::string& text);

// The user on whose behalf a guest was booted: PCTCTL_GUEST_UID and PCTCTL_GUEST_GID in the
// environment, set by vm/run; nothing when absent or root.
Result<std::optional<Identity>> guest_identity();

} // namespace pctctl
