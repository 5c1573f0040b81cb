// SPDX-License-Identifier: GPL-2.0-only
#include "judge/inspect.h"

#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/unix_diag.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>

#include "base/fd.h"

#ifndef SO_NETNS_COOKIE
#define SO_NETNS_COOKIE 71
#endif

namespace pctctl {

namespace {

template <typename T> std::optional<T> option(int fd, int name) {
    T value{};
    socklen_t size = sizeof value;
    if (::getsockopt(fd, SOL_SOCKET, name, &value, &size) != 0 || size != sizeof value)
        return std::nullopt;
    return value;
}

std::uint64_t own_net_namespace() {
    Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return option<std::uint64_t>(fd.get(), SO_NETNS_COOKIE).value_or(0);
}

// The other end of a Unix socket. The kernel answers only for our own network namespace.
std::optional<std::uint64_t> unix_peer(std::uint64_t inode) {
    Fd netlink(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG));
    if (!netlink)
        return std::nullopt;
    struct {
        nlmsghdr header;
        unix_diag_req request;
    } ask{};
    ask.header.nlmsg_len = sizeof ask;
    ask.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    ask.header.nlmsg_flags = NLM_F_REQUEST;
    ask.request.sdiag_family = AF_UNIX;
    ask.request.udiag_states = ~0U;
    ask.request.udiag_ino = static_cast<std::uint32_t>(inode);
    ask.request.udiag_show = UDIAG_SHOW_PEER;
    ask.request.udiag_cookie[0] = ask.request.udiag_cookie[1] = ~0U;
    if (::send(netlink.get(), &ask, sizeof ask, 0) != static_cast<ssize_t>(sizeof ask))
        return std::nullopt;
    timeval second{1, 0};
    ::setsockopt(netlink.get(), SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    alignas(nlmsghdr) char buffer[8192];
    ssize_t size = ::recv(netlink.get(), buffer, sizeof buffer, 0);
    if (size < 0)
        return std::nullopt;
    auto left = static_cast<unsigned>(size);
    for (auto* answer = reinterpret_cast<nlmsghdr*>(buffer); NLMSG_OK(answer, left);
         answer = NLMSG_NEXT(answer, left)) {
        if (answer->nlmsg_type != SOCK_DIAG_BY_FAMILY)
            return std::nullopt;
        auto* message = static_cast<unix_diag_msg*>(NLMSG_DATA(answer));
        auto* attribute = reinterpret_cast<rtattr*>(message + 1);
        auto rest = answer->nlmsg_len - NLMSG_LENGTH(sizeof *message);
        for (; RTA_OK(attribute, rest); attribute = RTA_NEXT(attribute, rest)) {
            if (attribute->rta_type == UNIX_DIAG_PEER) {
                std::uint32_t peer;
                std::memcpy(&peer, RTA_DATA(attribute), sizeof peer);
                return peer;
            }
        }
    }
    return std::nullopt;
}

std::string address(int fd, int (*get)(int, sockaddr*, socklen_t*)) {
    sockaddr_storage storage{};
    socklen_t size = sizeof storage;
    if (get(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0 ||
        size <= offsetof(sockaddr_un, sun_path))
        return "";
    return {reinterpret_cast<const char*>(&storage), std::min<size_t>(size, sizeof storage)};
}

int local_name(int fd, sockaddr* to, socklen_t* size) {
    return ::getsockname(fd, to, size);
}
int remote_name(int fd, sockaddr* to, socklen_t* size) {
    return ::getpeername(fd, to, size);
}

} // namespace

bool LiveInspector::read_memory(pid_t tid, std::uint64_t address, std::span<std::byte> buffer) {
    iovec here{buffer.data(), buffer.size()};
    iovec there{reinterpret_cast<void*>(address), buffer.size()};
    return ::process_vm_readv(tid, &here, 1, &there, 1, 0) == static_cast<ssize_t>(buffer.size());
}

std::optional<SocketInfo> LiveInspector::socket(pid_t pid, int fd, std::uint64_t inode) {
    Fd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process)
        return std::nullopt;
    Fd socket(static_cast<int>(::syscall(SYS_pidfd_getfd, process.get(), fd, 0)));
    if (!socket)
        return std::nullopt;
    auto domain = option<int>(socket.get(), SO_DOMAIN);
    auto type = option<int>(socket.get(), SO_TYPE);
    if (!domain || !type)
        return std::nullopt;
    SocketInfo info;
    info.domain = *domain;
    info.type = *type;
    info.listening = option<int>(socket.get(), SO_ACCEPTCONN).value_or(0) != 0;
    for (int name : {SO_RCVTIMEO, SO_SNDTIMEO}) {
        auto limit = option<timeval>(socket.get(), name);
        if (limit && (limit->tv_sec || limit->tv_usec))
            info.timed = true;
    }
    info.net_namespace = option<std::uint64_t>(socket.get(), SO_NETNS_COOKIE).value_or(0);
    info.local = address(socket.get(), local_name);
    info.remote = address(socket.get(), remote_name);
    if (info.domain == AF_UNIX) {
        if (info.net_namespace && info.net_namespace == own_net_namespace())
            info.peer_inode = unix_peer(inode);
        if (auto peer = option<ucred>(socket.get(), SO_PEERCRED); peer && peer->pid > 0)
            info.peer_pid = peer->pid;
    }
    return info;
}

} // namespace pctctl
