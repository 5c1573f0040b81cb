// SPDX-License-Identifier: GPL-2.0-only
#include "cli/help.h"

#include <algorithm>
#include <string>

namespace pctctl {
namespace {

constexpr const char* kCampaignUsage =
    "Usage: pctctl [OPTIONS] -- PROGRAM [ARG...]\n"
    "       pctctl replay OUT/run-N [OPTIONS]\n"
    "       pctctl replay --seed RUNSEED [OPTIONS] -- PROGRAM [ARG...]\n"
    "       pctctl doctor\n"
    "       pctctl policies\n"
    "\n"
    "Runs PROGRAM again and again under a randomized kernel scheduler that finds its\n"
    "concurrency bugs with a known probability, and repeats any run from its seed.\n"
    "All that follows -- is the program's own. 'pctctl replay --help' tells about replays,\n"
    "'pctctl doctor' whether this machine has what is needed.\n";

constexpr const char* kCampaignFooter =
    "Example:\n"
    "  sudo pctctl --depth 2 --runs 500 -- ./app input.txt\n"
    "  sudo pctctl replay pctctl-out/run-17\n"
    "A failure is a run that exits with a non-zero status, in which a process dies by a\n"
    "signal, that deadlocks, or that hangs until its time is up. It is kept in OUT/run-N:\n"
    "run.json, stdout and stderr. A run that is only slow is unfinished, which is no failure.\n"
    "\n"
    "Exit status:\n"
    "  0  no run failed          2  the command line is wrong\n"
    "  1  at least one failed    3  this machine cannot do it, results were lost, or the\n"
    "                               witness objects; the message says why\n"
    "With --vm, 124 to 127 say that the virtual machine failed.";

constexpr const char* kReplayUsage =
    "Usage: pctctl replay OUT/run-N [OPTIONS]\n"
    "       pctctl replay --seed RUNSEED [OPTIONS] -- PROGRAM [ARG...]\n"
    "\n"
    "Repeats a run: one that a campaign has kept, or the one that a run's seed and the\n"
    "campaign's options describe. Says whether outcome and order of steps were the same.\n"
    "Options override what was kept with the run; so does a PROGRAM after --.\n"
    "Those of a campaign that mean nothing here (--runs, --keep-going, --out) are ignored.\n";

constexpr const char* kReplayFooter =
    "Example:\n"
    "  sudo pctctl replay pctctl-out/run-17 --times 10\n"
    "\n"
    "Exit status:\n"
    "  0  it passed              2  the command line is wrong\n"
    "  1  it failed (again)      3  this machine cannot do it; the message says why";

constexpr const char* kDoctorUsage = "Usage: pctctl doctor [--vm]\n"
                                     "\n"
                                     "Checks what pctctl needs of this machine, one line each, "
                                     "with the remedy.\n";

constexpr const char* kDoctorFooter =
    "Exit status: 0 when runs are possible, here or with --vm; 3 when not.";

} // namespace

HelpTexts help_texts(Mode mode) {
    switch (mode) {
    case Mode::campaign:
        return {kCampaignUsage, kCampaignFooter};
    case Mode::replay:
        return {kReplayUsage, kReplayFooter};
    case Mode::doctor:
        break;
    }
    return {kDoctorUsage, kDoctorFooter};
}

Error complaint(std::string_view text) {
    std::string line(text);
    std::replace(line.begin(), line.end(), '\n', ' ');
    return Error::usage(line + " (see pctctl --help)");
}

} // namespace pctctl
