// SPDX-License-Identifier: GPL-2.0-only
#include "capture.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

namespace pctctl {

Result<Capture> Capture::create(const char* name) {
    Fd file(::memfd_create(name, MFD_CLOEXEC));
    if (!file)
        return Error::environment("cannot make files for the program's output: " +
                                  errno_text(errno));
    return Capture(std::move(file));
}

off_t Capture::size() const {
    struct stat status{};
    return ::fstat(file_.get(), &status) == 0 ? status.st_size : 0;
}

void Capture::forward(int to) {
    char buffer[4096];
    ssize_t n;
    while ((n = ::pread(file_.get(), buffer, sizeof buffer, forwarded_)) > 0) {
        forwarded_ += n;
        for (ssize_t sent = 0; sent < n;) {
            const ssize_t w = ::write(to, buffer + sent, static_cast<std::size_t>(n - sent));
            if (w <= 0)
                return;
            sent += w;
        }
    }
}

void Capture::trim() {
    const off_t end = size() - kCaptureEnd;
    if (end > freed_ && ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, freed_,
                                    end - freed_) == 0)
        freed_ = end;
}

std::string Capture::part(off_t from, off_t to) const {
    std::string text(static_cast<std::size_t>(to - from), '\0');
    std::size_t done = 0;
    while (done < text.size()) {
        const ssize_t n = ::pread(file_.get(), text.data() + done, text.size() - done,
                                  from + static_cast<off_t>(done));
        if (n <= 0)
            break;
        done += static_cast<std::size_t>(n);
    }
    text.resize(done);
    return text;
}

std::string Capture::contents() const {
    const off_t end = size();
    const off_t missing = end - 2 * kCaptureEnd;
    if (missing <= 0)
        return part(0, end);
    return part(0, kCaptureEnd) + "\n[pctctl: " + std::to_string(missing) +
           " bytes left out here]\n" + part(end - kCaptureEnd, end);
}

} // namespace pctctl
