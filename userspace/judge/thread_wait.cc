// SPDX-License-Identifier: GPL-2.0-only
#include "judge/thread_wait.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

#include "base/fd.h"
#include "base/files.h"
#include "base/proc_text.h"
#include "judge/blocking_calls.h"

namespace pctctl {

namespace {

// The system calls' numbers and arguments are known for 64-bit programs only.
bool runs_64_bit_program(const BlockedThread& thread) {
    const Fd exe(::open((thread.directory + "/exe").c_str(), O_RDONLY | O_CLOEXEC));
    char head[EI_CLASS + 1] = {};
    return exe && ::pread(exe.get(), head, sizeof head, 0) == sizeof head &&
           head[EI_CLASS] == ELFCLASS64;
}

// Of a thread that sleeps. state: 'S' or 'D'.
Wait wait_of_sleeper(const BlockedThread& thread, char state) {
    if (parse_field(thread.file("status"), "TracerPid").value_or("?") != "0")
        return external_wait("is traced");
    if (!runs_64_bit_program(thread))
        return external_wait("runs a program that is not known to be a 64-bit one");
    const auto call = parse_syscall(thread.file("syscall"));
    if (!call)
        return external_wait("is running");
    if (call->number < 0)
        return external_wait("is blocked, but not in a system call");
    return state == 'D' ? uninterruptible_wait(thread, *call) : wait_in_call(thread, *call);
}

} // namespace

std::optional<Wait> wait_of(const BlockedThread& thread) {
    const auto stat = read_text(thread.directory + "/stat");
    if (!stat)
        return std::nullopt;
    switch (const char state = parse_state(*stat)) {
    case 'Z':
    case 'X':
    case 'x':
        return std::nullopt;
    case 'R':
        return external_wait("is runnable");
    case 'T':
    case 't':
        return external_wait("is stopped or traced");
    case 'S':
    case 'D':
        return wait_of_sleeper(thread, state);
    default:
        return external_wait("is in an unknown state");
    }
}

} // namespace pctctl
