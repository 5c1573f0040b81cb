// SPDX-License-Identifier: GPL-2.0-only
// What a blocked thread waits for, and who could end the wait.
#pragma once

#include <string>
#include <utility>

namespace pctctl {

struct Wait {
    bool internal = false; // only threads of the run can end it
    std::string text;      // a predicate: "waits for data in a pipe (descriptor 3)"
    // It waits for what a living thread of the run has or is: a lock that one holds, its end, a
    // child process. Somebody who just has no work, as a server between two requests, does not.
    bool held = false;
};

inline Wait internal_wait(std::string text) {
    return {.internal = true, .text = std::move(text)};
}

inline Wait internal_wait_for_holder(std::string text) {
    return {.internal = true, .text = std::move(text), .held = true};
}

// Something else may end it: a timer, a device, a process that is not part of the run. So are waits
// that are not understood.
inline Wait external_wait(std::string text) {
    return {.internal = false, .text = std::move(text)};
}

} // namespace pctctl
