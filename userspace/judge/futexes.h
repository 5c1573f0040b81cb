// SPDX-License-Identifier: GPL-2.0-only
// Waits for futexes: mutexes, condition variables, semaphores, barriers, the end of a thread.
#pragma once

#include <cstdint>

#include "judge/run_view.h"
#include "judge/wait.h"

namespace pctctl {

// is_private: the call says that only threads of its process use the futex (FUTEX_PRIVATE_FLAG).
Wait futex_wait(const BlockedThread& thread, std::uint64_t address, bool is_private);

// For any of several: an array of struct futex_waitv.
Wait futexes_wait(const BlockedThread& thread, std::uint64_t array, std::uint64_t count);

// "futex 0x55d0".
std::string futex_name(std::uint64_t address);

} // namespace pctctl
