// SPDX-License-Identifier: GPL-2.0-only
// The output of a program on one stream (stdout or stderr) of a run: a file in memory, bounded.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Of a longer output this much of the beginning and of the end is kept.
constexpr off_t kCaptureEnd = off_t{32} << 20;

class Capture {
public:
    static Result<Capture> create(const char* name);

    int fd() const { return file_.get(); } // the program's end

    // Copies to `to` what has come since the last call, as far as `to` takes it without waiting,
    // because the caller has a run to watch. A line stands for what trim() has freed meanwhile.
    void forward(int to);
    // Copies all the rest, however long that takes. Call it when nothing more comes.
    void forward_rest(int to);
    // Frees the memory of what will not be kept. Call it now and then while the program runs.
    void trim();
    // All of the output; or its beginning and end, with a line between them that says what is
    // missing.
    std::string contents() const;

private:
    explicit Capture(Fd file) : file_(std::move(file)) {}
    off_t size() const;
    void copy(int to, off_t end, int patience);
    std::string part(off_t from, off_t to) const;

    Fd file_;
    off_t forwarded_ = 0;
    off_t freed_ = kCaptureEnd; // what lies between kCaptureEnd and here has been freed
};

} // namespace pctctl
