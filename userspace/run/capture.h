// SPDX-License-Identifier: GPL-2.0-only
// What a program writes to one of its streams during a run: a file in memory, bounded.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Of a longer output the beginning and the end are kept, this much of each.
constexpr off_t kCaptureEnd = off_t{32} << 20;

class Capture {
public:
    static Result<Capture> create(const char* name);

    int fd() const { return file_.get(); } // the program's end

    // Copies to `to` what has come since the last call, as far as `to` takes it without waiting:
    // the caller has a run to watch. What trim() has freed meanwhile is left out, with a line that
    // says so.
    void forward(int to);
    // All the rest, however long that takes. To be called when nothing more comes.
    void forward_rest(int to);
    // Frees the memory of what will not be kept. To be called now and then while the program runs.
    void trim();
    // All of it, or its beginning and its end with a line between them that says what is missing.
    std::string contents() const;

private:
    explicit Capture(Fd file) : file_(std::move(file)) {}
    off_t size() const;
    void copy(int to, off_t end, int patience);
    std::string part(off_t from, off_t to) const;

    Fd file_;
    off_t forwarded_ = 0;
    off_t freed_ = kCaptureEnd; // nothing is left between kCaptureEnd and here
};

} // namespace pctctl
