// SPDX-License-Identifier: GPL-2.0-only
// What libbpf itself has to say, in the log instead of on stderr.
#pragma once

#include <bpf/libbpf.h>

#include "base/log.h"

namespace pctctl {

// While one of these lives, libbpf's warnings are warnings in the log ("libbpf: ..."). Its
// information, the verifier's log, and what libbpf did right before a warning are debug messages.
// libbpf has one place per process for that: one object at a time, made before other threads use
// libbpf.
class LibbpfMessages {
public:
    explicit LibbpfMessages(const Log& log);
    LibbpfMessages(const LibbpfMessages&) = delete;
    LibbpfMessages& operator=(const LibbpfMessages&) = delete;
    ~LibbpfMessages();

private:
    libbpf_print_fn_t previous_;
};

} // namespace pctctl
