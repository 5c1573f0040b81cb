// SPDX-License-Identifier: GPL-2.0-only
#include "judge/descriptors.h"

#include <poll.h>
#include <sys/stat.h>

#include <cstdlib>
#include <optional>
#include <span>
#include <string_view>

#include "base/proc_text.h"
#include "base/text.h"
#include "judge/sockets.h"

namespace pctctl {

namespace {

constexpr int kMaxEpollDepth = 5; // the kernel allows fewer
constexpr std::uint64_t kMaxPolledDescriptors = 65536;

std::string numbered(std::string_view what, int fd) {
    return std::string(what) + " (descriptor " + std::to_string(fd) + ")";
}

struct Descriptor {
    const BlockedThread& thread;
    int fd;
    std::string link;
    int depth;
};

Source pipe_source(const Descriptor& descriptor) {
    if (descriptor.thread.run.outsiders().hold(descriptor.link))
        return external_source(
            numbered("a pipe shared with processes outside the run", descriptor.fd));
    return internal_source(numbered("a pipe", descriptor.fd));
}

Source pidfd_source(const Descriptor& descriptor) {
    const std::string info = descriptor.thread.fdinfo(descriptor.fd);
    const int pid = std::atoi(parse_field(info, "Pid").value_or("0").c_str());
    if (!descriptor.thread.run.has(pid))
        return external_source(numbered("the end of a process outside the run", descriptor.fd));
    return internal_source("the end of a process (pidfd " + std::to_string(descriptor.fd) + ")");
}

// Internal if each of its members is.
Source epoll_source(const Descriptor& set) {
    const std::string name = numbered("an epoll set", set.fd);
    if (set.depth > kMaxEpollDepth)
        return external_source(name + " nested too deeply");
    const auto entries = parse_epoll(set.thread.fdinfo(set.fd));
    if (!entries || set.link != "anon_inode:[eventpoll]")
        return external_source(name + " that cannot be read");
    for (const EpollEntry& entry : *entries) {
        // The set watches files. The number of one may stand for another file by now.
        struct stat status;
        const std::string path = set.thread.directory + "/fd/" + std::to_string(entry.fd);
        if (::stat(path.c_str(), &status) != 0 || status.st_ino != entry.inode)
            return external_source(name + " with an unknown member");
        Source member = source_of(set.thread, entry.fd, set.depth);
        if (!member.internal)
            return member;
    }
    return internal_source(set.depth > 0 ? name
                                         : name + " with " + counted(entries->size(), "member"));
}

// By the beginning of the link in /proc. Links to files that have a path begin with '/'.
struct DescriptorKind {
    std::string_view link;
    Source (*source)(const Descriptor&);
};
constexpr DescriptorKind kDescriptorKinds[] = {
    {"pipe:", pipe_source},
    {"socket:", [](const Descriptor& d) { return socket_source(d.thread, d.fd, d.link); }},
    // Has no name by which a process outside could open it.
    {"anon_inode:[eventfd]",
     [](const Descriptor& d) { return internal_source(numbered("an eventfd", d.fd)); }},
    {"anon_inode:[signalfd]",
     [](const Descriptor& d) { return internal_source(numbered("a signalfd", d.fd)); }},
    {"anon_inode:[eventpoll]",
     [](const Descriptor& d) { return epoll_source({d.thread, d.fd, d.link, d.depth + 1}); }},
    {"anon_inode:[pidfd]", pidfd_source},
    {"pidfd:", pidfd_source},
};

} // namespace

// What the table does not know may be changed from outside: a timerfd, a terminal, a named pipe.
Source source_of(const BlockedThread& thread, int fd, int depth) {
    const auto link = thread.link(fd);
    if (!link)
        return external_source("descriptor " + std::to_string(fd) + ", which is closed");
    for (const DescriptorKind& kind : kDescriptorKinds)
        if (link->starts_with(kind.link))
            return kind.source({thread, fd, *link, depth});
    return external_source(numbered("'" + *link + "'", fd));
}

Wait descriptors_wait(const BlockedThread& thread, const std::vector<int>& fds, const char* what) {
    if (fds.empty())
        return internal_wait("waits for a signal");
    const std::string begin = "waits for " + std::string(what) + " in ";
    std::string first;
    for (int fd : fds) {
        const Source source = source_of(thread, fd);
        if (!source.internal)
            return external_wait(begin + source.name);
        if (first.empty())
            first = begin + source.name;
    }
    if (fds.size() > 1)
        first += " or " + std::to_string(fds.size() - 1) + " more";
    return internal_wait(std::move(first));
}

Wait poll_set_wait(const BlockedThread& thread, std::uint64_t array, std::uint64_t count) {
    const char* const unreadable = "polls a set that cannot be read";
    if (count > kMaxPolledDescriptors)
        return external_wait(unreadable);
    std::vector<pollfd> set(count);
    if (count > 0 && !thread.read(array, std::as_writable_bytes(std::span(set))))
        return external_wait(unreadable);
    std::vector<int> fds;
    for (const pollfd& entry : set)
        if (entry.fd >= 0)
            fds.push_back(entry.fd);
    return descriptors_wait(thread, fds, "an event");
}

Wait select_sets_wait(const BlockedThread& thread, std::uint64_t count, const std::uint64_t* sets) {
    const char* const unreadable = "selects from a set that cannot be read";
    if (count > kMaxPolledDescriptors)
        return external_wait(unreadable);
    std::vector<int> fds;
    std::vector<std::uint64_t> words((count + 63) / 64);
    for (const std::uint64_t set : std::span(sets, 3)) {
        if (set == 0 || words.empty())
            continue;
        if (!thread.read(set, std::as_writable_bytes(std::span(words))))
            return external_wait(unreadable);
        for (std::uint64_t fd = 0; fd < count; fd++)
            if (words[fd / 64] >> (fd % 64) & 1)
                fds.push_back(static_cast<int>(fd));
    }
    return descriptors_wait(thread, fds, "an event");
}

Wait epoll_set_wait(const BlockedThread& thread, int fd) {
    Source set = epoll_source({thread, fd, thread.link(fd).value_or(""), 0});
    return {.internal = set.internal, .text = "waits for events of " + std::move(set.name)};
}

} // namespace pctctl
