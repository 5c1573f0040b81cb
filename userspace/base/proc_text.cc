// SPDX-License-Identifier: GPL-2.0-only
#include "base/proc_text.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "base/files.h"
#include "base/text.h"

namespace pctctl {

namespace {

template <typename T> std::optional<T> number(std::string_view text, int base = 10) {
    if (base == 16 && text.starts_with("0x"))
        text.remove_prefix(2);
    T value{};
    auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc() || end != text.data() + text.size())
        return std::nullopt;
    return value;
}

// Words separated by blanks and tabs.
std::vector<std::string> words(std::string_view line) {
    std::string copy(line);
    for (char& c : copy)
        if (c == '\t')
            c = ' ';
    return split(copy, ' ');
}

// The words from the first one on, with single blanks.
std::string joined(const std::vector<std::string>& words, size_t first) {
    std::string text;
    for (size_t i = first; i < words.size(); i++)
        text += (i > first ? " " : "") + words[i];
    return text;
}

} // namespace

std::optional<SyscallText> parse_syscall(std::string_view text) {
    auto fields = split(trimmed(text), ' ');
    // "running"; "-1 SP PC"; or number, six arguments, SP and PC.
    SyscallText result;
    if (fields.size() == 3 && fields[0] == "-1")
        return result;
    if (fields.size() != 9)
        return std::nullopt;
    auto nr = number<long>(fields[0]);
    if (!nr || *nr < 0)
        return std::nullopt;
    result.number = *nr;
    for (size_t i = 0; i < result.arguments.size(); i++) {
        auto argument = number<std::uint64_t>(fields[i + 1], 16);
        if (!argument)
            return std::nullopt;
        result.arguments[i] = *argument;
    }
    return result;
}

char parse_state(std::string_view stat) {
    size_t end = stat.rfind(')');
    if (end == std::string_view::npos || end + 2 >= stat.size())
        return 0;
    return stat[end + 2];
}

std::optional<std::string> parse_field(std::string_view text, std::string_view name) {
    for (const std::string& line : split(text, '\n')) {
        std::string_view rest = line;
        if (!rest.starts_with(name))
            continue;
        rest.remove_prefix(name.size());
        if (rest.starts_with(':'))
            return std::string(trimmed(rest.substr(1)));
    }
    return std::nullopt;
}

std::optional<std::vector<EpollEntry>> parse_epoll(std::string_view fdinfo) {
    std::vector<EpollEntry> entries;
    for (const std::string& line : split(fdinfo, '\n')) {
        auto fields = words(line);
        if (fields.empty() || fields[0] != "tfd:")
            continue;
        EpollEntry entry;
        bool has_inode = false;
        auto fd = fields.size() > 1 ? number<int>(fields[1]) : std::nullopt;
        for (const std::string& field : fields) {
            if (!field.starts_with("ino:"))
                continue;
            auto inode = number<std::uint64_t>(std::string_view(field).substr(4), 16);
            if (inode) {
                entry.inode = *inode;
                has_inode = true;
            }
        }
        if (!fd || !has_inode)
            return std::nullopt;
        entry.fd = *fd;
        entries.push_back(entry);
    }
    return entries;
}

namespace {

// The locks of /proc/locks that a request is queued for which is_meant, given the request's words,
// says is one of those looked for.
template <typename Predicate>
std::vector<std::string> locks_waited_for(std::string_view locks, const Predicate& is_meant) {
    // "ID: [->...] KIND MODE TYPE PID DEV:INODE START END"; waiters follow the lock of their ID.
    std::vector<std::string> found;
    std::vector<std::string> lock;
    for (const std::string& line : split(locks, '\n')) {
        auto fields = words(line);
        if (fields.size() < 5)
            continue;
        if (!fields[1].ends_with("->")) {
            lock = std::move(fields);
            continue;
        }
        if (lock.empty() || lock[0] != fields[0])
            continue;
        fields.erase(fields.begin() + 1); // now as those of a lock
        if (fields.size() < 6 || !is_meant(fields))
            continue;
        if (std::string text = joined(lock, 1);
            std::find(found.begin(), found.end(), text) == found.end())
            found.push_back(std::move(text));
    }
    return found;
}

} // namespace

std::vector<std::string> parse_locks_waited_for(std::string_view locks, int waiter) {
    return locks_waited_for(locks, [waiter](const std::vector<std::string>& request) {
        return number<int>(request[4]) == waiter;
    });
}

std::vector<std::string> parse_open_file_locks_waited_for(std::string_view locks,
                                                          std::uint64_t inode) {
    return locks_waited_for(locks, [inode](const std::vector<std::string>& request) {
        std::string_view file = request[5];
        return request[1] == "OFDLCK" &&
               number<std::uint64_t>(file.substr(file.rfind(':') + 1)) == inode;
    });
}

std::optional<int> parse_lock_owner(std::string_view lock) {
    auto fields = words(lock);
    auto pid = fields.size() > 3 ? number<int>(fields[3]) : std::nullopt;
    return pid && *pid > 0 ? pid : std::nullopt;
}

bool holds_lock(std::string_view fdinfo, std::string_view lock) {
    for (const std::string& line : split(fdinfo, '\n')) {
        auto fields = words(line); // "lock: ID: KIND ..."
        if (fields.size() > 2 && fields[0] == "lock:" && joined(fields, 2) == lock)
            return true;
    }
    return false;
}

std::optional<std::string> parse_shared_mapping(std::string_view maps, std::uint64_t address) {
    for (const std::string& line : split(maps, '\n')) {
        auto fields = words(line);
        if (fields.size() < 5)
            continue;
        size_t dash = fields[0].find('-');
        if (dash == std::string::npos)
            continue;
        auto begin = number<std::uint64_t>(std::string_view(fields[0]).substr(0, dash), 16);
        auto end = number<std::uint64_t>(std::string_view(fields[0]).substr(dash + 1), 16);
        if (!begin || !end || address < *begin || address >= *end)
            continue;
        if (fields[1].size() >= 4 && fields[1][3] == 's' && fields[4] != "0")
            return fields[3] + " " + fields[4];
        return std::nullopt;
    }
    return std::nullopt;
}

std::optional<std::uint64_t> parse_link(std::string_view link, std::string_view kind) {
    if (!link.starts_with(kind))
        return std::nullopt;
    link.remove_prefix(kind.size());
    if (!link.starts_with(":[") || !link.ends_with("]"))
        return std::nullopt;
    return number<std::uint64_t>(link.substr(2, link.size() - 3));
}

} // namespace pctctl
