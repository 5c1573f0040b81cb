// SPDX-License-Identifier: GPL-2.0-only
// `pctctl doctor`: are runs possible on this machine, natively or in the virtual machine?
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "run/preflight.h"

namespace pctctl {

// Where the virtual machine's parts are expected.
struct VmPlaces {
    std::string run;     // vm/run; empty: not found
    std::string missing; // why it was not found
    std::string deps;    // PCTCTL_DEPS, or empty
    std::string path;    // PATH
};
std::vector<Check> check_vm(const VmPlaces& places);

// Prints a line for each check and one for the conclusion. Exit status: nothing_found (0) if runs
// are possible, natively or with --vm; else environment (3). vm_run: where vm/run is, or why it was
// not found.
ExitStatus run_doctor(const Result<std::string>& vm_run);

} // namespace pctctl
