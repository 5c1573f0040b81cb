// SPDX-License-Identifier: GPL-2.0-only
#include "machine.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "protocol.h"

namespace vm {
namespace {

// Full preemption: what the scheduler decides takes effect at once also while a thread is inside
// the kernel. Mitigations and initialising of pages cost time and protect nothing here.
constexpr const char* kKernelArguments =
    "console=ttyS0 quiet loglevel=3 panic=-1 oops=panic preempt=full mitigations=off nokaslr "
    "init_on_alloc=0 audit=0 lsm=capability random.trust_cpu=on tsc=reliable no_timer_check "
    "8250.nr_uarts=1 i8042.noaux i8042.nokbd i8042.nopnp cryptomgr.notests "
    "transparent_hugepage=never rcupdate.rcu_expedited=1 nmi_watchdog=0 nowatchdog";

// Measured against q35 and microvm: none boots faster, and this one also shuts down.
constexpr const char* kMachine = "pc,hpet=off,usb=off,vmport=off,smm=off";

struct Pair {
    Fd ours;
    Fd theirs;
};

Pair make_pair(std::string& error) {
    int fds[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds)) {
        error = std::string("cannot create a socket: ") + std::strerror(errno);
        return {};
    }
    ::fcntl(fds[0], F_SETFL, O_NONBLOCK);
    return {Fd(fds[0]), Fd(fds[1])};
}

// Commas separate QEMU's options; two are one.
std::string escape(const std::string& value) {
    std::string escaped;
    for (const char c : value)
        escaped.append(c == ',' ? 2 : 1, c);
    return escaped;
}

void add_export(std::vector<std::string>& arguments, const std::string& id, const char* tag,
                const std::string& path, const char* options) {
    arguments.insert(arguments.end(),
                     {"-fsdev", "local,id=" + id + ",path=" + escape(path) +
                                    ",security_model=none,multidevs=remap" + options});
    arguments.insert(arguments.end(),
                     {"-device", "virtio-9p-pci,fsdev=" + id + ",mount_tag=" + tag});
}

void add_port(std::vector<std::string>& arguments, const char* id, const char* name, const Fd& fd) {
    arguments.insert(arguments.end(),
                     {"-chardev",
                      std::string("socket,id=") + id + ",fd=" + std::to_string(fd.get()), "-device",
                      std::string("virtserialport,chardev=") + id + ",name=" + name});
}

// One member of a cpio archive in the "newc" format.
void add_member(std::string& archive, const std::string& name, unsigned mode,
                const std::string& content) {
    char head[111];
    static unsigned inode = 0;
    std::snprintf(head, sizeof head, "070701%08X%08X%08X%08X%08X%08X%08zX%08X%08X%08X%08X%08zX%08X",
                  ++inode, mode, 0U, 0U, 1U, 0U, content.size(), 0U, 0U, 0U, 0U, name.size() + 1,
                  0U);
    archive.append(head).append(name).append(1, '\0');
    archive.append((4 - archive.size() % 4) % 4, '\0');
    archive.append(content);
    archive.append((4 - archive.size() % 4) % 4, '\0');
}

bool read_file(const std::string& path, std::string& content) {
    Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return false;
    char buffer[65536];
    ssize_t n = 0;
    while ((n = ::read(fd.get(), buffer, sizeof buffer)) > 0)
        content.append(buffer, static_cast<std::size_t>(n));
    return n == 0;
}

} // namespace

Fd build_initramfs(const std::string& init, const std::string& kernel_directory,
                   std::string& error) {
    std::string archive;
    std::string content;
    if (!read_file(init, content)) {
        error = "cannot read " + init + ": " + std::strerror(errno);
        return Fd();
    }
    add_member(archive, "dev", 040755, "");
    add_member(archive, "init", 0100755, content);
    add_member(archive, "modules", 040755, "");
    const std::string modules = kernel_directory + "/modules";
    if (DIR* directory = ::opendir(modules.c_str())) {
        while (const dirent* entry = ::readdir(directory)) {
            content.clear();
            if (entry->d_name[0] != '.' && read_file(modules + "/" + entry->d_name, content))
                add_member(archive, std::string("modules/") + entry->d_name, 0100644, content);
        }
        ::closedir(directory);
    }
    add_member(archive, "TRAILER!!!", 0, "");
    Fd fd(::memfd_create("initramfs", MFD_CLOEXEC));
    for (std::size_t done = 0; fd && done < archive.size();) {
        const ssize_t n = ::write(fd.get(), archive.data() + done, archive.size() - done);
        if (n <= 0) {
            error = std::string("cannot write the initramfs: ") + std::strerror(errno);
            return Fd();
        }
        done += static_cast<std::size_t>(n);
    }
    if (!fd)
        error = std::string("cannot create a memory file: ") + std::strerror(errno);
    return fd;
}

std::string Machine::start(const MachineSettings& settings, Accelerator accelerator) {
    std::string error;
    Pair control_pair = make_pair(error), in_pair = make_pair(error), out_pair = make_pair(error),
         err_pair = make_pair(error), console_pair = make_pair(error),
         complaints_pair = make_pair(error);
    if (!error.empty())
        return error;

    std::vector<std::string> arguments{settings.qemu,
                                       "-nodefaults",
                                       "-no-user-config",
                                       "-display",
                                       "none",
                                       "-no-reboot",
                                       "-name",
                                       "pctctl",
                                       "-smp",
                                       std::to_string(settings.cpus),
                                       "-m",
                                       settings.memory,
                                       "-kernel",
                                       settings.kernel_image,
                                       "-initrd",
                                       "/proc/self/fd/" + std::to_string(settings.initramfs),
                                       "-append",
                                       kKernelArguments,
                                       "-chardev",
                                       "socket,id=console,fd=" +
                                           std::to_string(console_pair.theirs.get()),
                                       "-serial",
                                       "chardev:console",
                                       "-device",
                                       "virtio-serial-pci,max_ports=5"};
    if (!settings.qemu_data.empty())
        for (const std::string& data : {settings.qemu_data, std::string("/usr/share/seabios"),
                                        std::string("/usr/share/qemu")})
            arguments.insert(arguments.end(), {"-L", data});
    if (accelerator == Accelerator::kKvm)
        arguments.insert(arguments.end(), {"-M", kMachine, "-accel", "kvm", "-cpu", "host"});
    else
        arguments.insert(arguments.end(), {"-M", kMachine, "-accel",
                                           accelerator == Accelerator::kTcg ? "tcg,thread=single"
                                                                            : "tcg,thread=multi",
                                           "-cpu", "max"});
    add_port(arguments, "control", kControlPort, control_pair.theirs);
    add_port(arguments, "in", kStdinPort, in_pair.theirs);
    add_port(arguments, "out", kStdoutPort, out_pair.theirs);
    add_port(arguments, "err", kStderrPort, err_pair.theirs);
    add_export(arguments, "root", kRootTag, "/", ",readonly=on");
    for (std::size_t i = 0; i < settings.shares.size(); ++i) {
        const std::string number = std::to_string(i);
        add_export(arguments, "share" + number, (kShareTag + number).c_str(), settings.shares[i],
                   "");
    }

    std::vector<char*> argv;
    for (auto& argument : arguments)
        argv.push_back(argument.data());
    argv.push_back(nullptr);
    const int inherited[] = {control_pair.theirs.get(), in_pair.theirs.get(),
                             out_pair.theirs.get(),     err_pair.theirs.get(),
                             console_pair.theirs.get(), settings.initramfs};
    const pid_t parent = ::getpid();
    pid_ = ::fork();
    if (pid_ < 0)
        return std::string("cannot fork: ") + std::strerror(errno);
    if (pid_ == 0) {
        // Nothing of it survives its owner; nothing typed at the terminal reaches it directly.
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent)
            ::_exit(1);
        ::setpgid(0, 0);
        sigset_t none;
        sigemptyset(&none);
        ::sigprocmask(SIG_SETMASK, &none, nullptr);
        for (const int signal : {SIGPIPE, SIGTTIN, SIGTTOU, SIGINT, SIGQUIT, SIGHUP})
            ::signal(signal, SIG_DFL);
        const int null = ::open("/dev/null", O_RDWR);
        ::dup2(null, 0);
        ::dup2(complaints_pair.theirs.get(), 1);
        ::dup2(complaints_pair.theirs.get(), 2);
        for (const int fd : inherited)
            ::fcntl(fd, F_SETFD, 0);
        rlimit files{};
        ::getrlimit(RLIMIT_NOFILE, &files);
        files.rlim_cur = files.rlim_max; // its 9p server keeps many files open
        ::setrlimit(RLIMIT_NOFILE, &files);
        const rlimit core{0, 0};
        ::setrlimit(RLIMIT_CORE, &core);
        ::execv(argv[0], argv.data());
        std::fprintf(stderr, "cannot execute %s: %s\n", argv[0], std::strerror(errno));
        ::_exit(1);
    }
    guest_ = {std::move(control_pair.ours), std::move(in_pair.ours),
              std::move(out_pair.ours),     std::move(err_pair.ours),
              std::move(console_pair.ours), std::move(complaints_pair.ours)};
    const std::string boot = frame(MessageType::kBoot, Writer().list(settings.shares).take());
    if (::send(guest_.control.get(), boot.data(), boot.size(), MSG_NOSIGNAL) !=
        static_cast<ssize_t>(boot.size()))
        return std::string("cannot tell the guest what to share: ") + std::strerror(errno);
    return {};
}

void Machine::kill() {
    if (pid_ <= 0)
        return;
    ::kill(pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR)
        ;
    pid_ = -1;
}

bool Machine::exited() {
    if (pid_ > 0 && ::waitpid(pid_, nullptr, WNOHANG) == pid_)
        pid_ = -1;
    return pid_ <= 0;
}

} // namespace vm
