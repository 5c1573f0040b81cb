// SPDX-License-Identifier: GPL-2.0-only
#include "cli/doctor.h"

#include <bpf/btf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <zlib.h>

#include <filesystem>
#include <map>
#include <memory>
#include <set>

#include "pctctl/kernel_needs.h"
#include "support/temporary.h"

namespace pctctl {
namespace {

using Level = Check::Level;
using testing::HasSubstr;

// The files of a machine on which all checks are ok. Each test spoils one thing.
class Machine : public testing::Test {
protected:
    Machine() {
        tree_.file("proc/sys/kernel/osrelease", "7.0.1-test\n");
        tree_.file("proc/sys/kernel/version", "#1 SMP PREEMPT_DYNAMIC Debian 7.0.1\n");
        tree_.file("proc/self/status", "Name:\tx\nUid:\t0\t0\t0\t0\nCapEff:\t000001ffffffffff\n");
        tree_.file("proc/self/mounts", "proc /proc proc rw 0 0\n"
                                       "cgroup2 /sys/fs/cgroup cgroup2 rw,nosuid 0 0\n");
        tree_.file("proc/sys/net/core/bpf_jit_enable", "1\n");
        tree_.file("proc/sys/user/max_pid_namespaces", "1000\n");
        tree_.file("proc/sys/user/max_mnt_namespaces", "1000\n");
        tree_.file("sys/kernel/sched_ext/state", "disabled\n");
        tree_.file("sys/kernel/btf/vmlinux", "x");
        tree_.file("sys/kernel/debug/sched/preempt", "none voluntary (full) lazy\n");
        tree_.file("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
        tree_.file("sys/bus/event_source/devices/uprobe/type", "9\n");
        tree_.file("sys/fs/cgroup/cgroup.controllers", "cpuset cpu io memory pids\n");
    }

    std::vector<Check> checks(const std::string& libbpf = "v1.5") {
        return check_machine(tree_.path(), libbpf);
    }

    // Exactly one check is not ok; it is this one.
    void expect_only(Level level, const std::string& what, const std::string& text,
                     const std::string& libbpf = "v1.5") {
        unsigned found = 0;
        for (const Check& check : checks(libbpf)) {
            if (check.level == Level::ok) {
                EXPECT_EQ(check.remedy, "") << check.line();
                continue;
            }
            found++;
            EXPECT_EQ(check.what, what) << check.line();
            EXPECT_EQ(check.level, level) << check.line();
            EXPECT_NE(check.remedy, "") << check.line();
            EXPECT_THAT(check.line(), HasSubstr(text));
        }
        EXPECT_EQ(found, 1u) << what;
        const Result<KernelSupport> status = preflight(tree_.path());
        if (libbpf == "v1.5") {
            EXPECT_EQ(static_cast<bool>(status), level != Level::fail);
            if (!status) {
                EXPECT_EQ(status.error().status, ExitStatus::environment);
                EXPECT_THAT(status.error().message, HasSubstr(text));
            }
        }
    }

    test::TemporaryDirectory tree_;
};

TEST_F(Machine, Fine) {
    for (const Check& check : checks())
        EXPECT_EQ(check.level, Level::ok) << check.line();
    EXPECT_TRUE(preflight(tree_.path()));
}

TEST_F(Machine, KernelWithoutSchedExt) {
    tree_.remove("sys/kernel/sched_ext");
    expect_only(Level::fail, "sched_ext", "kernel 7.0.1-test lacks it; boot");
    tree_.file("boot/config-7.0.1-test", "CONFIG_X=y\n# CONFIG_SCHED_CLASS_EXT is not set\n");
    expect_only(Level::fail, "sched_ext", "CONFIG_SCHED_CLASS_EXT is not set");
    tree_.file("boot/config-7.0.1-test", "CONFIG_SCHED_CLASS_EXT=y\n");
    expect_only(Level::fail, "sched_ext", "was built with it");
}

// The type information (BTF) of a kernel that has everything but one name, and these functions
// besides.
std::string types_without(const std::string& lacking,
                          const std::vector<std::string>& functions = {}) {
    const std::unique_ptr<btf, decltype(&btf__free)> types(btf__new_empty(), &btf__free);
    const int prototype = btf__add_func_proto(types.get(), 0);
    const auto add_function = [&](const std::string& name) {
        EXPECT_GT(btf__add_func(types.get(), name.c_str(), BTF_FUNC_GLOBAL, prototype), 0);
    };
#define X(name, ...)                                                                               \
    if (lacking != #name)                                                                          \
        add_function(#name);
    PCT_KERNEL_FUNCTIONS(X)
    PCT_KERNEL_ALTERNATIVES(X)
#undef X
    for (const std::string& name : functions)
        add_function(name);
    std::map<std::string, std::map<std::string, std::uint64_t>> enums;
#define X(type, name) enums[#type][#name] = (1ULL << 40) + enums[#type].size();
    PCT_KERNEL_ENUMERATORS(X)
    PCT_KERNEL_OPS_FLAGS(X)
#undef X
    for (const auto& [type, enumerators] : enums) {
        EXPECT_GT(btf__add_enum64(types.get(), type.c_str(), 8, false), 0);
        for (const auto& [name, value] : enumerators) {
            if (name == lacking)
                continue;
            EXPECT_EQ(btf__add_enum64_value(types.get(), name.c_str(), value), 0);
        }
    }
    __u32 size = 0;
    const void* data = btf__raw_data(types.get(), &size);
    return {static_cast<const char*>(data), size};
}

// Like Linux 6.12, which has sched_ext, but not everything that is needed.
TEST_F(Machine, OldSchedExt) {
    tree_.file("sys/kernel/btf/vmlinux", types_without("scx_bpf_dsq_peek"));
    expect_only(Level::fail, "sched_ext", "7.0.1-test lacks scx_bpf_dsq_peek; boot a newer kernel");
    tree_.file("sys/kernel/btf/vmlinux", types_without(""));
    const Result<KernelSupport> support = preflight(tree_.path());
    ASSERT_TRUE(support) << support.error().message;
    // Each flag is 2^40 and a small number, see types_without().
    EXPECT_EQ(support->scheduler_flags.value_or(0) >> 40, 1U);
}

// These must be checked in advance. A kernel that lacks them would only behave differently, without
// an error.
TEST_F(Machine, OldEnumerators) {
    for (const char* name : {"SCX_DEQ_SCHED_CHANGE", "SCX_KICK_PREEMPT", "SCX_OPS_ENQ_EXITING"}) {
        tree_.file("sys/kernel/btf/vmlinux", types_without(name));
        expect_only(Level::fail, "sched_ext", std::string("lacks ") + name + "; boot");
    }
}

// A newer kernel series has this function in another form only.
TEST_F(Machine, NewSchedExt) {
    tree_.file("sys/kernel/btf/vmlinux", types_without("scx_bpf_dsq_insert_vtime"));
    expect_only(Level::fail, "sched_ext", "lacks scx_bpf_dsq_insert_vtime and __scx_bpf");
    tree_.file("sys/kernel/btf/vmlinux",
               types_without("scx_bpf_dsq_insert_vtime", {"__scx_bpf_dsq_insert_vtime"}));
    EXPECT_TRUE(preflight(tree_.path()));
}

// Every kernel function that the BPF objects call is in the table that is compared with the kernel.
TEST(KernelNeeds, AreAllThatTheObjectsCall) {
    std::set<std::string> known;
#define X(name, ...) known.insert(#name);
    PCT_KERNEL_FUNCTIONS(X)
    PCT_KERNEL_ALTERNATIVES(X)
#undef X
#define X(name, successor) known.insert(#successor);
    PCT_KERNEL_ALTERNATIVES(X)
#undef X
    std::set<std::string> called;
    const std::filesystem::path build =
        std::filesystem::canonical("/proc/self/exe").parent_path().parent_path();
    for (const char* object : {"bpf/sched.bpf.o", "bpf/kick.bpf.o"}) {
        const std::unique_ptr<btf, decltype(&btf__free)> types(
            btf__parse_elf((build / object).c_str(), nullptr), &btf__free);
        ASSERT_TRUE(types) << object;
        for (__u32 id = 1; id < btf__type_cnt(types.get()); ++id) {
            const btf_type* type = btf__type_by_id(types.get(), id);
            if (!btf_is_func(type) || btf_vlen(type) != BTF_FUNC_EXTERN)
                continue;
            std::string name = btf__name_by_offset(types.get(), type->name_off);
            called.insert(name.substr(0, name.find("___")));
        }
    }
    EXPECT_EQ(called, known);
}

TEST_F(Machine, CompressedConfiguration) {
    tree_.remove("sys/kernel/sched_ext");
    std::string text = "CONFIG_SCHED_CLASS_EXT=y\n";
    gzFile file = ::gzopen((tree_.path() + "/proc/config.gz").c_str(), "wb");
    ::gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
    ::gzclose(file);
    tree_.file("boot/config-7.0.1-test", "# CONFIG_SCHED_CLASS_EXT is not set\n");
    expect_only(Level::fail, "sched_ext", "was built with it");
}

TEST_F(Machine, NoTypes) {
    tree_.remove("sys/kernel/btf");
    expect_only(Level::fail, "kernel types", "CONFIG_DEBUG_INFO_BTF");
}

TEST_F(Machine, AnotherScheduler) {
    tree_.file("sys/kernel/sched_ext/state", "enabled\n");
    tree_.file("sys/kernel/sched_ext/root/ops", "lavd_1.2\n");
    expect_only(Level::fail, "scheduler", "'lavd_1.2'");
    tree_.remove("sys/kernel/sched_ext/root");
    expect_only(Level::fail, "scheduler", "state enabled");
}

TEST_F(Machine, VeryManyCpus) {
    tree_.file("sys/devices/system/cpu/possible", "0-1023\n");
    EXPECT_TRUE(preflight(tree_.path()));
    tree_.file("sys/devices/system/cpu/possible", "0,2-1024\n");
    expect_only(Level::warn, "CPUs", "below number 1024 of 1025");
}

TEST_F(Machine, RealTimeKernel) {
    tree_.file("sys/kernel/realtime", "1\n");
    expect_only(Level::fail, "PREEMPT_RT", "real-time");
    tree_.remove("sys/kernel/realtime");
    tree_.file("proc/sys/kernel/version", "#1 SMP PREEMPT_RT Debian\n");
    expect_only(Level::fail, "PREEMPT_RT", "real-time");
}

TEST_F(Machine, PreemptionModels) {
    tree_.file("sys/kernel/debug/sched/preempt", "none (voluntary) full\n");
    expect_only(Level::fail, "preemption", "'voluntary'");
    tree_.file("sys/kernel/debug/sched/preempt", "full (lazy)\n");
    EXPECT_TRUE(preflight(tree_.path()));
    for (const Check& check : checks())
        EXPECT_EQ(check.level, Level::ok) << check.line();
    tree_.remove("sys/kernel/debug");
    expect_only(Level::fail, "preemption", "debugfs");
    tree_.file("boot/config-7.0.1-test", "CONFIG_PREEMPT_VOLUNTARY=y\nCONFIG_PREEMPT_DYNAMIC=y\n");
    expect_only(Level::fail, "preemption", "booted with the model 'voluntary'");
    tree_.file("boot/config-7.0.1-test", "CONFIG_PREEMPT_LAZY=y\nCONFIG_PREEMPT_DYNAMIC=y\n");
    EXPECT_TRUE(preflight(tree_.path()));
    tree_.file("proc/cmdline", "quiet preempt=full preempt=none x\n");
    expect_only(Level::fail, "preemption", "booted with the model 'none'");
    tree_.file("proc/cmdline", "quiet preempt=full\n");
    EXPECT_TRUE(preflight(tree_.path()));
    tree_.file("proc/sys/kernel/version", "#1 SMP Debian\n");
    expect_only(Level::fail, "preemption", "not built to be preemptible");
}

TEST_F(Machine, Privileges) {
    tree_.file("proc/self/status", "Uid:\t1000\t1000\t1000\t1000\nCapEff:\t0000000000000000\n");
    expect_only(Level::fail, "privileges", "not root; run pctctl with sudo");
    tree_.file("proc/self/status", "Uid:\t1000\t0\t0\t0\nCapEff:\t000001ffffdfffff\n");
    expect_only(Level::fail, "privileges", "root without CAP_SYS_ADMIN;");
    tree_.file("proc/self/status",
               "Uid:\t0\t0\t0\t0\nCapEff:\t00000000a80425fb\n"); // as in docker
    expect_only(Level::fail, "privileges", "CAP_SYS_ADMIN, CAP_SYS_PTRACE;");
}

TEST_F(Machine, Lockdown) {
    tree_.file("sys/kernel/security/lockdown", "none [integrity] confidentiality\n");
    EXPECT_TRUE(preflight(tree_.path()));
    tree_.file("sys/kernel/security/lockdown", "none integrity [confidentiality]\n");
    expect_only(Level::fail, "lockdown", "confidentiality");
}

TEST_F(Machine, NoCompiler) {
    tree_.file("proc/sys/net/core/bpf_jit_enable", "0\n");
    expect_only(Level::fail, "BPF compiler", "switched off");
}

TEST_F(Machine, Cgroups) {
    tree_.file("sys/fs/cgroup/cgroup.controllers", "cpu io\n");
    expect_only(Level::warn, "cgroup v2", "without the pids controller");
    tree_.file("proc/self/mounts", "cgroup /sys/fs/cgroup/pids cgroup rw,pids 0 0\n");
    expect_only(Level::fail, "cgroup v2", "not mounted");
}

TEST_F(Machine, Namespaces) {
    tree_.file("proc/sys/user/max_pid_namespaces", "0\n");
    expect_only(Level::fail, "namespaces", "max_pid_namespaces is 0");
}

TEST_F(Machine, Uprobes) {
    tree_.remove("sys/bus");
    expect_only(Level::fail, "uprobes", "lacks them; boot");
    tree_.file("boot/config-7.0.1-test", "# CONFIG_UPROBES is not set\n");
    expect_only(Level::fail, "uprobes", "CONFIG_UPROBES is not set");
}

TEST_F(Machine, OldLibrary) {
    expect_only(Level::fail, "libbpf", "older than 1.5", "v1.4");
    expect_only(Level::fail, "libbpf", "older than 1.5", "v0.8");
    expect_only(Level::fail, "libbpf", "older than 1.5", "");
    for (const char* version : {"v1.5", "v1.10", "v2.0"})
        for (const Check& check : checks(version))
            EXPECT_EQ(check.level, Level::ok) << check.line();
}

TEST(CheckLine, Layout) {
    EXPECT_EQ((Check{Level::ok, "a", "b", ""}).line(), "ok    a: b");
    EXPECT_EQ((Check{Level::warn, "a", "b", "c"}).line(), "warn  a: b; c");
    EXPECT_EQ((Check{Level::fail, "a", "b", "c"}).line(), "FAIL  a: b; c");
}

class VirtualMachine : public testing::Test {
protected:
    std::string failures(const VmPlaces& places) {
        std::string result;
        for (const Check& check : check_vm(places))
            if (check.level == Level::fail)
                result += check.line() + "\n";
        return result;
    }
    test::TemporaryDirectory tree_;
};

TEST_F(VirtualMachine, InTheSourceTree) {
    VmPlaces places;
    places.run = tree_.file("vm/run", "", 0755);
    places.path = tree_.path() + "/bin";
    EXPECT_THAT(failures(places), HasSubstr("vm: launcher"));
    EXPECT_THAT(failures(places), HasSubstr("make vm"));
    tree_.file("build/vm/launch", "", 0755);
    tree_.file("build/vm/init", "", 0755);
    EXPECT_THAT(failures(places), testing::Not(HasSubstr("launcher")));
    EXPECT_THAT(failures(places), HasSubstr("vm: kernel"));
    tree_.file(".deps/kernel/vmlinuz", ""); // not the file that the launcher takes
    EXPECT_THAT(failures(places), HasSubstr("vm: kernel"));
    tree_.file(".deps/kernel/vmlinux", "");
    EXPECT_THAT(failures(places), testing::Not(HasSubstr("vm: kernel")));
    tree_.file("bin/qemu-system-x86_64", "", 0755);
    EXPECT_EQ(failures(places), "");
    places.deps = tree_.path() + "/elsewhere";
    EXPECT_THAT(failures(places), HasSubstr("vm: kernel"));
}

TEST_F(VirtualMachine, Installed) {
    VmPlaces places;
    places.run = tree_.file("libexec/pctctl/vm/run", "", 0755);
    tree_.file("libexec/pctctl/vm/launch", "", 0755);
    tree_.file("libexec/pctctl/vm/init", "", 0755);
    places.path = tree_.path() + "/bin";
    tree_.file("bin/qemu-kvm", "", 0755);
    EXPECT_THAT(failures(places), HasSubstr("install pctctl again"));
    tree_.file("libexec/pctctl/kernel/vmlinux", "");
    EXPECT_EQ(failures(places), "");
}

TEST_F(VirtualMachine, Absent) {
    VmPlaces places;
    places.missing = "no vm/run";
    EXPECT_THAT(failures(places), HasSubstr("no vm/run"));
}

} // namespace
} // namespace pctctl
