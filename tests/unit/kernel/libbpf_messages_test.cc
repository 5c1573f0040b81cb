// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/libbpf_messages.h"

#include <bpf/libbpf.h>

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

namespace pctctl {
namespace {

// What the log has on stderr, at this level, of what `act` makes libbpf say.
template <typename Act> std::string logged(Log::Level level, Act act) {
    char* text = nullptr;
    std::size_t size = 0;
    std::FILE* stream = ::open_memstream(&text, &size);
    {
        const LibbpfMessages messages{Log(stream, level)};
        act();
    }
    std::fclose(stream);
    const std::string all(text, size);
    std::free(text);
    return all;
}

// Calls the function that libbpf has been given for its messages.
void say(libbpf_print_level level, const char* format, ...) {
    const libbpf_print_fn_t print = libbpf_set_print(nullptr);
    libbpf_set_print(print);
    std::va_list args;
    va_start(args, format);
    print(level, format, args);
    va_end(args);
}

TEST(LibbpfMessages, WarningsAreWarnings) {
    const std::string text = logged(Log::Level::warning, [] {
        EXPECT_EQ(bpf_object__open_file("/nowhere/object.bpf.o", nullptr), nullptr);
    });
    EXPECT_TRUE(text.starts_with("pctctl: warning: libbpf: ")) << text;
    EXPECT_NE(text.find("/nowhere/object.bpf.o"), std::string::npos) << text;
}

TEST(LibbpfMessages, InformationIsADebugMessage) {
    const auto inform = [] { say(LIBBPF_INFO, "libbpf: loaded %d\n", 3); };
    EXPECT_EQ(logged(Log::Level::debug, inform), "pctctl: debug: libbpf: loaded 3\n");
    EXPECT_EQ(logged(Log::Level::info, inform), "");
}

// Loading the scheduler without trouble takes 2,400 of them.
TEST(LibbpfMessages, DebugMessagesAreShownBeforeAWarning) {
    const auto work = [] {
        for (int i = 1; i <= 100; i++)
            say(LIBBPF_DEBUG, "libbpf: relocation %d\n", i);
    };
    EXPECT_EQ(logged(Log::Level::debug, work), "");
    const auto fail = [work] {
        work();
        say(LIBBPF_WARN, "libbpf: no such function\n");
        say(LIBBPF_WARN, "libbpf: failed\n");
    };
    const std::string all = logged(Log::Level::debug, fail);
    EXPECT_TRUE(all.starts_with("pctctl: debug: libbpf: relocation 61\n")) << all;
    EXPECT_TRUE(all.ends_with("pctctl: debug: libbpf: relocation 100\n"
                              "pctctl: warning: libbpf: no such function\n"
                              "pctctl: warning: libbpf: failed\n"))
        << all;
    EXPECT_EQ(logged(Log::Level::warning, fail), "pctctl: warning: libbpf: no such function\n"
                                                 "pctctl: warning: libbpf: failed\n");
}

// One warning of many lines: as a whole on stderr it would hide the error that follows.
TEST(LibbpfMessages, TheVerifiersLogIsADebugMessage) {
    const auto refuse = [] {
        say(LIBBPF_WARN, "libbpf: prog '%s': -- BEGIN PROG LOAD LOG --\n0: r0 = 0\n1: exit\n%s\n",
            "x", std::string(1000, '-').c_str());
        say(LIBBPF_WARN, "libbpf: prog '%s': failed to load\n", "x");
    };
    EXPECT_EQ(logged(Log::Level::warning, refuse),
              "pctctl: warning: libbpf: prog 'x': failed to load\n");
    const std::string all = logged(Log::Level::debug, refuse);
    EXPECT_TRUE(all.starts_with("pctctl: debug: libbpf: prog 'x': -- BEGIN PROG LOAD LOG --\n"
                                "pctctl: debug: libbpf: 0: r0 = 0\n"
                                "pctctl: debug: libbpf: 1: exit\n"))
        << all;
}

TEST(LibbpfMessages, ArePrintedAsBeforeInTheEnd) {
    const libbpf_print_fn_t before = libbpf_set_print(nullptr);
    libbpf_set_print(before);
    logged(Log::Level::debug, [] {});
    const libbpf_print_fn_t after = libbpf_set_print(before);
    EXPECT_EQ(before, after);
}

} // namespace
} // namespace pctctl
