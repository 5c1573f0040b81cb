// SPDX-License-Identifier: GPL-2.0-only
#include "run/zygote.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <iterator>
#include <utility>

// For code on a stack that we made ourselves. AddressSanitizer does not know such stacks.
#define OWN_STACK __attribute__((no_sanitize("address")))

namespace pctctl::zygote {

namespace {

constexpr int kSocket = 3; // in zygote, stub and root

// Zygote, stub and root process of a run share their memory, and this is in it.
struct Run {
    const Setup* setup;
    int cgroup;
    int out;
    int err;
    char* root_stack;
    size_t root_stack_size;
    bool migrate;   // enter the cgroup by moving there, not by CLONE_INTO_CGROUP
    bool begun;     // the stub has executed its first instruction
    bool abandoned; // the root process ended without executing the program
    int status;     // wait status of the root process; negative: it has not been reaped
};

// clone3; the child calls fn(argument) on a stack of its own, and fn does not return. The C library
// has no function that shares memory without sharing the stack and takes the flags of clone3.
OWN_STACK long clone_into(clone_args& arguments, void (*fn)(Run*), Run* argument) {
#ifdef __x86_64__
    long result;
    // We choose the registers, since the compiler might choose one that changes on the way. The
    // kernel preserves all but rax, rcx and r11.
    register void (*function)(Run*) asm("r8") = fn;
    register Run* value asm("r9") = argument;
    asm volatile("syscall\n\t"
                 "test %%rax, %%rax\n\t"
                 "jnz 1f\n\t"
                 "xor %%ebp, %%ebp\n\t"
                 "mov %%r9, %%rdi\n\t"
                 "call *%%r8\n\t"
                 "ud2\n"
                 "1:"
                 : "=a"(result)
                 : "a"(SYS_clone3), "D"(&arguments), "S"(sizeof arguments), "r"(function),
                   "r"(value)
                 : "rcx", "r11", "memory");
    return result;
#else
#error "only x86-64 is supported"
#endif
}

// For stub and root process, before the program is executed.
[[noreturn]] OWN_STACK void give_up(Run* run) {
    run->abandoned = true;
    ::_exit(127);
}

[[noreturn]] OWN_STACK void fail(Run* run, Step step, int error) {
    send(kSocket, {Kind::failed, error, step});
    give_up(run);
}

// Receives one message. False: the controller is gone.
OWN_STACK bool receive(Message& message) {
    for (;;) {
        ssize_t n = ::recv(kSocket, &message, sizeof message, 0);
        if (n == static_cast<ssize_t>(sizeof message))
            return true;
        if (n >= 0 || errno != EINTR)
            return false;
    }
}

// The root process until exec. It runs on its own stack but in the zygote's memory, while stub and
// zygote wait. So it must not allocate anything, nor change anything but this stack and errno.
OWN_STACK void root_main(Run* run) {
    const Setup& setup = *run->setup;
    // A session of its own has no terminal, and signals to its process group reach the program
    // alone.
    if (::setsid() < 0)
        fail(run, Step::session, errno);
    // The numbers differ, as dup2 needs: all of our descriptors are above kSocket.
    if (::dup2(run->out, 1) < 0 || ::dup2(run->err, 2) < 0)
        fail(run, Step::output, errno);
    if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0)
        fail(run, Step::mount_proc, errno);
    sigset_t none;
    sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    if (setup.change_identity) {
        // Make the system calls directly: the C library's functions do more in threaded programs.
        if (::syscall(SYS_setgroups, setup.groups.size(), setup.groups.data()) != 0)
            fail(run, Step::groups, errno);
        if (::syscall(SYS_setresgid, setup.gid, setup.gid, setup.gid) != 0)
            fail(run, Step::group_id, errno);
        if (::syscall(SYS_setresuid, setup.uid, setup.uid, setup.uid) != 0)
            fail(run, Step::user_id, errno);
    }
    send(kSocket, {Kind::ready});
    Message message;
    if (!receive(message) || message.kind != Kind::go)
        give_up(run);
    sched_param parameter{};
    if (setup.policy >= 0 && ::syscall(SYS_sched_setscheduler, 0, setup.policy, &parameter) != 0)
        fail(run, Step::policy, errno);
    ::execvpe(setup.argv[0], setup.argv, setup.envp);
    fail(run, Step::execute, errno);
}

OWN_STACK void stub_main(Run* run) {
    run->begun = true;
    // The zygote is our parent. If it has died already, the signal never comes; but then our end of
    // the socket is the only one left, and the controller closes the other end.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (run->migrate) {
        // Open it through the descriptor: its mount is writable, the one in our namespace is not.
        int procs = ::openat(run->cgroup, "cgroup.procs", O_WRONLY | O_CLOEXEC);
        if (procs < 0 || ::write(procs, "0", 1) != 1)
            fail(run, Step::clone_stub, errno);
        ::close(procs);
    }

    clone_args arguments{};
    arguments.flags = CLONE_VM | CLONE_VFORK;
    arguments.exit_signal = SIGCHLD;
    arguments.stack = reinterpret_cast<std::uintptr_t>(run->root_stack);
    arguments.stack_size = run->root_stack_size;
    long root = clone_into(arguments, root_main, run);
    if (root < 0)
        fail(run, Step::clone_root, static_cast<int>(-root));
    // CLONE_VFORK: by now the root process has executed the program, or ended.
    if (run->abandoned)
        ::_exit(0);
    send(kSocket, {Kind::released});
    ::close(run->out);
    ::close(run->err);

    sigset_t none;
    sigemptyset(&none);
    for (bool reported = false;;) {
        int status;
        pid_t pid;
        while ((pid = ::waitpid(-1, &status, WNOHANG | __WALL)) > 0)
            if (pid == root)
                run->status = status;
        if (pid < 0 && errno == ECHILD)
            ::_exit(0); // no process is left; the zygote reports how the root process ended
        if (run->status >= 0 && !std::exchange(reported, true))
            send(kSocket, {Kind::exited, run->status});
        // SIGCHLD is blocked except inside ppoll(), so none is missed.
        pollfd poll_fd{kSocket, POLLIN, 0};
        if (::ppoll(&poll_fd, 1, nullptr, &none) <= 0)
            continue;
        Message message;
        if (!receive(message) || message.kind == Kind::end)
            ::_exit(0); // the kernel kills the rest of the namespace
    }
}

// Receives a run request. False: the controller is gone.
bool receive_run(int (&fds)[3]) {
    for (;;) {
        Message message{};
        iovec part{&message, sizeof message};
        alignas(cmsghdr) char control[CMSG_SPACE(sizeof fds)];
        msghdr header{};
        header.msg_iov = &part;
        header.msg_iovlen = 1;
        header.msg_control = control;
        header.msg_controllen = sizeof control;
        ssize_t n = ::recvmsg(kSocket, &header, MSG_CMSG_CLOEXEC);
        if (n < 0 && errno == EINTR)
            continue;
        if (n != static_cast<ssize_t>(sizeof message))
            return false;
        cmsghdr* rights = CMSG_FIRSTHDR(&header);
        if (message.kind != Kind::run || !rights || rights->cmsg_type != SCM_RIGHTS ||
            rights->cmsg_len != CMSG_LEN(sizeof fds))
            continue; // an `end` that came too late
        std::memcpy(fds, CMSG_DATA(rights), sizeof fds);
        return true;
    }
}

char* map_stack(size_t size) {
    size_t page = static_cast<size_t>(::sysconf(_SC_PAGESIZE));
    void* memory = ::mmap(nullptr, size + page, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory == MAP_FAILED)
        return nullptr;
    ::mprotect(memory, page, PROT_NONE);
    return static_cast<char*>(memory) + page;
}

[[noreturn]] void zygote_main(const Setup& setup) {
    ::prctl(PR_SET_NAME, "pct-slot");
    ::setsid();
    size_t count = 0;
    while (setup.argv[count])
        count++;
    // Room for the argument vector: execvpe may copy it to the stack, to pass it to a shell.
    size_t root_stack_size = (256 * 1024 + 2 * count * sizeof(char*) + 4095) & ~size_t{4095};
    constexpr size_t kStubStackSize = 64 * 1024;
    Run run{};
    run.setup = &setup;
    run.root_stack = map_stack(root_stack_size);
    run.root_stack_size = root_stack_size;
    char* stub_stack = map_stack(kStubStackSize);
    if (!run.root_stack || !stub_stack)
        fail(&run, Step::start_zygote, errno);
    send(kSocket, {Kind::up});

    int fds[3];
    while (receive_run(fds)) {
        run.cgroup = fds[0];
        run.out = fds[1];
        run.err = fds[2];
        run.abandoned = false;
        run.status = -1;
        do {
            run.begun = false;
            clone_args arguments{};
            arguments.flags = CLONE_VM | CLONE_NEWPID | CLONE_NEWNS | CLONE_NEWIPC;
            arguments.exit_signal = SIGCHLD;
            arguments.stack = reinterpret_cast<std::uintptr_t>(stub_stack);
            arguments.stack_size = kStubStackSize;
            if (!run.migrate) {
                arguments.flags |= CLONE_INTO_CGROUP;
                arguments.cgroup = static_cast<std::uint64_t>(run.cgroup);
            }
            long stub = clone_into(arguments, stub_main, &run);
            if (stub < 0) {
                send(kSocket, {Kind::failed, static_cast<int>(-stub), Step::clone_stub});
                break;
            }
            // Once a namespace's first process can be reaped, all its others have been.
            while (::waitpid(static_cast<pid_t>(stub), nullptr, 0) < 0 && errno != ECHILD) {
            }
            // Since Linux 6.15 the kernel kills a process at once that is cloned into a group whose
            // cgroup.kill was ever used. Moving into the group works, so try that.
        } while (!run.begun && !std::exchange(run.migrate, true));
        for (int fd : fds)
            ::close(fd);
        if (!send(kSocket, {Kind::gone, run.status}))
            break;
    }
    ::_exit(0);
}

void on_child(int) {} // only there to interrupt ppoll()

// Sets signals as a program expects them, whatever our own parent left us.
void reset_signals() {
    for (int sig = 1; sig <= 64; sig++) {
        // The kernel's structure: handler, flags, restorer, mask. The C library refuses its own
        // two.
        unsigned long action[4] = {};
        ::syscall(SYS_rt_sigaction, sig, action, nullptr, 8);
    }
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, SIGCHLD);
    ::sigprocmask(SIG_SETMASK, &mask, nullptr);
    struct sigaction action{};
    action.sa_handler = on_child; // reset by exec
    ::sigaction(SIGCHLD, &action, nullptr);
}

// The program must not leave the scheduler. So calls that change the scheduling policy pretend to
// succeed and do nothing. Only the change to `allowed_policy` works, which the root process needs.
// The filter needs CAP_SYS_ADMIN; the other way, NO_NEW_PRIVS, would break set-user-id programs.
int install_filter(int allowed_policy) {
    constexpr std::uint32_t kX32 = 0x40000000;
    constexpr std::uint32_t kPretend = SECCOMP_RET_ERRNO | 0;
    sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 4, 0),
        // i386: sched_setparam 154, sched_setscheduler 156, sched_setattr 351
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 154, 10, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 156, 9, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 351, 8, 7),
        // x86-64, with or without the bit of x32
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, ~kX32),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setparam, 5, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setattr, 4, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sched_setscheduler, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[1])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(allowed_policy), 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, kPretend),
    };
    sock_fprog program{static_cast<unsigned short>(std::size(code)), code};
    // SPEC_ALLOW: no slower memory accesses than without the filter.
    if (::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &program) !=
        0)
        return errno;
    return 0;
}

// In a chroot "/" need not be a mount point, and only mounts can be made private. Then this puts a
// private copy of all mounts in its place. The copy must be mounted somewhere for that: see /proc
// below.
int use_private_copy_of_root() {
    char directory[PATH_MAX];
    mount_attr attributes{};
    attributes.propagation = MS_PRIVATE;
    const int tree = ::open_tree(AT_FDCWD, "/", OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE);
    if (tree < 0 || !::getcwd(directory, sizeof directory) ||
        ::mount_setattr(tree, "", AT_EMPTY_PATH | AT_RECURSIVE, &attributes, sizeof attributes) ||
        ::mount(nullptr, "/proc", nullptr, MS_PRIVATE, nullptr) ||
        ::move_mount(tree, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) || ::fchdir(tree) ||
        ::chroot(".") || ::chdir(directory))
        return errno;
    ::close(tree);
    return 0;
}

// After this, nobody outside sees what we mount. Returns 0 or errno.
int make_mount_namespace() {
    if (::unshare(CLONE_NEWNS) != 0)
        return errno;
    if (::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr) == 0)
        return 0;
    return errno == EINVAL ? use_private_copy_of_root() : errno;
}

// Returns 0 or errno. step: which step failed.
int set_up(const Setup& setup, Step& step) {
    step = Step::input;
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    for (int fd = 0; fd < 3; fd++)
        if (null < 0 || ::dup2(null, fd) < 0)
            return errno;

    step = Step::mount_namespace;
    if (const int error = make_mount_namespace())
        return error;

    step = Step::private_file;
    for (const Bind& bind : setup.binds) {
        // Before Linux 6.15 a detached mount must be attached before a file of it can be bound. It
        // is attached to /proc for a moment, which exists everywhere and is ours alone here.
        char path[64] = "/proc/";
        std::strncat(path, bind.name, sizeof path - 10);
        if (::move_mount(bind.mount, "", AT_FDCWD, "/proc", MOVE_MOUNT_F_EMPTY_PATH) != 0)
            return errno;
        int error = ::mount(path, bind.target, nullptr, MS_BIND, nullptr) == 0 ? 0 : errno;
        ::umount2("/proc", MNT_DETACH);
        if (error)
            return error;
        // Else a program that runs as root could write to the library.
        if (::mount(nullptr, bind.target, nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0)
            return errno;
    }

    step = Step::read_only_cgroups;
    for (const char* path : setup.read_only) {
        mount_attr attributes{};
        attributes.attr_set = MOUNT_ATTR_RDONLY;
        // EINVAL, ENOENT: another mount hides it, so the program cannot reach it either.
        if (::mount_setattr(AT_FDCWD, path, 0, &attributes, sizeof attributes) != 0 &&
            errno != EINVAL && errno != ENOENT)
            return errno;
    }

    ::personality(ADDR_NO_RANDOMIZE);
    // With core_pattern a pipe, only the limit 1 keeps the kernel from starting a program for the
    // dump.
    rlimit core{setup.core_pipe ? 1u : 0u, setup.core_pipe ? 1u : 0u};
    ::setrlimit(RLIMIT_CORE, &core);
    ::umask(022);
    reset_signals();

    step = Step::seccomp;
    return install_filter(setup.policy);
}

} // namespace

OWN_STACK bool send(int socket, const Message& message) {
    for (;;) {
        if (::send(socket, &message, sizeof message, MSG_NOSIGNAL) ==
            static_cast<ssize_t>(sizeof message))
            return true;
        if (errno != EINTR)
            return false;
    }
}

void mother(const Setup& setup, const std::vector<int>& sockets) {
    ::prctl(PR_SET_NAME, "pct-mother");
    // The run can see process 1, whose memory this is. An ordinary user must not read it.
    ::prctl(PR_SET_DUMPABLE, 0);
    ::setsid();
    Step step = Step::none;
    if (int error = set_up(setup, step)) {
        for (int socket : sockets)
            send(socket, {Kind::failed, error, step});
        ::_exit(1);
    }
    for (int socket : sockets) {
        pid_t pid = ::fork();
        if (pid < 0)
            send(socket, {Kind::failed, errno, Step::start_zygote});
        if (pid == 0) {
            if (socket != kSocket && ::dup2(socket, kSocket) < 0)
                ::_exit(1);
            ::fcntl(kSocket, F_SETFD, FD_CLOEXEC);
            ::close_range(kSocket + 1, ~0U, 0);
            zygote_main(setup);
        }
    }
    ::close_range(3, ~0U, 0);
    while (::waitpid(-1, nullptr, 0) > 0 || errno == EINTR) {
    }
    ::_exit(0);
}

} // namespace pctctl::zygote
