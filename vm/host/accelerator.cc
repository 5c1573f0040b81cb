// SPDX-License-Identifier: GPL-2.0-only
#include "accelerator.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "hash.h"

namespace vm {
namespace {

// Names the exact file without reading it: replaced files get another size, time or inode.
std::string identity(const std::string& path) {
    struct stat s{};
    if (::stat(path.c_str(), &s))
        return path;
    return path + ":" + std::to_string(s.st_size) + ":" + std::to_string(s.st_mtime);
}

std::string processor() {
    std::ifstream file("/proc/cpuinfo");
    std::string line;
    while (std::getline(file, line))
        if (line.rfind("model name", 0) == 0)
            return line;
    return {};
}

std::string cache_directory() {
    if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache && *cache == '/')
        return std::string(cache) + "/pctctl";
    if (const char* home = std::getenv("HOME"); home && *home == '/')
        return std::string(home) + "/.cache/pctctl";
    return {};
}

} // namespace

AcceleratorChoice::AcceleratorChoice(const std::string& qemu, const std::string& kernel_image) {
    if (const char* wish = std::getenv("PCTCTL_VM_ACCEL"); wish && *wish) {
        forced_ = true;
        try_kvm_ = std::strcmp(wish, "kvm") == 0;
        if (std::strcmp(wish, "tcg-parallel") == 0)
            emulation_ = Accelerator::kTcgParallel;
        return;
    }
    if (::access("/dev/kvm", R_OK | W_OK))
        return; // cheap to see each time, and a permission may come
    utsname host{};
    ::uname(&host);
    directory_ = cache_directory();
    file_ = directory_ + "/accel-" +
            hash(identity(qemu) + "\n" + identity(kernel_image) + "\n" + host.release + "\n" +
                 processor());
    std::string verdict;
    if (!directory_.empty() && std::getline(std::ifstream(file_), verdict))
        known_ = verdict == "kvm" || verdict == "tcg";
    try_kvm_ = !known_ || verdict == "kvm";
}

void AcceleratorChoice::remember(Accelerator verdict) const {
    const bool kvm = verdict == Accelerator::kKvm;
    if (forced_ || directory_.empty() || (known_ && kvm == try_kvm_))
        return;
    for (std::size_t i = 1; i <= directory_.size(); ++i)
        if (i == directory_.size() || directory_[i] == '/')
            ::mkdir(directory_.substr(0, i).c_str(), 0700);
    // Written aside and renamed: two at once leave one whole file.
    const std::string temporary = file_ + "." + std::to_string(::getpid());
    {
        std::ofstream out(temporary);
        out << (kvm ? "kvm" : "tcg") << '\n';
        if (!out.flush()) {
            ::unlink(temporary.c_str());
            return;
        }
    }
    if (::rename(temporary.c_str(), file_.c_str()))
        ::unlink(temporary.c_str());
}

} // namespace vm
