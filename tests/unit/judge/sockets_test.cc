// SPDX-License-Identifier: GPL-2.0-only
// Waits for sockets.
#include "verdicts.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdio>
#include <thread>

namespace pctctl {
namespace {

using namespace test;

// A listening socket on the loopback interface, or a datagram socket.
int bound_socket(int type, sockaddr_in& address) {
    int fd = ::socket(AF_INET, type, 0);
    address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0)
        std::abort();
    if (type == SOCK_STREAM)
        ::listen(fd, 5);
    return fd;
}

int connected_to(const sockaddr_in& address) {
    int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
        std::abort();
    return fd;
}

TEST(Judge, LocalSocketsWithinTheRun) {
    for (int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_SEQPACKET})
        expect_deadlock(Blocked([type](const Ready& ready) {
                            auto ends = make_socketpair(type);
                            if (::fork() == 0) {
                                ::close(ends[0]);
                                read_byte(ends[1]);
                            }
                            ::close(ends[1]);
                            ready();
                            read_byte(ends[0]);
                        }),
                        "waits for data in a local socket");
}

TEST(Judge, LocalSocketConnectedByName) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        sockaddr_un address{};
                        address.sun_family = AF_UNIX;
                        std::snprintf(address.sun_path + 1, 80, "judge-%d", ::getpid());
                        int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
                        int client = ::socket(AF_UNIX, SOCK_STREAM, 0);
                        auto* name = reinterpret_cast<sockaddr*>(&address);
                        if (::bind(server, name, sizeof address) != 0 || ::listen(server, 1) != 0 ||
                            ::connect(client, name, sizeof address) != 0)
                            ::_exit(1);
                        int accepted = ::accept(server, nullptr, nullptr);
                        std::thread other([&] { read_byte(accepted); });
                        ready();
                        read_byte(client);
                    }),
                    "local socket");
}

TEST(Judge, LocalSocketsFromOutside) {
    auto ends = make_socketpair();
    expect_none(Blocked([&](const Ready& ready) {
                    ::close(ends[0]);
                    ready();
                    read_byte(ends[1]);
                }),
                "outside");
    // Only the other end is outside.
    auto other = make_socketpair();
    Blocked blocked([&](const Ready& ready) {
        ::close(other[0]);
        ready();
        read_byte(other[1]);
    });
    ::close(other[1]);
    expect_none(blocked, "outside");
    for (int fd : {ends[0], ends[1], other[0]})
        ::close(fd);
}

TEST(Judge, SocketsWithATimeLimit) {
    expect_none(Blocked([&](const Ready& ready) {
                    auto ends = make_socketpair();
                    timeval limit{1000, 0};
                    ::setsockopt(ends[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
                    ready();
                    read_byte(ends[0]);
                }),
                "time limit");
}

TEST(Judge, NamedDatagramSocket) {
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_un address{};
                    address.sun_family = AF_UNIX;
                    std::snprintf(address.sun_path + 1, 80, "judge-%d", ::getpid());
                    int fd = ::socket(AF_UNIX, SOCK_DGRAM, 0);
                    if (::bind(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
                        ::_exit(1);
                    ready();
                    read_byte(fd);
                }),
                "named datagram");
}

TEST(Judge, Servers) {
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    int fd = bound_socket(SOCK_STREAM, address);
                    ready();
                    ::accept(fd, nullptr, nullptr);
                }),
                "client");
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    pollfd set{bound_socket(SOCK_STREAM, address), POLLIN, 0};
                    ready();
                    ::poll(&set, 1, -1);
                }),
                "listening");
    expect_none(Blocked([&](const Ready& ready) {
                    sockaddr_in address;
                    int fd = bound_socket(SOCK_DGRAM, address);
                    ready();
                    read_byte(fd);
                }),
                "network");
}

TEST(Judge, LoopbackConnections) {
    expect_deadlock(Blocked([](const Ready& ready) {
                        sockaddr_in address;
                        int server = bound_socket(SOCK_STREAM, address);
                        int client = connected_to(address);
                        int accepted = ::accept(server, nullptr, nullptr);
                        ::close(server);
                        std::thread other([&] { read_byte(accepted); });
                        ready();
                        read_byte(client);
                    }),
                    "loopback");
    sockaddr_in address;
    int server = bound_socket(SOCK_STREAM, address);
    Blocked blocked([&](const Ready& ready) {
        ::close(server);
        int client = connected_to(address);
        ready();
        read_byte(client);
    });
    expect_none(blocked, "network connection");
    ::close(server);
}

} // namespace
} // namespace pctctl
