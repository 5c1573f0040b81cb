// SPDX-License-Identifier: GPL-2.0-only
// Failing runs on disk: OUT/run-N/ with run.json, stdout and stderr.
//
// run.json is one object ("schema": 4, "kind": "pctctl run") with
//   all that a replay needs: command, cwd, policy, parameters (those that the policy has; null: a
//     computed default), depth, strides (null: of another policy), points, spin_limit_ns,
//     timeout_ns, pids_limit, cgroup and user (null: none), seed;
//   the result: run, outcome, exit_code, signal, detail, threads, steps, switches, interventions,
//     order_hash (16 hex digits), violations (null: not verified), duration_ms;
//   versions: pctctl, kernel.
// A word that is not UTF-8 is written as {"hex": "..."} instead of a string.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

struct RunRecord {
    ExecutorOptions options; // with the run's own policy and depth; jobs and verify are not kept
    std::string cwd;         // absolute; where the program was started
    RunResult result;        // out and err are not part of run.json
    std::string pctctl_version;
    std::string kernel_release;
};

std::string to_json_text(const RunRecord& record);
// `where` names the file in messages. Error of usage if pctctl did not write it, or if it is
// damaged or of another schema.
Result<RunRecord> parse_record(std::string_view text, const std::string& where);
// Reads run.json in a directory that a RunStore made.
Result<RunRecord> load_record(const std::filesystem::path& directory);

class RunStore {
public:
    // Makes no directory until the first run is kept.
    RunStore(std::filesystem::path out, ExecutorOptions options, std::string cwd);

    // Writes OUT/run-N under another name and renames it, so that it appears as a whole or not at
    // all. Returns its path. Replaces a run of that number from an earlier campaign. Anything else
    // of that name is left alone: that is an error, as are a full disk and an unwritable OUT.
    Result<std::string> keep(const RunResult& run);

private:
    std::filesystem::path out_;
    ExecutorOptions options_;
    std::string cwd_;
};

} // namespace pctctl
