// SPDX-License-Identifier: GPL-2.0-only
#include "mounts.h"

#include <cerrno>
#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include "base/fd.h"
#include "files.h"
#include "protocol.h"

namespace vm::init {
namespace {

using pctctl::Fd;

const std::string kHost = "/host";    // its root file system, read-only
const std::string kShares = "/share"; // /share/0, /share/1...
const std::string kRoot = "/root";    // everything below becomes a command's root

std::string mount_error(const char* type, const std::string& at) {
    return error_text("cannot mount " + std::string(type) + " on " + at);
}

bool load_module(const std::string& path) {
    const Fd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd)
        return errno == ENOENT; // built into this kernel
    return ::syscall(SYS_finit_module, fd.get(), "", 0) == 0 || errno == EEXIST;
}

bool mount_9p(const std::string& tag, const std::string& at, unsigned long flags,
              const char* cache) {
    const std::string options =
        std::string("trans=virtio,version=9p2000.L,msize=262144,cache=") + cache;
    return ::mount(tag.c_str(), at.c_str(), "9p", flags, options.c_str()) == 0;
}

std::string mount_overlay() {
    if (::mount("rw", "/rw", "tmpfs", 0, "mode=755,size=80%"))
        return mount_error("tmpfs", "/rw");
    ::mkdir("/rw/upper", 0755);
    ::mkdir("/rw/work", 0755);
    if (::mount("overlay", kRoot.c_str(), "overlay", 0,
                "lowerdir=/host,upperdir=/rw/upper,workdir=/rw/work,index=off,metacopy=off,"
                "redirect_dir=off,xino=off"))
        return mount_error("overlay", "/");
    return {};
}

std::string mount_system() {
    struct Mount {
        const char* type;
        const char* at;
        unsigned long flags;
        const char* data;
    };
    constexpr unsigned long kPlain = MS_NOSUID | MS_NODEV | MS_NOEXEC;
    constexpr Mount kMounts[] = {
        {"proc", "/proc", kPlain, ""},
        {"sysfs", "/sys", kPlain, ""},
        {"devtmpfs", "/dev", MS_NOSUID, "mode=755"},
        {"devpts", "/dev/pts", MS_NOSUID | MS_NOEXEC, "gid=5,mode=620,ptmxmode=666"},
        {"tmpfs", "/dev/shm", MS_NOSUID | MS_NODEV, "mode=1777"},
        {"mqueue", "/dev/mqueue", kPlain, ""},
        {"tmpfs", "/run", MS_NOSUID | MS_NODEV, "mode=755"},
        {"cgroup2", kCgroups, kPlain, ""},
        {"bpf", "/sys/fs/bpf", kPlain, "mode=700"},
        {"debugfs", "/sys/kernel/debug", kPlain, ""},
        {"tracefs", "/sys/kernel/tracing", kPlain, ""},
    };
    for (const Mount& m : kMounts) {
        const std::string at = kRoot + m.at;
        make_directories(at);
        if (::mount(m.type, at.c_str(), m.type, m.flags, m.data))
            return mount_error(m.type, m.at);
    }
    ::mkdir((kRoot + "/run/lock").c_str(), 0755);
    ::chmod((kRoot + "/run/lock").c_str(), 01777); // whatever the umask
    for (const auto& [target, link] :
         {std::pair{"/proc/self/fd", "/dev/fd"}, std::pair{"/proc/self/fd/0", "/dev/stdin"},
          std::pair{"/proc/self/fd/1", "/dev/stdout"}, std::pair{"/proc/self/fd/2", "/dev/stderr"}})
        if (::symlink(target, (kRoot + link).c_str()) && errno != EEXIST)
            return error_text(std::string("cannot create ") + link);
    return {};
}

std::string bind_shares(const std::vector<std::string>& shares) {
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::string at = kRoot + shares[i];
        make_directories(at);
        if (::mount((kShares + "/" + std::to_string(i)).c_str(), at.c_str(), nullptr, MS_BIND,
                    nullptr))
            return mount_error("the shared directory", shares[i]);
    }
    return {};
}

} // namespace

void mount_devices() {
    for (const char* directory : {"/dev", "/sys", "/proc"})
        ::mkdir(directory, 0755);
    ::mount("devtmpfs", "/dev", "devtmpfs", 0, "mode=755");
    ::mount("sysfs", "/sys", "sysfs", 0, "");
    ::mount("proc", "/proc", "proc", 0, "");
    ::mount("cgroup2", kCgroups, "cgroup2", 0, "");
}

std::string mount_host(const std::vector<std::string>& shares) {
    for (const char* module : {"netfs", "9pnet", "9pnet_virtio", "9p", "overlay"})
        if (!load_module(std::string("/modules/") + module + ".ko"))
            return error_text(std::string("cannot load module ") + module);
    for (const std::string& directory : {kHost, kShares, kRoot, std::string("/rw")})
        ::mkdir(directory.c_str(), 0755);
    if (!mount_9p(kRootTag, kHost, MS_RDONLY, "loose"))
        return mount_error("9p", "/");
    for (std::size_t i = 0; i < shares.size(); ++i) {
        const std::string number = std::to_string(i);
        const std::string at = kShares + "/" + number;
        ::mkdir(at.c_str(), 0755);
        // cache=mmap: what is written is on the host when the file is closed, and shared writable
        // mappings work.
        if (!mount_9p(kShareTag + number, at, 0, "mmap"))
            return mount_error("9p", shares[i]);
    }
    return {};
}

std::string enter_machine(const std::vector<std::string>& shares) {
    if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr))
        return error_text("cannot make mounts private");
    std::string error = mount_overlay();
    if (error.empty())
        error = mount_system();
    if (error.empty())
        error = bind_shares(shares);
    if (!error.empty())
        return error;
    if (::chdir(kRoot.c_str()) || ::mount(".", "/", nullptr, MS_MOVE, nullptr) || ::chroot(".") ||
        ::chdir("/"))
        return error_text("cannot enter the new root");
    return {};
}

} // namespace vm::init
