// SPDX-License-Identifier: GPL-2.0-only
// The process that starts runs for one slot, and its messages to and from the controller.
//
// Processes of a slot, each the child of the one before. The first two live for the whole campaign:
//   mother   forked from the controller; has made the mount namespace that all runs derive from
//   zygote   waits for run requests on its socket; small, single-threaded
//   stub     process 1 of a run's own PID and mount namespace. It shares the zygote's memory and
//   reaps
//            orphans. When it ends, the kernel kills the whole run. It ends when nobody else is
//            left, when told, when the controller's end of the socket closes, and when the zygote
//            dies
//   root     the program under test; shares the stub's memory until exec
// None of them keeps the controller's end of a socket open. So the controller's death, by whatever
// signal, closes it and ends them all.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

namespace pctctl::zygote {

// Messages of the slot's socket (SOCK_SEQPACKET).
enum class Kind : std::uint32_t {
    // controller ->
    run, // with three descriptors: cgroup directory, stdout, stderr
    go,  // to the root process: execute the program
    end, // to the run: die
    // -> controller
    up,       // the zygote is ready
    ready,    // root process waits for `go`; its credentials carry its process id
    failed,   // value: errno, step: what failed
    released, // the root process has executed the program, or ended before that
    exited,   // value: wait status of the root process; other processes of the run are left
    gone,     // no process of the run is left; value: wait status of root, negative: not known
};

// The steps on the way to a running program, each of which can fail.
enum class Step : std::int32_t {
    none,
    input,
    mount_namespace,
    private_file,
    read_only_cgroups,
    seccomp,
    start_zygote,
    clone_stub,
    clone_root,
    session,
    output,
    mount_proc,
    groups,
    group_id,
    user_id,
    policy,
    execute,
};

struct Message {
    Kind kind;
    std::int32_t value = 0;
    Step step = Step::none;
};

// A file to be bound over another: attach the detached mount, and bind its file `name` over
// `target`.
struct Bind {
    int mount;
    const char* name;
    const char* target;
};

// Constant for a campaign. The children inherit by fork() whatever the pointers point to.
struct Setup {
    char* const* argv;
    char* const* envp;
    std::vector<Bind> binds;
    std::vector<const char*> read_only; // mount points
    bool change_identity = false;
    uid_t uid = 0;
    gid_t gid = 0;
    std::vector<gid_t> groups;
    int policy = -1;        // scheduling policy of the program; negative: unchanged
    bool core_pipe = false; // the kernel pipes core dumps to a program
};

bool send(int socket, const Message& message);

// What the mother does, in a fresh child of the controller, until it ends. sockets[i] is slot i's.
[[noreturn]] void mother(const Setup& setup, const std::vector<int>& sockets);

} // namespace pctctl::zygote
