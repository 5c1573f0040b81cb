// SPDX-License-Identifier: GPL-2.0-only
// Looks into other processes: memory and sockets. An interface, so that judge.h can be tested on
// processes that do not exist.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace pctctl {

struct SocketInfo {
    int domain = 0; // AF_*
    int type = 0;   // SOCK_*
    bool listening = false;
    bool timed = false;              // SO_RCVTIMEO or SO_SNDTIMEO is set
    std::uint64_t net_namespace = 0; // SO_NETNS_COOKIE
    std::string local;               // raw addresses, empty when unnamed
    std::string remote;
    std::optional<std::uint64_t> peer_inode; // AF_UNIX: the other end, when the kernel tells
    std::optional<pid_t> peer_pid;           // AF_UNIX: who made or connected the other end
};

class Inspector {
public:
    virtual ~Inspector() = default;
    // Fills the whole buffer or returns false.
    virtual bool read_memory(pid_t tid, std::uint64_t address, std::span<std::byte> buffer) = 0;
    // inode: of the socket, as its link in /proc names it.
    virtual std::optional<SocketInfo> socket(pid_t pid, int fd, std::uint64_t inode) = 0;
};

// Of the running kernel. Needs the rights to trace the processes.
class LiveInspector : public Inspector {
public:
    bool read_memory(pid_t tid, std::uint64_t address, std::span<std::byte> buffer) override;
    std::optional<SocketInfo> socket(pid_t pid, int fd, std::uint64_t inode) override;
};

} // namespace pctctl
