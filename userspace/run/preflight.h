// SPDX-License-Identifier: GPL-2.0-only
// Checks whether this machine has what the scheduler needs. Each check that fails names a remedy.
//
// The checks only read files below a root directory, so that tests can try them on trees of files
// that describe other machines.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "kernel/kernel_functions.h"

namespace pctctl {

struct Check {
    enum class Level { ok, warn, fail };
    Level level = Level::ok;
    std::string what;   // a few words
    std::string detail; // what was found
    std::string remedy; // what to do about it; empty if ok

    static Check ok(std::string what, std::string detail);
    static Check warn(std::string what, std::string detail, std::string remedy);
    static Check fail(std::string what, std::string detail, std::string remedy);

    std::string line() const; // "FAIL  what: detail; remedy"
};

// root: "" for the running machine, else the directory that holds proc, sys and boot.
// libbpf: the version of the library, such as "v1.5", as from libbpf_version_string().
std::vector<Check> check_machine(const std::string& root, const std::string& libbpf);

// Checks this machine.
std::vector<Check> check_machine();

// Of check_machine(): are there CPUs that parallel policies leave idle?
Check check_cpus(const std::string& root = "");

// The first check that fails, as an error with exit status `environment`. Warnings pass. Otherwise
// what the checks have read about the kernel.
Result<KernelSupport> preflight(const std::string& root = "");

} // namespace pctctl
