// SPDX-License-Identifier: GPL-2.0-only
#include "judge/roster.h"

#include <cstring>

#include "base/text.h"

namespace pctctl {

void Roster::learn(const pct_event& event) {
    if (event.type == PCT_EVENT_THREAD)
        members_[event.thread] = {event.pid, event.tgid, event.parent, event.ordinal, true, {}};
    else if (event.type == PCT_EVENT_EXEC) {
        members_[event.thread].pid = event.pid;
        members_[event.thread].tgid = event.tgid;
    } else if (event.type == PCT_EVENT_EXIT) {
        members_[event.thread].alive = false;
        members_[event.thread].length = {event.identity, event.site};
    } else if (event.type == PCT_EVENT_SIGNAL && signal_.code == 0)
        signal_ = event;
}

std::string Roster::path(std::uint32_t thread) const {
    if (thread == 0)
        return "0";
    const auto member = members_.find(thread);
    if (member == members_.end())
        return "?";
    return path(member->second.parent) + "." + std::to_string(member->second.ordinal);
}

std::vector<ThreadLength> Roster::lengths() const {
    std::vector<ThreadLength> lengths;
    for (const auto& [index, member] : members_)
        if (member.length.steps > 0)
            lengths.push_back(member.length);
    return lengths;
}

std::vector<LiveThread> Roster::alive() const {
    std::vector<LiveThread> threads;
    for (const auto& [index, member] : members_)
        if (member.alive)
            threads.push_back({member.tgid, member.pid, path(index)});
    return threads;
}

std::string Roster::fatal_signal(unsigned first_signal) const {
    if (signal_.code == 0)
        return first_signal
                   ? "a process was killed by " + signal_name(static_cast<int>(first_signal))
                   : "";
    const std::string comm(signal_.comm, strnlen(signal_.comm, sizeof signal_.comm));
    return "process '" + comm + "' was killed by " + signal_name(signal_.code) +
           ", taken by thread " + path(signal_.thread);
}

} // namespace pctctl
