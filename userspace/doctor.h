// SPDX-License-Identifier: GPL-2.0-only
// What this machine has and lacks for running under the scheduler, each with its remedy.
//
// The checks only read files below a root directory, so that they can be tried on trees of files
// that describe other machines.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result.h"

namespace pctctl {

struct Check {
    enum class Level { ok, warn, fail };
    Level level = Level::ok;
    std::string what;   // a few words
    std::string detail; // what was found
    std::string remedy; // what to do; empty when ok

    std::string line() const; // "FAIL  what: detail; remedy"
};

// root: "" for the running machine, else the directory that holds proc, sys and boot.
// libbpf: the version of the library, such as "v1.5"; as libbpf_version_string() says.
std::vector<Check> check_machine(const std::string& root, const std::string& libbpf);

// Where the virtual machine's parts are expected.
struct VmPlaces {
    std::string run;     // vm/run; empty: not found
    std::string missing; // then the reason
    std::string deps;    // PCTCTL_DEPS, or empty
    std::string path;    // PATH
};
std::vector<Check> check_vm(const VmPlaces& places);

// The first thing that makes a run on this machine impossible, with exit status `environment`.
Status preflight(const std::string& root = "");

// `pctctl doctor`: prints a line for each check and one for the conclusion. Exit status
// nothing_found (0) when runs are possible, natively or with --vm, else environment (3). vm_run:
// where vm/run is, or why it is not known.
ExitStatus run_doctor(const Result<std::string>& vm_run);

} // namespace pctctl
