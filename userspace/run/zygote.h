// SPDX-License-Identifier: GPL-2.0-only
// The process that starts runs for one slot, and what it and the controller say to each other.
//
// Processes of a slot, from the outside in; each but the last two lives for the whole campaign:
//   mother   forked from the controller; made the mount namespace all runs derive from
//   zygote   waits for run_requests on its socket; small, single-threaded
//   stub     process 1 of a run's own PID and mount namespace; shares the zygote's memory, reaps
//            orphans, and takes the whole run with it when it ends, which it does when nobody else
//            is left, when told, when the controller's end of the socket closes and when the zygote
//            dies
//   root     the program under test; shares the stub's memory until exec
// All but the controller's end of a socket is closed in each of them, so the controller's death, by
// whatever signal, ends them all.
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
    released, // the root process executes the program, or failed before
    exited,   // value: wait status of the root process, while others of the run are left
    gone,     // no process of the run is left; value: that status, negative when not known
};

// What can fail on the way to a running program.
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

// A file to be bound over another: attach the detached mount, bind its file `name` over `target`.
struct Bind {
    int mount;
    const char* name;
    const char* target;
};

// Constant for a campaign. Everything pointed to is inherited by fork().
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
    bool core_pipe = false; // the kernel hands core dumps to a program
};

bool send(int socket, const Message& message);

// The mother's whole life, in a fresh child of the controller. sockets[i] is slot i's.
[[noreturn]] void mother(const Setup& setup, const std::vector<int>& sockets);

} // namespace pctctl::zygote
