// SPDX-License-Identifier: GPL-2.0-only
// A process tree that blocks in a known way, for tests of the code that inspects blocked processes.
#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"
#include "judge/judge.h"

namespace pctctl::test {

class Blocked {
public:
    // Runs `body` in a child process, and returns when all threads of the child and of its
    // descendants are blocked. `body` must call its argument right before its last thread blocks.
    explicit Blocked(const std::function<void(const std::function<void()>&)>& body) {
        int ends[2];
        if (::pipe2(ends, O_CLOEXEC) != 0)
            throw std::runtime_error("pipe");
        pid_ = ::fork();
        if (pid_ == 0) {
            ::prctl(PR_SET_PDEATHSIG, SIGKILL);
            ::setpgid(0, 0);
            ::close(ends[0]);
            int writer = ends[1];
            body([writer] {
                if (::write(writer, "r", 1) != 1)
                    ::_exit(9);
                ::close(writer); // a pipe shared with the test would change the verdict
            });
            ::_exit(0);
        }
        ::close(ends[1]);
        char byte;
        ready_ = ::read(ends[0], &byte, 1) == 1;
        ::close(ends[0]);
        settle();
    }
    Blocked(const Blocked&) = delete;
    ~Blocked() {
        ::kill(-pid_, SIGCONT);
        ::kill(-pid_, SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }

    pid_t pid() const { return pid_; }
    bool ready() const { return ready_; }

    std::vector<LiveThread> threads() const {
        std::vector<LiveThread> result;
        collect(pid_, result);
        return result;
    }

    Verdict verdict(bool timers = false) const {
        LiveInspector inspector;
        return judge(threads(), timers, inspector);
    }

    // Waits until all threads sleep and none has run for a while.
    void settle() const {
        std::string before;
        const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
        for (int same = 0; same < 3;) {
            if (std::chrono::steady_clock::now() > limit)
                throw std::runtime_error("the process to be judged has ended or does not block");
            std::this_thread::sleep_for(std::chrono::milliseconds(10));
            std::string now = snapshot();
            same = !now.empty() && now == before ? same + 1 : 0;
            before = now;
        }
    }

private:
    static std::string task(const LiveThread& thread) {
        return "/proc/" + std::to_string(thread.pid) + "/task/" + std::to_string(thread.tid);
    }

    // The number of context switches of all threads; empty while one of them runs.
    std::string snapshot() const {
        std::string result;
        for (const LiveThread& thread : threads()) {
            auto stat = read_text(task(thread) + "/stat");
            auto status = read_text(task(thread) + "/status");
            if (!stat || !status || parse_state(*stat) == 'R')
                return "";
            result += std::to_string(thread.tid) + " " +
                      parse_field(*status, "voluntary_ctxt_switches").value_or("") + " " +
                      parse_field(*status, "nonvoluntary_ctxt_switches").value_or("") + "\n";
        }
        return result;
    }

    static void collect(pid_t pid, std::vector<LiveThread>& result) {
        std::string tasks = "/proc/" + std::to_string(pid) + "/task";
        for (const std::string& tid : list(tasks)) {
            LiveThread thread{pid, std::atoi(tid.c_str()), "t" + std::to_string(result.size())};
            if (parse_state(read_text(task(thread) + "/stat").value_or("")) != 'Z')
                result.push_back(thread);
            for (const std::string& child :
                 split(trimmed(read_text(tasks + "/" + tid + "/children").value_or("")), ' '))
                collect(std::atoi(child.c_str()), result);
        }
    }

    static std::vector<std::string> list(const std::string& directory) {
        std::vector<std::string> names;
        std::error_code error;
        for (const auto& entry : std::filesystem::directory_iterator(directory, error))
            names.push_back(entry.path().filename());
        std::sort(names.begin(), names.end());
        return names;
    }

    pid_t pid_ = -1;
    bool ready_ = false;
};

} // namespace pctctl::test
