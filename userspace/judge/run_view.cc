// SPDX-License-Identifier: GPL-2.0-only
#include "judge/run_view.h"

#include <utility>

#include "base/files.h"
#include "base/proc_text.h"
#include "judge/proc_tree.h"

namespace pctctl {

namespace {

std::set<pid_t> processes(const std::vector<LiveThread>& threads) {
    std::set<pid_t> result;
    for (const LiveThread& thread : threads)
        result.insert(thread.pid);
    return result;
}

} // namespace

RunView::RunView(const std::vector<LiveThread>& threads, Inspector& inspector, std::string proc)
    : threads_(threads), inspector_(inspector), proc_(std::move(proc)), pids_(processes(threads)),
      outsiders_(proc_, pids_) {}

std::string RunView::directory(pid_t pid) const {
    return proc_ + "/" + std::to_string(pid);
}

std::string RunView::directory(const LiveThread& thread) const {
    return directory(thread.pid) + "/task/" + std::to_string(thread.tid);
}

const std::vector<HeldSocket>& RunView::sockets() {
    if (!sockets_) {
        sockets_.emplace();
        for (pid_t pid : pids_)
            add_sockets(pid);
    }
    return *sockets_;
}

void RunView::add_sockets(pid_t pid) {
    for (const LiveThread& thread : threads_) {
        if (thread.pid != pid)
            continue;
        const std::string fds = directory(thread) + "/fd";
        const auto numbers = numbers_in(fds);
        if (!numbers || numbers->empty())
            continue; // this thread has ended; another one may still have the descriptors
        for (int fd : *numbers) {
            const auto link = read_link(fds + "/" + std::to_string(fd));
            if (auto inode = parse_link(link.value_or(""), "socket"))
                sockets_->push_back({pid, fd, *inode});
        }
        return;
    }
}

const LiveThread* RunView::by_own_number(int tid) {
    if (own_numbers_.empty()) {
        for (const LiveThread& thread : threads_)
            if (auto status = read_text(directory(thread) + "/status"))
                own_numbers_.emplace(own_number(*status, "NSpid", thread.tid), &thread);
    }
    const auto found = own_numbers_.find(std::to_string(tid));
    return found == own_numbers_.end() ? nullptr : found->second;
}

std::string BlockedThread::file(const char* name) const {
    return read_text(directory + "/" + name).value_or("");
}

std::string BlockedThread::fdinfo(int fd) const {
    return file(("fdinfo/" + std::to_string(fd)).c_str());
}

std::optional<std::string> BlockedThread::link(int fd) const {
    return read_link(directory + "/fd/" + std::to_string(fd));
}

// By thread: a process whose first thread has ended shows no memory under its own number.
bool BlockedThread::read(std::uint64_t address, std::span<std::byte> buffer) const {
    return run.inspector().read_memory(thread.tid, address, buffer);
}

} // namespace pctctl
