// SPDX-License-Identifier: GPL-2.0-only
#include "cli/doctor.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/files.h"
#include "base/text.h"
#include "base/vm_places.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;

std::optional<std::string> read_line(const std::string& path) {
    auto text = read_text(path);
    if (!text)
        return std::nullopt;
    return std::string(trimmed(*text));
}

bool executable(const std::string& path) {
    return ::access(path.c_str(), X_OK) == 0;
}

} // namespace

std::vector<Check> check_vm(const VmPlaces& places) {
    if (places.run.empty())
        return {
            Check::fail("vm: start", places.missing, "install pctctl with its virtual machine")};
    std::vector<Check> checks{Check::ok("vm: start", places.run)};
    std::error_code error;
    fs::path directory = fs::canonical(places.run, error).parent_path();
    // An installation has launcher and kernel beside vm/run; in the source tree they are built.
    bool installed = executable(directory / "launch");
    fs::path source = directory.parent_path();
    fs::path parts = installed ? directory : source / "build/vm";
    fs::path deps = installed             ? directory.parent_path()
                    : places.deps.empty() ? source / ".deps"
                                          : fs::path(places.deps);
    fs::path kernel = deps / "kernel";
    std::string remedy = installed ? "install pctctl again"
                                   : "run 'make vm' in " + source.lexically_normal().string();
    if (executable(parts / "launch") && executable(parts / "init"))
        checks.push_back(Check::ok("vm: launcher", parts.string()));
    else
        checks.push_back(Check::fail("vm: launcher", "not in " + parts.string(), remedy));
    if (fs::exists(kernel / "vmlinux", error))
        checks.push_back(
            Check::ok("vm: kernel", read_line(kernel / "release").value_or("unknown release") +
                                        " in " + kernel.lexically_normal().string()));
    else
        checks.push_back(Check::fail("vm: kernel", "not in " + kernel.string(), remedy));

    const std::string qemu = vm::find_qemu(kernel.string(), places.path);
    if (qemu.empty())
        checks.push_back(Check::fail("vm: QEMU", "no qemu-system-x86_64",
                                     "install qemu-system-x86 (Fedora: qemu-system-x86-core)"));
    else
        checks.push_back(Check::ok("vm: QEMU", fs::path(qemu).lexically_normal().string()));
    return checks;
}

ExitStatus run_doctor(const Result<std::string>& vm_run) {
    auto failing = [](const std::vector<Check>& checks) {
        return std::any_of(checks.begin(), checks.end(),
                           [](const Check& check) { return check.level == Check::Level::fail; });
    };
    std::vector<Check> machine = check_machine();
    VmPlaces places;
    if (vm_run)
        places.run = *vm_run;
    else
        places.missing = vm_run.error().message;
    const char* deps = std::getenv("PCTCTL_DEPS");
    const char* path = std::getenv("PATH");
    places.deps = deps ? deps : "";
    places.path = path ? path : "";
    std::vector<Check> vm = check_vm(places);
    bool native = !failing(machine), virtually = !failing(vm);

    // If runs are possible natively, a fault of the virtual machine is only a warning.
    if (native)
        for (Check& check : vm)
            if (check.level == Check::Level::fail)
                check.level = Check::Level::warn;
    for (const std::vector<Check>* checks : {&machine, &vm})
        for (const Check& check : *checks)
            std::printf("%s\n", check.line().c_str());
    std::printf("%s\n", native      ? "Runs are possible on this machine."
                        : virtually ? "Runs are not possible on this machine itself, but with --vm."
                                    : "Runs are not possible; see the lines with FAIL.");
    return native || virtually ? ExitStatus::nothing_found : ExitStatus::environment;
}

} // namespace pctctl
