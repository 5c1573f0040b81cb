// SPDX-License-Identifier: GPL-2.0-only
#include "pool.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <fcntl.h>
#include <list>
#include <memory>
#include <poll.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include "hash.h"
#include "status.h"

namespace vm {
namespace {

using Clock = std::chrono::steady_clock;

// What is said on a connection: packets of a letter and perhaps text.
constexpr char kBorrow = 'B'; // with the accelerator
constexpr char kEnd = 'E';    // the keeper has to end
constexpr char kReturn = 'R'; // the guest is as it was
constexpr char kGuest = 'G';  // from the keeper: with the guest's descriptors
constexpr char kSorry = 'S';  // from the keeper: with a reason

constexpr std::size_t kMostText = 1024;
constexpr std::size_t kDescriptors = 6;

struct Address {
    sockaddr_un address{};
    socklen_t size = 0;
};

Address address_of(const std::string& name) {
    Address a;
    const std::string text = "pctctl-vm/" + std::to_string(::getuid()) + "/" + hash(name);
    a.address.sun_family = AF_UNIX; // sun_path begins with a zero: no file
    std::copy(text.begin(), text.end(), a.address.sun_path + 1);
    a.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
    return a;
}

// Anybody may connect to, or take, a name that is in no directory.
bool same_user(int socket) {
    ucred peer{};
    socklen_t size = sizeof peer;
    return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           peer.uid == ::getuid();
}

// The socket that leads to the keeper; none: it is not there.
Fd connect_to(const std::string& name) {
    Fd fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const Address a = address_of(name);
    if (!fd || ::connect(fd.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size) ||
        !same_user(fd.get()))
        return Fd();
    return fd;
}

std::string no_pool(const std::string& name) {
    return "there are no guests '" + name + "'; start them with --pool";
}

bool send_packet(const Fd& to, const std::string& text, const std::vector<int>& descriptors = {}) {
    iovec data{const_cast<char*>(text.data()), text.size()};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * kDescriptors)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    if (!descriptors.empty()) {
        message.msg_control = room;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * descriptors.size());
        cmsghdr* head = CMSG_FIRSTHDR(&message);
        head->cmsg_level = SOL_SOCKET;
        head->cmsg_type = SCM_RIGHTS;
        head->cmsg_len = CMSG_LEN(sizeof(int) * descriptors.size());
        std::memcpy(CMSG_DATA(head), descriptors.data(), sizeof(int) * descriptors.size());
    }
    return ::sendmsg(to.get(), &message, MSG_NOSIGNAL) == static_cast<ssize_t>(text.size());
}

// A packet; empty at the end of the connection.
std::string receive_packet(const Fd& from, std::vector<Fd>* descriptors = nullptr) {
    char text[kMostText];
    iovec data{text, sizeof text};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof(int) * kDescriptors)] = {};
    msghdr message{};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    const ssize_t n = ::recvmsg(from.get(), &message, MSG_CMSG_CLOEXEC);
    std::vector<Fd> received;
    for (cmsghdr* head = CMSG_FIRSTHDR(&message); n >= 0 && head;
         head = CMSG_NXTHDR(&message, head)) {
        if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS)
            continue;
        for (std::size_t i = 0; CMSG_LEN(sizeof(int) * (i + 1)) <= head->cmsg_len; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(head) + i * sizeof fd, sizeof fd);
            received.emplace_back(fd);
        }
    }
    if (descriptors)
        *descriptors = std::move(received);
    return n > 0 ? std::string(text, static_cast<std::size_t>(n)) : std::string();
}

class Keeper {
public:
    Keeper(const PoolSettings& pool, const MachineSettings& machine, Fd listener, Fd signals)
        : pool_(pool), settings_(machine), listener_(std::move(listener)),
          signals_(std::move(signals)) {}

    void run() {
        Clock::time_point last_use = Clock::now();
        while (!ended_) {
            std::vector<pollfd> fds = {{listener_.get(), POLLIN, 0},
                                       {signals_.get(), POLLIN, 0},
                                       {pool_.pidfd.value_or(-1), POLLIN, 0}};
            for (const Client& client : clients_)
                fds.push_back({client.connection.get(), POLLIN, 0});
            const auto left =
                std::chrono::ceil<std::chrono::milliseconds>(last_use + pool_.idle - Clock::now());
            ::poll(fds.data(), fds.size(),
                   clients_.empty() ? static_cast<int>(std::max<long>(left.count(), 0)) : -1);
            if (fds[1].revents || fds[2].revents)
                return;
            std::size_t i = 3;
            for (auto client = clients_.begin(); client != clients_.end(); ++i)
                client = fds[i].revents && !listen_to(*client) ? clients_.erase(client) : ++client;
            if (fds[0].revents)
                accept_client();
            lend();
            if (!clients_.empty())
                last_use = Clock::now();
            else if (Clock::now() >= last_use + pool_.idle)
                return;
        }
    }

private:
    struct Place {
        Machine machine;
        Accelerator accelerator = Accelerator::kTcg;
    };
    struct Client {
        Fd connection;
        std::optional<Accelerator> wanted;
        std::unique_ptr<Place> lent; // gone with the client, unless it gives it back
    };

    void accept_client() {
        Fd connection(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC));
        if (connection && same_user(connection.get()))
            clients_.push_back({std::move(connection), std::nullopt, nullptr});
    }

    // False: the client is no more.
    bool listen_to(Client& client) {
        const std::string said = receive_packet(client.connection);
        if (said.empty())
            return false;
        if (said[0] == kEnd)
            ended_ = true;
        else if (said[0] == kReturn && client.lent)
            idle_.push_back(std::move(client.lent));
        else if (said[0] == kBorrow && said.size() == 2)
            client.wanted = static_cast<Accelerator>(said[1]);
        return true;
    }

    // Who has waited longest comes first.
    void lend() {
        for (Client& client : clients_) {
            if (!client.wanted)
                continue;
            std::string error;
            std::unique_ptr<Place> place = find_place(*client.wanted, error);
            if (!place && error.empty())
                return; // all are in use
            client.wanted.reset();
            if (!place) {
                send_packet(client.connection, kSorry + error.substr(0, kMostText - 1));
                continue;
            }
            const Guest& guest = place->machine.guest();
            client.lent = std::move(place);
            send_packet(client.connection, std::string(1, kGuest),
                        {guest.control.get(), guest.in.get(), guest.out.get(), guest.err.get(),
                         guest.console.get(), guest.complaints.get()});
        }
    }

    std::unique_ptr<Place> find_place(Accelerator accelerator, std::string& error) {
        std::erase_if(idle_, [](const auto& place) { return place->machine.exited(); });
        for (auto it = idle_.begin(); it != idle_.end(); ++it)
            if ((*it)->accelerator == accelerator) {
                std::unique_ptr<Place> place = std::move(*it);
                idle_.erase(it);
                return place;
            }
        const auto lent = std::count_if(clients_.begin(), clients_.end(),
                                        [](const Client& client) { return bool(client.lent); });
        if (static_cast<std::size_t>(lent) >= pool_.guests)
            return nullptr;
        if (static_cast<std::size_t>(lent) + idle_.size() >= pool_.guests)
            idle_.pop_back(); // of another kind
        auto place = std::make_unique<Place>();
        place->accelerator = accelerator;
        error = place->machine.start(settings_, accelerator);
        return error.empty() ? std::move(place) : nullptr;
    }

    const PoolSettings& pool_;
    const MachineSettings& settings_;
    Fd listener_, signals_;
    std::list<Client> clients_; // closed last: who has asked for the end waits for that
    std::vector<std::unique_ptr<Place>> idle_;
    bool ended_ = false;
};

} // namespace

int start_pool(const PoolSettings& pool, const MachineSettings& machine) {
    Fd listener(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const Address a = address_of(pool.name);
    if (!listener ||
        ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&a.address), a.size) ||
        ::listen(listener.get(), 128)) {
        complain(errno == EADDRINUSE ? "there are guests '" + pool.name + "' already"
                                     : std::string("cannot listen: ") + std::strerror(errno));
        return kVmFailed;
    }
    const pid_t keeper = ::fork();
    if (keeper < 0) {
        complain(std::string("cannot fork: ") + std::strerror(errno));
        return kVmFailed;
    }
    if (keeper > 0)
        return 0;
    ::setsid();
    if (::chdir("/"))
        return kVmFailed;
    const Fd null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    for (int fd = 0; fd <= 2; ++fd)
        ::dup2(null.get(), fd);
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        sigaddset(&mask, signal);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    Fd signals(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
    Keeper(pool, machine, std::move(listener), std::move(signals)).run();
    return 0;
}

int end_pool(const std::string& name) {
    const Fd keeper = connect_to(name);
    if (!keeper) {
        complain(no_pool(name));
        return kVmFailed;
    }
    send_packet(keeper, std::string(1, kEnd));
    receive_packet(keeper);
    return 0;
}

std::string Loan::borrow(const std::string& pool, Accelerator accelerator, int interrupted) {
    keeper_ = connect_to(pool);
    if (!keeper_)
        return no_pool(pool);
    send_packet(keeper_, {kBorrow, static_cast<char>(accelerator)});
    pollfd fds[2] = {{keeper_.get(), POLLIN, 0}, {interrupted, POLLIN, 0}};
    while (::poll(fds, 2, -1) < 0)
        if (errno != EINTR)
            return std::string("poll: ") + std::strerror(errno);
    if (fds[1].revents)
        return {};
    std::vector<Fd> descriptors;
    const std::string said = receive_packet(keeper_, &descriptors);
    if (said.size() > 1 && said[0] == kSorry)
        return said.substr(1);
    if (said.empty() || said[0] != kGuest || descriptors.size() != kDescriptors)
        return "the keeper of the guests '" + pool + "' has ended";
    guest_ = {std::move(descriptors[0]), std::move(descriptors[1]), std::move(descriptors[2]),
              std::move(descriptors[3]), std::move(descriptors[4]), std::move(descriptors[5])};
    return {};
}

void Loan::give_back() {
    send_packet(keeper_, std::string(1, kReturn));
}

} // namespace vm
