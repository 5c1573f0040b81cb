// SPDX-License-Identifier: GPL-2.0-only
// The user that the program under test runs as, if it is not the controller's.
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
    std::string name;          // empty if the number has no name
    std::string home = "/";
};

// By name or by number: "1000", "1000:100". A number may be unknown to the system, a name may not:
// that is an error of usage.
Result<Identity> find_identity(const std::string& text);

// The user on whose behalf the virtual machine was booted. vm/run passes it in the environment, as
// PCTCTL_GUEST_UID and PCTCTL_GUEST_GID. Nothing if they are not set, or for root.
Result<std::optional<Identity>> guest_identity();

} // namespace pctctl
