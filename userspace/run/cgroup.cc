// SPDX-License-Identifier: GPL-2.0-only
#include "run/cgroup.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "base/files.h"
#include "base/text.h"
#include "plan/cgroup_name.h"

namespace pctctl {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kDeathTimeout = std::chrono::seconds(10);

// /proc/self/mounts writes white space and backslashes as octal escapes.
std::string unescaped(std::string_view text) {
    std::string result;
    for (size_t i = 0; i < text.size(); i++) {
        if (text[i] == '\\' && i + 3 < text.size()) {
            result += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 +
                                        (text[i + 3] - '0'));
            i += 3;
        } else {
            result += text[i];
        }
    }
    return result;
}

bool contains(const std::string& list, std::string_view word) {
    for (const std::string& line : split(list, '\n'))
        for (const std::string& item : split(line, ' '))
            if (item == word)
                return true;
    return false;
}

Error failed(const std::string& what, const std::string& path, int error) {
    std::string text = "cannot " + what + " cgroup '" + path + "': " + errno_text(error);
    if (error == EACCES || error == EPERM)
        text += "; run as root";
    else if (error == EROFS)
        text += "; the cgroup file system is read-only here (a container?), use --vm";
    return Error::environment(text);
}

} // namespace

std::optional<std::string> find_cgroup_mount(std::string_view mounts) {
    for (const std::string& line : split(mounts, '\n')) {
        auto fields = split(line, ' ');
        if (fields.size() >= 3 && fields[2] == "cgroup2")
            return unescaped(fields[1]);
    }
    return std::nullopt;
}

Result<Cgroup> Cgroup::create(std::string_view name, Guardian* guardian) {
    if (auto ok = check_cgroup_name(name); !ok)
        return ok.error();
    auto mount = find_cgroup_mount(read_text("/proc/self/mounts").value_or(""));
    if (!mount)
        return Error::environment("no cgroup v2 file system is mounted; mount one with 'mount -t "
                                  "cgroup2 none /sys/fs/cgroup' or use --vm");
    return open(*mount, *mount, name, guardian);
}

Result<Cgroup> Cgroup::child(std::string_view name) const {
    if (auto ok = check_cgroup_name(name); !ok)
        return ok.error();
    return open(mount_, path_, name, guardian_);
}

Result<Cgroup> Cgroup::open(std::string mount, std::string parent, std::string_view name,
                            Guardian* guardian) {
    Cgroup group;
    group.mount_ = std::move(mount);
    group.guardian_ = guardian;
    group.path_ = std::move(parent);
    for (const std::string& part : split(name, '/')) {
        group.path_ += "/" + part;
        struct stat status;
        if (::stat(group.path_.c_str(), &status) == 0) {
            if (!S_ISDIR(status.st_mode))
                return Error::usage("cgroup '" + group.path_ +
                                    "' is a control file of the kernel; "
                                    "choose another name");
            continue;
        }
        if (guardian)
            guardian->remove_when_empty(group.path_);
        if (::mkdir(group.path_.c_str(), 0755) == 0) {
            group.made_.push_back(group.path_);
            continue;
        }
        int error = errno;
        if (guardian)
            guardian->forget(group.path_);
        if (error == EAGAIN)
            return Error::environment("cannot create cgroup '" + group.path_ +
                                      "': the limit of groups (cgroup.max.descendants or "
                                      "cgroup.max.depth) is reached; choose another parent");
        if (error != EEXIST) // EEXIST: somebody else made it just now, so it is an existing group
            return failed("create", group.path_, error);
    }
    group.directory_.reset(::open(group.path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!group.directory_)
        return failed("open", group.path_, errno);
    struct stat status;
    if (::fstat(group.directory_.get(), &status) == 0)
        group.id_ = status.st_ino;

    bool existed = group.made_.empty() || group.made_.back() != group.path_;
    if (existed) {
        // Not ours: our destructor must not kill what is in it.
        auto in_use = group.populated();
        if (!in_use || *in_use) {
            group.removed_ = true;
            if (!in_use)
                return in_use.error();
            return Error::environment("cgroup '" + group.path_ +
                                      "' already contains processes; choose another --cgroup or "
                                      "end them (see its cgroup.procs)");
        }
        if (contains(read_text(group.path_ + "/cgroup.freeze").value_or("0"), "1"))
            return Error::environment("cgroup '" + group.path_ +
                                      "' is frozen; write 0 to its cgroup.freeze");
    }
    if (guardian) {
        if (existed)
            guardian->kill_in(group.path_);
        else
            guardian->kill_and_remove(group.path_);
    }
    return group;
}

Cgroup::Cgroup(Cgroup&& other) noexcept
    : mount_(std::move(other.mount_)), path_(std::move(other.path_)),
      directory_(std::move(other.directory_)), id_(other.id_), made_(std::move(other.made_)),
      enabled_(std::move(other.enabled_)), limit_before_(std::move(other.limit_before_)),
      guardian_(other.guardian_), removed_(std::exchange(other.removed_, true)) {}

Cgroup::~Cgroup() {
    (void)remove();
}

Result<std::optional<std::string>> Cgroup::limit_processes(unsigned count) {
    using Reason = std::optional<std::string>;
    if (!contains(read_text(mount_ + "/cgroup.controllers").value_or(""), "pids"))
        return Reason("the cgroup v2 hierarchy at '" + mount_ +
                      "' has no pids controller; boot with 'systemd.unified_cgroup_hierarchy=1', "
                      "or use --vm");
    // Every group from the mount point down to our parent must pass the pids controller on.
    std::string group = mount_;
    std::string_view rest = std::string_view(path_).substr(mount_.size());
    for (const std::string& part : split(rest, '/')) {
        std::string control = group + "/cgroup.subtree_control";
        if (!contains(read_text(control).value_or(""), "pids")) {
            // The kernel would allow the change, but then no process in the groups below.
            if (group != mount_ && !read_text(group + "/cgroup.procs").value_or("").empty())
                return Reason("cgroup '" + group +
                              "' contains processes, so it cannot have the pids controller for "
                              "groups below it; choose another --cgroup");
            if (guardian_)
                guardian_->take_back_pids(control);
            if (const int error = write_text(control, "+pids"); error != 0) {
                if (guardian_)
                    guardian_->forget(control);
                return Reason("cannot write +pids to '" + control + "': " + errno_text(error) +
                              "; choose another --cgroup, or use --vm");
            }
            enabled_.push_back(control);
        }
        group += "/" + part;
    }
    // If the group is the user's own, it gets its old limit back at the end.
    const std::string limit = path_ + "/pids.max";
    const bool existed = made_.empty() || made_.back() != path_;
    if (std::string old(trimmed(read_text(limit).value_or(""))); existed && !old.empty()) {
        if (guardian_)
            guardian_->restore(limit, old);
        limit_before_ = std::move(old);
    }
    int error = write_text(limit, std::to_string(count));
    if (error == ENOENT)
        return Reason("cgroup '" + path_ +
                      "' has no pids.max; somebody has taken the pids controller from a group "
                      "above it");
    if (error != 0)
        return failed("limit the processes of", path_, error);
    return Reason();
}

std::uint64_t Cgroup::limit_hits() const {
    constexpr std::string_view kName = "max ";
    for (const std::string& line : split(read_text(path_ + "/pids.events").value_or(""), '\n'))
        if (line.starts_with(kName))
            return std::strtoull(line.c_str() + kName.size(), nullptr, 10);
    return 0;
}

Status Cgroup::kill() {
    int error = write_text(path_ + "/cgroup.kill", "1");
    if (error == ENOENT)
        return Error::environment("cgroup '" + path_ +
                                  "' has no cgroup.kill; Linux 5.14 or newer is needed, use --vm");
    if (error != 0)
        return failed("kill the processes of", path_, error);
    return Done{};
}

Result<bool> Cgroup::populated() const {
    auto events = read_text(path_ + "/cgroup.events");
    if (!events)
        return failed("look into", path_, errno);
    return events->find("populated 1") != std::string::npos;
}

Result<bool> Cgroup::wait_empty(std::chrono::milliseconds timeout) const {
    auto deadline = Clock::now() + timeout;
    Fd events(::open((path_ + "/cgroup.events").c_str(), O_RDONLY | O_CLOEXEC));
    if (!events)
        return failed("look into", path_, errno);
    for (;;) {
        // Reading acknowledges the last change; a later one makes poll() return.
        char text[256];
        ssize_t n = ::pread(events.get(), text, sizeof text, 0);
        if (n < 0)
            return failed("look into", path_, errno);
        if (std::string_view(text, static_cast<size_t>(n)).find("populated 1") ==
            std::string_view::npos)
            return true;
        auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
        if (left <= 0)
            return false;
        pollfd poll_fd{events.get(), POLLPRI, 0};
        if (::poll(&poll_fd, 1, static_cast<int>(std::min<long>(left, 1000))) < 0 && errno != EINTR)
            return failed("watch", path_, errno);
    }
}

Status Cgroup::remove() {
    if (std::exchange(removed_, true))
        return Done{};
    directory_.reset();
    std::optional<Error> first;
    auto note = [&](Error error) {
        if (!first)
            first = std::move(error);
    };
    // Wait first: the kernel may take a moment to notice that the last process has ended, and a
    // group that stays should not have been killed (see zygote.cc, `migrate`).
    if (auto empty = wait_empty(std::chrono::milliseconds(100)); empty && !*empty) {
        if (auto killed = kill(); !killed)
            note(killed.error());
        if (auto gone = wait_empty(kDeathTimeout); gone && !*gone)
            note(Error::environment("processes in cgroup '" + path_ +
                                    "' do not die; see 'ps -o pid,state,wchan'"));
    }
    for (auto path = made_.rbegin(); path != made_.rend(); ++path) {
        auto deadline = Clock::now() + std::chrono::seconds(2);
        int error = 0;
        // EBUSY: the last process has been reaped, but the group does not know it yet.
        while (::rmdir(path->c_str()) != 0 && (error = errno) == EBUSY && Clock::now() < deadline)
            ::usleep(1000);
        struct stat status;
        if (::stat(path->c_str(), &status) == 0)
            note(failed("remove", *path, error));
        else if (guardian_)
            guardian_->forget(*path);
    }
    if (guardian_ && made_.empty())
        guardian_->forget(path_);
    if (!limit_before_.empty()) {
        write_text(path_ + "/pids.max", limit_before_);
        if (guardian_)
            guardian_->forget(path_ + "/pids.max");
    }
    for (auto control = enabled_.rbegin(); control != enabled_.rend(); ++control) {
        take_back_pids(*control);
        if (guardian_)
            guardian_->forget(*control);
    }
    if (first)
        return *first;
    return Done{};
}

} // namespace pctctl
