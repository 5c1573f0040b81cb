// SPDX-License-Identifier: GPL-2.0-only
// What processes outside the run have in common with it.
#pragma once

#include <sys/types.h>

#include <set>
#include <string>

namespace pctctl {

// Processes with more rights than ours (a container's manager) cannot be looked into and are left
// out: the run would have to pass them a descriptor deliberately. When /proc itself cannot be read,
// the answer to each question is yes.
class Outsiders {
public:
    // run: the processes of the run.
    Outsiders(std::string proc, std::set<pid_t> run);

    // Has one a descriptor of this pipe or socket, given as its link in /proc names it:
    // "pipe:[123]"?
    bool hold(const std::string& link);

    // Has one mapped the file, given as "major:minor inode"?
    bool map(const std::string& file) const;

private:
    void collect();
    void collect(const std::string& process);

    const std::string proc_;
    const std::set<pid_t> run_;
    // Filled when first asked for.
    bool collected_ = false;
    bool readable_ = false;
    std::set<std::string> links_;
};

} // namespace pctctl
