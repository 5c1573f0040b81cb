// SPDX-License-Identifier: GPL-2.0-only
#include "judge/sockets.h"

#include <sys/socket.h>

#include <algorithm>
#include <cstdint>

#include "base/proc_text.h"

namespace pctctl {

namespace {

std::string link_to(std::uint64_t inode) {
    return "socket:[" + std::to_string(inode) + "]";
}

// number: " (descriptor 3)".
Source unix_source(RunView& run, const SocketInfo& info, const std::string& number) {
    // Any process may send to a named one that is not connection-oriented.
    if (info.type == SOCK_DGRAM && !info.local.empty())
        return external_source("a named datagram socket" + number);
    if (info.peer_inode) {
        const bool ours = std::ranges::any_of(run.sockets(), [&](const HeldSocket& other) {
            return other.inode == *info.peer_inode;
        });
        if (!ours || run.outsiders().hold(link_to(*info.peer_inode)))
            return external_source("a socket connected to a process outside the run" + number);
        return internal_source("a local socket" + number);
    }
    if (info.peer_pid && run.has(*info.peer_pid))
        return internal_source("a local socket" + number);
    return external_source("a local socket whose other end is unknown, perhaps outside the run" +
                           number);
}

bool is_connected_stream(const SocketInfo& info) {
    const bool internet = info.domain == AF_INET || info.domain == AF_INET6;
    const bool stream = info.type == SOCK_STREAM || info.type == SOCK_SEQPACKET;
    return internet && stream && !info.local.empty() && !info.remote.empty();
}

bool are_two_ends(const SocketInfo& one, const SocketInfo& other) {
    return other.domain == one.domain && other.type == one.type && !other.listening &&
           other.net_namespace == one.net_namespace && other.local == one.remote &&
           other.remote == one.local;
}

Source internet_source(RunView& run, std::uint64_t inode, const SocketInfo& info,
                       const std::string& number) {
    if (!is_connected_stream(info))
        return external_source("a network socket" + number);
    for (const HeldSocket& other : run.sockets()) {
        if (other.inode == inode)
            continue;
        const auto end = run.inspector().socket(other.pid, other.fd, other.inode);
        if (end && are_two_ends(info, *end) && !run.outsiders().hold(link_to(other.inode)))
            return internal_source("a loopback connection" + number);
    }
    return external_source("a network connection" + number);
}

} // namespace

Source socket_source(const BlockedThread& thread, int fd, const std::string& link) {
    RunView& run = thread.run;
    const std::string number = " (descriptor " + std::to_string(fd) + ")";
    const auto inode = parse_link(link, "socket");
    if (!inode)
        return external_source("an unknown socket" + number);
    const auto info = run.inspector().socket(thread.thread.pid, fd, *inode);
    if (!info)
        return external_source("a socket that cannot be examined" + number);
    if (info->listening)
        return external_source("a listening socket" + number);
    if (info->timed)
        return external_source("a socket with a time limit" + number);
    if (run.outsiders().hold(link))
        return external_source("a socket shared with processes outside the run" + number);
    return info->domain == AF_UNIX ? unix_source(run, *info, number)
                                   : internet_source(run, *inode, *info, number);
}

} // namespace pctctl
