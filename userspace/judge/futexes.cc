// SPDX-License-Identifier: GPL-2.0-only
#include "judge/futexes.h"

#include <linux/futex.h>

#include <charconv>

#include "base/proc_text.h"

#ifndef FUTEX2_PRIVATE
#define FUTEX2_PRIVATE FUTEX_PRIVATE_FLAG
#endif

namespace pctctl {

namespace {

// By the number that the program itself uses; none when it is that of the thread itself.
const LiveThread* other_thread(const BlockedThread& thread, int number) {
    const LiveThread* other = thread.run.by_own_number(number);
    return other == &thread.thread ? nullptr : other;
}

// The thread whose end a futex tells, if it is that kind of futex. pthread_join() waits for a word
// in the other thread's descriptor, which holds that thread's number until the kernel clears it.
const LiveThread* joined_thread(const BlockedThread& thread, std::uint64_t address) {
    const auto value = thread.read<int>(address);
    if (!value || *value <= 0)
        return nullptr;
    const LiveThread* joined = other_thread(thread, *value);
    return joined && joined->pid == thread.thread.pid ? joined : nullptr;
}

// The thread that holds a mutex; null when the futex does not look like one of a mutex. In glibc
// the owner's number is 8 bytes behind the word that is waited for, and that word is 2 or more
// while somebody waits. Other futexes rarely look like that.
const LiveThread* mutex_owner(const BlockedThread& thread, std::uint64_t address) {
    struct Mutex {
        int lock;
        unsigned count;
        int owner;
    };
    const auto mutex = thread.read<Mutex>(address);
    if (!mutex || mutex->lock < 2 || mutex->owner <= 0)
        return nullptr;
    return other_thread(thread, mutex->owner);
}

} // namespace

std::string futex_name(std::uint64_t address) {
    char digits[16];
    const auto end = std::to_chars(digits, digits + sizeof digits, address, 16).ptr;
    return "futex 0x" + std::string(digits, end);
}

Wait futex_wait(const BlockedThread& thread, std::uint64_t address, bool is_private) {
    if (!is_private) {
        if (const LiveThread* joined = joined_thread(thread, address))
            return internal_wait_for_holder("waits for thread " + joined->name + " to end");
        const auto file = parse_shared_mapping(thread.file("maps"), address);
        if (file && thread.run.outsiders().map(*file))
            return external_wait(
                "waits for a futex in a file that processes outside the run have mapped");
    }
    std::string text = "waits for a mutex or condition (" + futex_name(address) + ")";
    if (const LiveThread* owner = mutex_owner(thread, address))
        return internal_wait_for_holder(text + ", held by thread " + owner->name);
    return internal_wait(std::move(text));
}

Wait futexes_wait(const BlockedThread& thread, std::uint64_t array, std::uint64_t count) {
    struct Entry { // struct futex_waitv
        std::uint64_t value, address;
        std::uint32_t flags, reserved;
    };
    for (std::uint64_t i = 0; i < count; i++) {
        const auto entry = thread.read<Entry>(array + i * sizeof(Entry));
        if (!entry)
            return external_wait("waits for futexes that cannot be read");
        Wait wait = futex_wait(thread, entry->address, entry->flags & FUTEX2_PRIVATE);
        if (!wait.internal)
            return wait;
    }
    return internal_wait("waits for one of " + std::to_string(count) + " futexes");
}

} // namespace pctctl
