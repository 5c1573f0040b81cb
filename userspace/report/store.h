// SPDX-License-Identifier: GPL-2.0-only
// Failing runs on disk: OUT/run-N/ with run.json, stdout and stderr.
//
// run.json (one object, "schema": 3, "kind": "pctctl run") holds all that a replay needs: command,
// cwd, policy, parameters (those the policy has, null for a computed default), depth, strides
// (null: of another policy), points, spin_limit_ns, timeout_ns, pids_limit, cgroup and user (null:
// none), seed; and what came of it: run, outcome, exit_code, signal, detail, threads, steps,
// switches, interventions, order_hash (16 hex digits), violations (null: not verified),
// duration_ms; and versions: pctctl, kernel. A word that is not UTF-8 is written as {"hex": "..."}
// instead of a string.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/result.h"
#include "plan/executor.h"
#include "plan/run_plan.h"

namespace pctctl {

struct RunRecord {
    ExecutorOptions options; // for the run's policy and depth alone; jobs and verify are not kept
    std::string cwd;         // absolute; where the program was started
    RunResult result;        // out and err are not part of run.json
    std::string pctctl_version;
    std::string kernel_release;
};

std::string to_json_text(const RunRecord& record);
// `where` names the file in messages. Error of usage: it is not ours, damaged, or of another
// schema.
Result<RunRecord> parse_record(std::string_view text, const std::string& where);
// Of a directory as kept by RunStore.
Result<RunRecord> load_record(const std::filesystem::path& directory);

class RunStore {
public:
    // Nothing is made until the first run is kept.
    RunStore(std::filesystem::path out, ExecutorOptions options, std::string cwd);

    // Writes OUT/run-N aside and renames it into place, so that it is there as a whole or not at
    // all; returns its path. A run of that number from an earlier campaign is replaced; anything
    // else of that name is left alone and is an error, as are a full disk and an unwritable OUT.
    Result<std::string> keep(const RunResult& run);

private:
    std::filesystem::path out_;
    ExecutorOptions options_;
    std::string cwd_;
};

} // namespace pctctl
