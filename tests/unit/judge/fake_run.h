// SPDX-License-Identifier: GPL-2.0-only
// A made-up run: a directory in place of /proc, and an inspector with made-up answers. For cases
// that real processes cannot easily be brought into.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "judge/inspect.h"
#include "judge/judge.h"
#include "judge/run_view.h"

namespace pctctl::test {

class FakeInspector : public Inspector {
public:
    // All threads have the same memory.
    bool read_memory(pid_t, std::uint64_t address, std::span<std::byte> buffer) override {
        const auto found = memory.find(address);
        if (found == memory.end() || found->second.size() < buffer.size())
            return false;
        std::memcpy(buffer.data(), found->second.data(), buffer.size());
        return true;
    }
    std::optional<SocketInfo> socket(pid_t, int, std::uint64_t inode) override {
        const auto found = sockets.find(inode);
        return found == sockets.end() ? std::nullopt : std::optional(found->second);
    }
    template <typename T> void put(std::uint64_t address, const T& value) {
        memory[address].assign(reinterpret_cast<const char*>(&value), sizeof value);
    }

    std::map<std::uint64_t, std::string> memory;
    std::map<std::uint64_t, SocketInfo> sockets; // by inode number
};

// Threads 10 and 11 of process 10. Process 90 is outside.
class FakeRun {
public:
    FakeRun() {
        char name[] = "/tmp/fake_proc.XXXXXX";
        if (!::mkdtemp(name))
            std::abort();
        proc_ = name;
        write("10/task/10/status", "NSpid:\t10\t1\n");
        write("10/task/11/status", "NSpid:\t11\t2\n");
    }
    FakeRun(const FakeRun&) = delete;
    ~FakeRun() { std::filesystem::remove_all(proc_); }

    // path: below the directory that stands for /proc.
    void write(const std::string& path, const std::string& text) {
        std::filesystem::create_directories((proc_ / path).parent_path());
        std::ofstream(proc_ / path) << text;
    }
    // A descriptor of thread 10.
    void open(int fd, const std::string& link) {
        add_link("10/task/10/fd/" + std::to_string(fd), link);
    }
    // A descriptor of process 90.
    void open_outside(int fd, const std::string& link) {
        add_link("90/fd/" + std::to_string(fd), link);
    }

    // Makes a new view. A view may not see what is written after its first answer.
    RunView view() { return RunView(threads_, inspector, proc_.string()); }
    const LiveThread& first() const { return threads_[0]; }

    FakeInspector inspector;

private:
    void add_link(const std::string& path, const std::string& target) {
        std::filesystem::create_directories((proc_ / path).parent_path());
        std::filesystem::create_symlink(target, proc_ / path);
    }

    std::filesystem::path proc_;
    const std::vector<LiveThread> threads_ = {{10, 10, "t0"}, {10, 11, "t1"}};
};

} // namespace pctctl::test
