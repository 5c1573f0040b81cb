// SPDX-License-Identifier: GPL-2.0-only
// What this machine has and lacks for running under the scheduler, each with its remedy.
//
// The checks only read files below a root directory, so that they can be tried on trees of files
// that describe other machines.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace pctctl {

struct Check {
    enum class Level { ok, warn, fail };
    Level level = Level::ok;
    std::string what;   // a few words
    std::string detail; // what was found
    std::string remedy; // what to do; empty when ok

    static Check ok(std::string what, std::string detail);
    static Check warn(std::string what, std::string detail, std::string remedy);
    static Check fail(std::string what, std::string detail, std::string remedy);

    std::string line() const; // "FAIL  what: detail; remedy"
};

// root: "" for the running machine, else the directory that holds proc, sys and boot.
// libbpf: the version of the library, such as "v1.5"; as libbpf_version_string() says.
std::vector<Check> check_machine(const std::string& root, const std::string& libbpf);

// The same for this machine.
std::vector<Check> check_machine();

// Of check_machine(): are there CPUs that parallel policies leave idle?
Check check_cpus(const std::string& root = "");

// The first thing that makes a run on this machine impossible, with exit status `environment`.
Status preflight(const std::string& root = "");

} // namespace pctctl
