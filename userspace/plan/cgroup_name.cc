// SPDX-License-Identifier: GPL-2.0-only
#include "plan/cgroup_name.h"

#include <algorithm>
#include <string>

#include "base/text.h"

namespace pctctl {

Status check_cgroup_name(std::string_view name) {
    auto bad = [&](const std::string& why) {
        return Error::usage("--cgroup '" + printable(name, 40) + "': " + why);
    };
    if (name.empty())
        return bad("the name is empty; give a name such as 'test'");
    if (std::any_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 127; }))
        return Error::usage("--cgroup: the name contains control characters");
    if (name.front() == '/')
        return bad("the name must be relative to the cgroup file system, without a leading '/'");
    if (name.size() > 1000)
        return bad("the name is longer than 1000 bytes");
    for (size_t begin = 0; begin <= name.size();) {
        size_t end = std::min(name.find('/', begin), name.size());
        std::string_view part = name.substr(begin, end - begin);
        if (part.empty())
            return bad("a part of the path is empty");
        if (part == "." || part == "..")
            return bad("'.' and '..' are not allowed");
        if (part.size() > 200)
            return bad("a part of the path is longer than 200 bytes");
        begin = end + 1;
    }
    return Done{};
}

} // namespace pctctl
