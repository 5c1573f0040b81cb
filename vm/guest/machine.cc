// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include <arpa/inet.h>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "files.h"
#include "mounts.h"

namespace vm::init {
namespace {

constexpr useconds_t kPause = 2000;   // between two looks
constexpr int kLooks = 15 * 1000 / 2; // 15 s in all

// All controllers there are, for cgroups below the root.
void enable_controllers() {
    const std::string root = kCgroups;
    const std::string controllers = read_small_file(root + "/cgroup.controllers") + " ";
    for (std::size_t start = 0, end; (end = controllers.find(' ', start)) != std::string::npos;
         start = end + 1)
        if (end > start)
            write_small_file(root + "/cgroup.subtree_control",
                             "+" + controllers.substr(start, end - start));
}

// Removes the cgroups below; false: something is still in one of them.
bool remove_cgroups(const std::string& group) {
    bool all = true;
    DIR* directory = ::opendir(group.c_str());
    if (!directory)
        return errno == ENOENT;
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.')
            continue;
        const std::string below = group + "/" + entry->d_name;
        all = remove_cgroups(below) && (::rmdir(below.c_str()) == 0 || errno == ENOENT) && all;
    }
    ::closedir(directory);
    return all;
}

// Kills all processes but this one; false: some are still there.
bool end_processes() {
    ::kill(-1, SIGKILL);
    while (::waitpid(-1, nullptr, WNOHANG) > 0)
        ;
    return ::waitpid(-1, nullptr, WNOHANG) < 0 && errno == ECHILD;
}

bool scheduler_is_gone() {
    const std::string state = read_small_file("/sys/kernel/sched_ext/state");
    return state.empty() || state == "disabled";
}

} // namespace

void prepare_machine() {
    ::sethostname("pctctl-vm", 9);
    const Fd s(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    ifreq request{};
    std::strcpy(request.ifr_name, "lo");
    request.ifr_flags = IFF_UP | IFF_RUNNING;
    ::ioctl(s.get(), SIOCSIFFLAGS, &request);
    const rlimit files{1024, 1048576};
    ::setrlimit(RLIMIT_NOFILE, &files);
    write_small_file("/proc/self/oom_score_adj", "-1000"); // rather the command than all
    const rlimit core{0, RLIM_INFINITY};
    ::setrlimit(RLIMIT_CORE, &core);
    enable_controllers();
}

void set_clock(Control& control) {
    const auto now = [](clockid_t clock) {
        timespec t{};
        ::clock_gettime(clock, &t);
        return static_cast<std::uint64_t>(t.tv_sec) * 1000000000 +
               static_cast<std::uint64_t>(t.tv_nsec);
    };
    const std::uint64_t asked = now(CLOCK_MONOTONIC);
    control.send(MessageType::kTimePlease);
    Message answer = control.wait();
    while (answer.type == MessageType::kPing || answer.type == MessageType::kSignal)
        answer = control.wait(); // nothing is running yet
    if (answer.type != MessageType::kTime)
        control.fail("the launcher does not tell the time");
    const std::uint64_t host = Reader(answer.payload).number();
    const std::uint64_t time = host + (now(CLOCK_MONOTONIC) - asked) / 2;
    const timespec t{static_cast<time_t>(time / 1000000000), static_cast<long>(time % 1000000000)};
    ::clock_settime(CLOCK_REALTIME, &t);
}

std::string clean_machine() {
    bool processes = false;
    bool cgroups = false;
    bool scheduler = false;
    for (int i = 0; i < kLooks; ++i) {
        processes = processes || end_processes();
        cgroups = cgroups || (processes && remove_cgroups(kCgroups));
        scheduler = scheduler || scheduler_is_gone();
        if (processes && cgroups && scheduler) {
            enable_controllers();
            return {};
        }
        ::usleep(kPause);
    }
    return std::string("the command has left behind ") + (!processes ? "processes that do not end"
                                                          : !cgroups
                                                              ? "cgroups that cannot be removed"
                                                              : "a scheduler that does not end");
}

} // namespace vm::init
