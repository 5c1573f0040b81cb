// SPDX-License-Identifier: GPL-2.0-only
#include "run/preflight.h"

#include <bpf/libbpf.h>
#include <zlib.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/proc_text.h"
#include "base/text.h"
#include "pctctl/run.h"
#include "run/cgroup.h"

namespace pctctl {

namespace {

namespace fs = std::filesystem;

bool exists(const std::string& path) {
    std::error_code error;
    return fs::exists(path, error);
}

std::optional<std::string> read_line(const std::string& path) {
    auto text = read_text(path);
    if (!text)
        return std::nullopt;
    return std::string(trimmed(*text));
}

std::optional<std::string> read_gzip(const std::string& path) {
    std::unique_ptr<gzFile_s, int (*)(gzFile)> file(::gzopen(path.c_str(), "rb"), &::gzclose);
    if (!file)
        return std::nullopt;
    std::string text;
    char buffer[16384];
    int n;
    while ((n = ::gzread(file.get(), buffer, sizeof buffer)) > 0)
        text.append(buffer, static_cast<size_t>(n));
    if (n < 0 || text.empty())
        return std::nullopt;
    return text;
}

// The files below root, and facts that several checks need.
struct Machine {
    std::string root;
    std::string libbpf;
    std::string release = read_line(root + "/proc/sys/kernel/osrelease").value_or("unknown");
    std::string version = read_line(root + "/proc/sys/kernel/version").value_or("");
    std::optional<std::string> config = kernel_config();
    KernelSupport support = read_kernel_support(root + kKernelTypes);

    std::optional<std::string> kernel_config() const {
        if (auto text = read_gzip(root + "/proc/config.gz"))
            return text;
        for (const char* path : {"/boot/config-", "/usr/lib/modules/", "/lib/modules/"}) {
            std::string file = root + path + release;
            if (path[1] != 'b')
                file += "/config";
            if (auto text = read_text(file))
                return text;
        }
        return std::nullopt;
    }

    // "y", "m" or "n". Nothing if the configuration is not known.
    std::optional<std::string> option(const std::string& name) const {
        if (!config)
            return std::nullopt;
        for (const std::string& line : split(*config, '\n'))
            if (line.starts_with(name + "="))
                return line.substr(name.size() + 1);
        return "n";
    }
};

Check check_kernel(const Machine& machine) {
    if (exists(machine.root + "/sys/kernel/sched_ext")) {
        if (machine.support.missing)
            return Check::fail("sched_ext",
                               "the sched_ext of kernel " + machine.release + " lacks " +
                                   *machine.support.missing,
                               kNewerKernel);
        return Check::ok("sched_ext", "kernel " + machine.release + " has it");
    }
    auto option = machine.option("CONFIG_SCHED_CLASS_EXT");
    if (option == "y")
        return Check::fail("sched_ext",
                           "kernel " + machine.release +
                               " was built with it, but /sys/kernel/sched_ext is absent",
                           "mount sysfs on /sys, or use --vm");
    return Check::fail("sched_ext",
                       "kernel " + machine.release + " lacks it" +
                           (option ? " (CONFIG_SCHED_CLASS_EXT is not set)" : ""),
                       kNewerKernel);
}

Check check_btf(const Machine& machine) {
    const std::string types = kKernelTypes;
    if (exists(machine.root + types))
        return Check::ok("kernel types", types + " is there");
    return Check::fail("kernel types", types + " is absent",
                       "boot a kernel with CONFIG_DEBUG_INFO_BTF=y or use --vm");
}

std::optional<Check> check_scheduler(const Machine& machine) {
    auto state = read_line(machine.root + "/sys/kernel/sched_ext/state");
    if (!state)
        return std::nullopt;
    if (*state == "disabled")
        return Check::ok("scheduler", "no other sched_ext scheduler is loaded");
    auto name = read_line(machine.root + "/sys/kernel/sched_ext/root/ops").value_or("");
    return Check::fail("scheduler",
                       "another sched_ext scheduler is loaded" +
                           (name.empty() ? " (state " + *state + ")" : ": '" + name + "'"),
                       "stop it, e.g. with 'systemctl stop scx' or 'scxctl stop', or use --vm");
}

Check check_realtime(const Machine& machine) {
    bool realtime = read_line(machine.root + "/sys/kernel/realtime") == "1" ||
                    machine.version.find("PREEMPT_RT") != std::string::npos;
    if (realtime)
        return Check::fail("PREEMPT_RT",
                           "kernel " + machine.release +
                               " is a real-time kernel, which refuses sched_ext schedulers",
                           "boot another kernel or use --vm");
    return Check::ok("PREEMPT_RT", "not a real-time kernel");
}

// The preemption model that the kernel has started with; empty: not known.
std::string booted_preemption(const Machine& machine) {
    constexpr std::string_view kOption = "preempt=";
    std::string model;
    for (const std::string& word :
         split(trimmed(read_text(machine.root + "/proc/cmdline").value_or("")), ' '))
        if (word.starts_with(kOption))
            model = word.substr(kOption.size()); // the last one counts
    if (!model.empty())
        return model;
    for (const auto& [name, is] : {std::pair{"CONFIG_PREEMPT", "full"},
                                   {"CONFIG_PREEMPT_LAZY", "lazy"},
                                   {"CONFIG_PREEMPT_VOLUNTARY", "voluntary"},
                                   {"CONFIG_PREEMPT_NONE", "none"}})
        if (machine.option(name) == "y")
            return is;
    return {};
}

Check check_preemption(const Machine& machine) {
    constexpr const char* kWhat = "preemption";
    // A thread that loses at a step would go on with it until the kernel gets round to preempting.
    constexpr const char* kRemedy =
        "else changes of priority come too late; boot with preempt=full, "
        "write 'full' to /sys/kernel/debug/sched/preempt, or use --vm";
    auto model = read_text(machine.root + "/sys/kernel/debug/sched/preempt");
    if (model) {
        // The model in force is in parentheses.
        size_t begin = model->find('('), end = model->find(')');
        std::string name = begin != std::string::npos && end != std::string::npos
                               ? model->substr(begin + 1, end - begin - 1)
                               : "";
        if (name == "full" || name == "lazy")
            return Check::ok(kWhat, "the model is '" + name + "'");
        return Check::fail(kWhat, "the model is '" + name + "', it has to be 'full' or 'lazy'",
                           kRemedy);
    }
    bool dynamic = machine.version.find("PREEMPT_DYNAMIC") != std::string::npos;
    bool built_in = machine.version.find("PREEMPT") != std::string::npos;
    if (built_in && !dynamic)
        return Check::ok(kWhat, "the kernel is preemptible");
    if (!dynamic)
        return Check::fail(kWhat, "the kernel was not built to be preemptible", kRemedy);
    const std::string booted = booted_preemption(machine);
    if (booted.empty())
        return Check::fail(kWhat, "the model is not known, since debugfs cannot be read",
                           "mount it with 'mount -t debugfs none /sys/kernel/debug' as root");
    if (booted == "full" || booted == "lazy")
        return Check::ok(kWhat, "the kernel was booted with the model '" + booted + "'");
    return Check::fail(kWhat,
                       "the kernel was booted with the model '" + booted +
                           "', it has to be 'full' or 'lazy'",
                       kRemedy);
}

Check check_rights(const Machine& machine) {
    constexpr const char* kWhat = "privileges";
    auto status = read_text(machine.root + "/proc/self/status").value_or("");
    // "real effective saved file-system"
    auto ids = split(parse_field(status, "Uid").value_or(""), '\t');
    if (ids.size() < 2 || ids[1] != "0")
        return Check::fail(kWhat, "not root", "run pctctl with sudo, or use --vm");
    std::string text = parse_field(status, "CapEff").value_or("0");
    std::uint64_t effective = 0;
    std::from_chars(text.data(), text.data() + text.size(), effective, 16);
    // CAP_SYS_ADMIN includes CAP_BPF and CAP_PERFMON.
    struct {
        unsigned bit;
        const char* name;
    } needed[] = {{21, "CAP_SYS_ADMIN"},
                  {19, "CAP_SYS_PTRACE"},
                  {5, "CAP_KILL"},
                  {6, "CAP_SETGID"},
                  {7, "CAP_SETUID"}};
    std::string missing;
    for (const auto& capability : needed)
        if (!(effective >> capability.bit & 1))
            missing += std::string(missing.empty() ? "" : ", ") + capability.name;
    if (!missing.empty())
        return Check::fail(kWhat, "root without " + missing,
                           "leave the container, give it these capabilities, or use --vm");
    return Check::ok(kWhat, "root with all capabilities needed");
}

Check check_lockdown(const Machine& machine) {
    auto text = read_text(machine.root + "/sys/kernel/security/lockdown").value_or("");
    if (text.find("[confidentiality]") != std::string::npos)
        return Check::fail("lockdown",
                           "the kernel is locked down for confidentiality, so BPF programs "
                           "may not read its memory",
                           "boot with lockdown=integrity or without Secure Boot, or use --vm");
    return Check::ok("lockdown", text.find("[integrity]") != std::string::npos
                                     ? "integrity, which does no harm"
                                     : "none");
}

Check check_jit(const Machine& machine) {
    if (read_line(machine.root + "/proc/sys/net/core/bpf_jit_enable") == "0")
        return Check::fail("BPF compiler", "the kernel's BPF compiler is switched off",
                           "write 1 to /proc/sys/net/core/bpf_jit_enable");
    return Check::ok("BPF compiler", "in use");
}

Check check_cgroups(const Machine& machine) {
    constexpr const char* kWhat = "cgroup v2";
    auto mount = find_cgroup_mount(read_text(machine.root + "/proc/self/mounts").value_or(""));
    if (!mount)
        return Check::fail(kWhat, "not mounted",
                           "mount it with 'mount -t cgroup2 none /sys/fs/cgroup', or use --vm");
    auto controllers =
        split(trimmed(read_text(machine.root + *mount + "/cgroup.controllers").value_or("")), ' ');
    if (std::find(controllers.begin(), controllers.end(), "pids") == controllers.end())
        return Check::warn(
            kWhat, "at " + *mount + ", without the pids controller",
            "boot with 'systemd.unified_cgroup_hierarchy=1', else a program that forks "
            "without end is not bounded");
    return Check::ok(kWhat, "at " + *mount + ", with the pids controller");
}

Check check_namespaces(const Machine& machine) {
    for (const char* name : {"pid", "mnt", "ipc"}) {
        std::string path = std::string("/proc/sys/user/max_") + name + "_namespaces";
        if (read_line(machine.root + path) == "0")
            return Check::fail("namespaces", path + " is 0",
                               "write a larger number to it, or use --vm");
    }
    return Check::ok("namespaces", "process, mount and IPC namespaces may be made");
}

Check check_libbpf(const Machine& machine) {
    std::string_view text = machine.libbpf;
    if (text.starts_with('v'))
        text.remove_prefix(1);
    int major = 0, minor = 0;
    auto [dot, error] = std::from_chars(text.data(), text.data() + text.size(), major);
    if (error == std::errc() && dot != text.data() + text.size() && *dot == '.')
        std::from_chars(dot + 1, text.data() + text.size(), minor);
    if (major < 1 || (major == 1 && minor < 5))
        return Check::fail("libbpf", "version '" + machine.libbpf + "' is older than 1.5",
                           "install a newer libbpf, or build with the one setup/deps makes");
    return Check::ok("libbpf", "version " + std::string(text));
}

Check check_uprobes(const Machine& machine) {
    if (exists(machine.root + "/sys/bus/event_source/devices/uprobe"))
        return Check::ok("uprobes", "supported");
    auto option = machine.option("CONFIG_UPROBES");
    return Check::fail(
        "uprobes",
        "the kernel lacks them" + std::string(option == "n" ? " (CONFIG_UPROBES is not set)" : ""),
        "boot a kernel with CONFIG_UPROBES=y and CONFIG_UPROBE_EVENTS=y, or use --vm");
}

std::vector<Check> checks_of(const Machine& machine) {
    std::vector<Check> checks{check_rights(machine), check_kernel(machine), check_btf(machine)};
    if (auto check = check_scheduler(machine))
        checks.push_back(*check);
    for (auto check : {check_realtime, check_preemption, check_lockdown, check_jit, check_uprobes,
                       check_cgroups, check_namespaces, check_libbpf})
        checks.push_back(check(machine));
    checks.push_back(check_cpus(machine.root));
    return checks;
}

} // namespace

Check Check::ok(std::string what, std::string detail) {
    return {Level::ok, std::move(what), std::move(detail), ""};
}
Check Check::warn(std::string what, std::string detail, std::string remedy) {
    return {Level::warn, std::move(what), std::move(detail), std::move(remedy)};
}
Check Check::fail(std::string what, std::string detail, std::string remedy) {
    return {Level::fail, std::move(what), std::move(detail), std::move(remedy)};
}

std::string Check::line() const {
    std::string text = level == Level::ok ? "ok    " : level == Level::warn ? "warn  " : "FAIL  ";
    text += what + ": " + detail;
    if (!remedy.empty())
        text += "; " + remedy;
    return text;
}

Check check_cpus(const std::string& root) {
    const std::string possible = // "0-3", "0,2-3"
        read_line(root + "/sys/devices/system/cpu/possible").value_or("0");
    const std::size_t last = possible.find_last_of(",-");
    const char* begin = possible.data() + (last == std::string::npos ? 0 : last + 1);
    unsigned highest = 0;
    std::from_chars(begin, possible.data() + possible.size(), highest);
    if (highest < PCT_MAX_CPUS)
        return Check::ok("CPUs", "numbers up to " + std::to_string(highest));
    return Check::warn("CPUs",
                       "policies that run threads in parallel use only the CPUs below number " +
                           std::to_string(PCT_MAX_CPUS) + " of " + std::to_string(highest + 1),
                       "a thread bound to another one would never run");
}

std::vector<Check> check_machine(const std::string& root, const std::string& libbpf) {
    return checks_of(Machine{root, libbpf});
}

std::vector<Check> check_machine() {
    return check_machine("", libbpf_version_string());
}

Result<KernelSupport> preflight(const std::string& root) {
    const Machine machine{root, libbpf_version_string()};
    for (const Check& check : checks_of(machine))
        if (check.level == Check::Level::fail)
            return Error::environment(check.what + ": " + check.detail + "; " + check.remedy);
    return machine.support;
}

} // namespace pctctl
