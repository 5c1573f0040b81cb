// SPDX-License-Identifier: GPL-2.0-only
// Looks into other processes: their memory and their sockets. It is an interface so that the judge
// can be tested on processes that do not exist.
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
    std::string local;               // addresses as the kernel gives them, empty when unnamed
    std::string remote;
    std::optional<std::uint64_t> peer_inode; // AF_UNIX: the other end, if the kernel tells it
    std::optional<pid_t> peer_pid;           // AF_UNIX: who made or connected the other end
};

class Inspector {
public:
    virtual ~Inspector() = default;
    // Fills the whole buffer or returns false.
    virtual bool read_memory(pid_t tid, std::uint64_t address, std::span<std::byte> buffer) = 0;
    // inode: the socket's number, from its link in /proc: "socket:[123]". Nothing when the process
    // or the descriptor is gone, or may not be looked into.
    virtual std::optional<SocketInfo> socket(pid_t pid, int fd, std::uint64_t inode) = 0;
};

// Asks the running kernel. The caller needs the right to trace the processes.
class LiveInspector : public Inspector {
public:
    bool read_memory(pid_t tid, std::uint64_t address, std::span<std::byte> buffer) override;
    std::optional<SocketInfo> socket(pid_t pid, int fd, std::uint64_t inode) override;
};

} // namespace pctctl
