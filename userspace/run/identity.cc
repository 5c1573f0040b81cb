// SPDX-License-Identifier: GPL-2.0-only
#include "run/identity.h"

#include <grp.h>
#include <pwd.h>

#include <charconv>
#include <cstdlib>
#include <string_view>

namespace pctctl {

namespace {

std::optional<unsigned> number(std::string_view text) {
    unsigned value = 0;
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    // The largest number means "unchanged" to the kernel.
    if (error != std::errc() || end != text.data() + text.size() || value == ~0U)
        return std::nullopt;
    return value;
}

void fill_in(Identity& identity, const passwd& entry) {
    identity.name = entry.pw_name;
    if (entry.pw_dir && *entry.pw_dir)
        identity.home = entry.pw_dir;
    int count = 64;
    for (;;) {
        identity.groups.resize(static_cast<size_t>(count));
        int capacity = count;
        bool fits =
            ::getgrouplist(entry.pw_name, identity.gid, identity.groups.data(), &count) >= 0;
        if (fits || count <= capacity)
            break;
    }
    identity.groups.resize(static_cast<size_t>(count));
}

} // namespace

Result<Identity> find_identity(const std::string& text) {
    Identity identity;
    std::string_view user = text, group;
    bool has_group = false;
    if (size_t colon = text.find(':'); colon != std::string::npos) {
        user = std::string_view(text).substr(0, colon);
        group = std::string_view(text).substr(colon + 1);
        has_group = true;
    }
    auto uid = number(user);
    const passwd* entry = uid ? ::getpwuid(*uid) : ::getpwnam(std::string(user).c_str());
    if (!entry && !uid)
        return Error::usage("--user '" + text +
                            "': no such user; give a name of /etc/passwd or a "
                            "number such as 1000");
    identity.uid = uid ? *uid : entry->pw_uid;
    identity.gid = entry ? entry->pw_gid : identity.uid;
    if (has_group) {
        auto gid = number(group);
        if (!gid)
            return Error::usage("--user '" + text + "': the group after ':' must be a number");
        identity.gid = *gid;
    }
    identity.groups = {identity.gid};
    if (entry)
        fill_in(identity, *entry);
    return identity;
}

Result<std::optional<Identity>> guest_identity() {
    const char* uid = std::getenv("PCTCTL_GUEST_UID");
    const char* gid = std::getenv("PCTCTL_GUEST_GID");
    if (!uid || std::string_view(uid).empty() || std::string_view(uid) == "0")
        return std::optional<Identity>();
    std::string text = uid;
    if (gid && *gid)
        text += std::string(":") + gid;
    auto identity = number(uid) ? find_identity(text) : Result<Identity>(Error::usage(""));
    if (!identity)
        return Error::environment("PCTCTL_GUEST_UID='" + std::string(uid) + "' PCTCTL_GUEST_GID='" +
                                  (gid ? gid : "") + "': must be numbers");
    return std::optional<Identity>(*identity);
}

} // namespace pctctl
