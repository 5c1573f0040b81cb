// SPDX-License-Identifier: GPL-2.0-only
#include "run/capture.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>

#include "base/files.h"

namespace pctctl {
namespace {

std::string left_out(off_t bytes) {
    return "\n[pctctl: " + std::to_string(bytes) + " bytes left out here]\n";
}

} // namespace

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
    copy(to, std::min(size(), forwarded_ + kCaptureEnd), 0);
}

void Capture::forward_rest(int to) {
    copy(to, size(), -1);
}

void Capture::copy(int to, off_t end, int patience) {
    char buffer[PIPE_BUF]; // poll() promises that a pipe has room for so much
    while (forwarded_ < end) {
        pollfd room{to, POLLOUT, 0};
        const int ready = ::poll(&room, 1, patience);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return;
        if (forwarded_ >= kCaptureEnd && forwarded_ < freed_) {
            if (write_all(to, left_out(freed_ - forwarded_)) != 0)
                return;
            forwarded_ = freed_;
            continue;
        }
        const off_t stop = forwarded_ < kCaptureEnd ? std::min(end, kCaptureEnd) : end;
        const ssize_t n = ::pread(
            file_.get(), buffer,
            std::min(sizeof buffer, static_cast<std::size_t>(stop - forwarded_)), forwarded_);
        if (n <= 0)
            return;
        const ssize_t written = ::write(to, buffer, static_cast<std::size_t>(n));
        if (written > 0)
            forwarded_ += written;
        else if (errno != EINTR && (errno != EAGAIN || patience == 0))
            return; // the next call tries again
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
    return part(0, kCaptureEnd) + left_out(missing) + part(end - kCaptureEnd, end);
}

} // namespace pctctl
