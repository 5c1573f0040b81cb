// SPDX-License-Identifier: GPL-2.0-only
// vm/run's host side: runs a command in a guest of its own or in one that stays up, relays the
// command's streams and signals, and ends with its status. Whatever way this process ends, so does
// the command, and no file was ever created.
//
//   options   the command line                accelerator   KVM or emulation
//   machine   one QEMU process                pool          guests that stay up
//   session   one command in a guest
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "accelerator.h"
#include "base/vm_places.h"
#include "machine.h"
#include "options.h"
#include "pool.h"
#include "session.h"
#include "status.h"

namespace vm {
namespace {

using std::chrono::seconds;

constexpr auto kKvmBoot = seconds(4);   // KVM that works boots in one or two
constexpr auto kTcgBoot = seconds(120); // 4 s on an idle machine; others may be busy

std::vector<std::string> guest_environment(const std::string& directory) {
    std::vector<std::string> variables;
    bool path = false;
    for (char** variable = ::environ; *variable; ++variable) {
        const std::string_view v = *variable;
        const std::string_view name = v.substr(0, v.find('='));
        if (name != "PWD" && name != "OLDPWD" && !name.starts_with("PCTCTL_GUEST"))
            variables.emplace_back(v);
        path = path || name == "PATH";
    }
    if (!path)
        variables.emplace_back("PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
    variables.push_back("PWD=" + directory);
    variables.emplace_back("PCTCTL_GUEST=1");
    // The guest's streams are pipes; whoever draws for a terminal there learns of it here.
    winsize size{};
    if (::isatty(1) && ::ioctl(1, TIOCGWINSZ, &size) == 0)
        variables.push_back("PCTCTL_GUEST_STDOUT_COLUMNS=" + std::to_string(size.ws_col));
    if (::isatty(2) && ::ioctl(2, TIOCGWINSZ, &size) == 0)
        variables.push_back("PCTCTL_GUEST_STDERR_COLUMNS=" + std::to_string(size.ws_col));
    if (::getuid() != 0) {
        // The command is root in the guest; whose errand it is on is told here.
        variables.push_back("PCTCTL_GUEST_UID=" + std::to_string(::getuid()));
        variables.push_back("PCTCTL_GUEST_GID=" + std::to_string(::getgid()));
    }
    return variables;
}

// Directories to share, outer ones first, none twice.
std::vector<std::string> shared_directories(const std::string& current,
                                            std::vector<std::string> writable) {
    writable.push_back(current);
    std::sort(writable.begin(), writable.end());
    writable.erase(std::unique(writable.begin(), writable.end()), writable.end());
    std::erase_if(writable, [](const std::string& path) { return !is_shareable(path); });
    return writable;
}

std::optional<std::string> current_directory() {
    char* directory = ::getcwd(nullptr, 0);
    if (!directory) {
        complain(std::string("no current directory: ") + std::strerror(errno));
        return std::nullopt;
    }
    std::string path = directory;
    std::free(directory);
    return path;
}

// What QEMU is started with; complains when something is missing. `initramfs` stays open as long as
// it is used.
std::optional<MachineSettings> machine_settings(const Options& options,
                                                const std::string& directory, Fd& initramfs) {
    MachineSettings settings;
    const char* path = std::getenv("PATH");
    settings.qemu = find_qemu(options.kernel, path ? path : "");
    if (settings.qemu.starts_with(options.kernel))
        settings.qemu_data = options.kernel + "/../qemu/share";
    if (settings.qemu.empty()) {
        complain("no qemu-system-x86_64; install qemu-system-x86");
        return std::nullopt;
    }
    settings.kernel_image = options.kernel + "/vmlinux";
    if (::access(settings.kernel_image.c_str(), R_OK)) {
        complain("cannot read the guest kernel " + settings.kernel_image + "; run setup/deps");
        return std::nullopt;
    }
    if (options.in_pool.empty()) { // else the keeper has one
        std::string error;
        initramfs = build_initramfs(options.init, options.kernel, error);
        if (!initramfs) {
            complain(error);
            return std::nullopt;
        }
        settings.initramfs = initramfs.get();
    }
    settings.cpus = options.cpus;
    settings.memory = options.memory;
    settings.shares = shared_directories(directory, options.writable);
    return settings;
}

int keep_guests(const Options& options, const MachineSettings& settings) {
    PoolSettings pool;
    pool.name = options.start_pool;
    pool.guests = options.guests;
    pool.idle = std::chrono::milliseconds(static_cast<long>(options.idle * 1000));
    Fd parent;
    if (options.with_parent) {
        parent.reset(static_cast<int>(::syscall(SYS_pidfd_open, ::getppid(), 0)));
        if (!parent) {
            complain(std::string("cannot watch the parent process: ") + std::strerror(errno));
            return kVmFailed;
        }
        pool.pidfd = parent.get();
    }
    return start_pool(pool, settings);
}

// From here on signals wait to be read.
Fd take_over_signals() {
    sigset_t mask;
    sigemptyset(&mask);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGWINCH})
        sigaddset(&mask, signal);
    struct sigaction hangup{};
    if (::sigaction(SIGHUP, nullptr, &hangup) == 0 && hangup.sa_handler == SIG_IGN)
        sigdelset(&mask, SIGHUP); // nohup
    ::sigprocmask(SIG_BLOCK, &mask, nullptr);
    for (const int signal : {SIGPIPE, SIGTTIN, SIGTTOU})
        ::signal(signal, SIG_IGN);
    return Fd(::signalfd(-1, &mask, SFD_CLOEXEC | SFD_NONBLOCK));
}

// Runs the command with one accelerator, or finds that it does not serve.
class Attempt {
public:
    Attempt(const Options& options, const Command& command, const MachineSettings& settings,
            const Fd& signals)
        : options_(options), command_(command), settings_(settings), signals_(signals) {
        if (options.timeout)
            deadline_ = Clock::now() + *options.timeout;
    }

    // Empty: the guest did not come up, and it was not the last try.
    std::optional<int> run(Accelerator accelerator, bool last_try) {
        ready_ = false;
        if (options_.in_pool.empty()) {
            Machine machine;
            return run_in(machine.guest(), machine.start(settings_, accelerator), last_try);
        }
        Loan loan;
        const std::string error = loan.borrow(options_.in_pool, accelerator, signals_.get());
        if (error.empty() && !loan)
            return interrupted();
        if (options_.timeout)
            deadline_ = Clock::now() + *options_.timeout; // it may have waited for its turn
        const auto status = run_in(loan.guest(), error, last_try);
        if (settled_)
            loan.give_back();
        return status;
    }
    bool ready() const { return ready_; }

private:
    std::optional<int> run_in(Guest& guest, const std::string& error, bool last_try) {
        if (!error.empty()) {
            if (last_try)
                complain(error);
            return last_try ? std::optional(kVmFailed) : std::nullopt;
        }
        Session session(guest, command_, signals_.get());
        session.boot_within(last_try ? kTcgBoot : kKvmBoot);
        if (deadline_)
            session.end_by(*deadline_);
        if (!last_try)
            session.fail_silently();
        const auto status = session.run();
        ready_ = session.ready();
        settled_ = !options_.in_pool.empty() && session.settle();
        return status;
    }

    int interrupted() const { // by a signal, before there was a guest
        signalfd_siginfo info{};
        if (::read(signals_.get(), &info, sizeof info) != sizeof info)
            return kVmFailed;
        return 128 + static_cast<int>(info.ssi_signo);
    }

    const Options& options_;
    const Command& command_;
    const MachineSettings& settings_;
    const Fd& signals_;
    std::optional<Clock::time_point> deadline_;
    bool ready_ = false;
    bool settled_ = false;
};

int launch(int argc, char** argv) {
    // Descriptors 0 to 2 are ours to relay, even when the caller has closed them.
    for (int fd = 0; fd <= 2; ++fd)
        if (::fcntl(fd, F_GETFD) < 0 && ::open("/dev/null", O_RDWR) != fd)
            return kVmFailed;
    Options options;
    if (const auto status = parse_options(argc, argv, options))
        return *status;
    if (!options.end_pool.empty())
        return end_pool(options.end_pool);

    const auto directory = current_directory();
    if (!directory)
        return kVmFailed;
    Fd initramfs;
    const auto settings = machine_settings(options, *directory, initramfs);
    if (!settings)
        return kVmFailed;
    if (!options.start_pool.empty())
        return keep_guests(options, *settings);

    const Command command{*directory, options.command, guest_environment(*directory)};
    const Fd signals = take_over_signals();
    Attempt attempt(options, command, *settings, signals);
    AcceleratorChoice choice(settings->qemu, settings->kernel_image);
    if (choice.try_kvm()) {
        const auto status = attempt.run(Accelerator::kKvm, choice.forced());
        if (status || choice.forced()) {
            if (attempt.ready()) // and was not ended before that could be seen
                choice.remember(Accelerator::kKvm);
            return status.value_or(kVmFailed);
        }
        choice.remember(Accelerator::kTcg);
    }
    return attempt.run(choice.emulation(), true).value_or(kVmFailed);
}

} // namespace
} // namespace vm

int main(int argc, char** argv) {
    return vm::launch(argc, argv);
}
