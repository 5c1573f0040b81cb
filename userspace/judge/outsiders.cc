// SPDX-License-Identifier: GPL-2.0-only
#include "judge/outsiders.h"

#include <utility>
#include <vector>

#include "base/files.h"
#include "judge/proc_tree.h"

namespace pctctl {

Outsiders::Outsiders(std::string proc, std::set<pid_t> run)
    : proc_(std::move(proc)), run_(std::move(run)) {}

bool Outsiders::hold(const std::string& link) {
    if (!collected_)
        collect();
    return !readable_ || links_.contains(link);
}

bool Outsiders::map(const std::string& file) const {
    const auto pids = numbers_in(proc_);
    if (!pids)
        return true;
    const size_t space = file.find(' ');
    const std::string pattern = " " + file.substr(0, space) + " " + file.substr(space + 1) + " ";
    for (int pid : *pids) {
        if (run_.contains(pid))
            continue;
        const auto maps = read_text(proc_ + "/" + std::to_string(pid) + "/maps");
        if (maps && maps->find(pattern) != std::string::npos)
            return true;
    }
    return false;
}

void Outsiders::collect() {
    collected_ = true;
    const auto pids = numbers_in(proc_);
    readable_ = pids.has_value();
    for (int pid : pids.value_or(std::vector<int>()))
        if (!run_.contains(pid))
            collect(proc_ + "/" + std::to_string(pid));
}

void Outsiders::collect(const std::string& process) {
    for (const std::string& place : descriptor_directories(process, "fd")) {
        for (int fd : numbers_in(place).value_or(std::vector<int>())) {
            const auto link = read_link(place + "/" + std::to_string(fd));
            if (link && (link->starts_with("pipe:") || link->starts_with("socket:")))
                links_.insert(*link);
        }
    }
}

} // namespace pctctl
