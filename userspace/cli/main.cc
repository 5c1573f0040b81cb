// SPDX-License-Identifier: GPL-2.0-only
// pctctl: see --help, and docs/.
#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <vector>

#include "base/log.h"
#include "cli/doctor.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/vm_exec.h"
#include "pctctl/version.h"
#include "report/progress.h"
#include "run/kernel_executor.h"

namespace {

using namespace pctctl;

int fail(const Log& log, const Error& error) {
    log.error(error.message);
    return static_cast<int>(error.status);
}

// Started without one of the three standard descriptors, some file of ours would get its number and
// the program's output.
void ensure_standard_descriptors() {
    int fd = 0;
    do {
        fd = ::open("/dev/null", O_RDWR);
    } while (fd >= 0 && fd <= STDERR_FILENO);
    if (fd >= 0)
        ::close(fd);
}

std::string kernel_release() {
    utsname names{};
    return ::uname(&names) == 0 ? names.release : "unknown";
}

int start_session(const Options& options, const Log& log) {
    Surroundings around;
    around.make_executor = [&log](const ExecutorOptions& how) {
        return make_kernel_executor(how, log);
    };
    around.log = log;
    around.vm = std::getenv("PCTCTL_GUEST"); // set by vm/run, also when called without --vm
    around.sudo = ::geteuid() == 0 && std::getenv("SUDO_USER");
    around.kernel = kernel_release();
    around.out = stdout;
    around.err = stderr;
    around.json_fd = STDOUT_FILENO;
    if (options.json_on_stdout()) {
        // Standard output is JSON's alone; the program's own, shown live, goes to stderr like ours.
        around.json_fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (around.json_fd < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return fail(log, Error::environment("cannot set standard output aside for JSON"));
        around.out = stderr;
    }

    hold_signals();
    std::optional<Interrupt> interrupt;
    const bool terminal = terminal_columns(stderr, options.inside_vm).has_value();
    around.listen_for_interrupts = [&interrupt, &log, terminal] {
        return interrupt.emplace(terminal, log).token();
    };
    return static_cast<int>(run_session(options, around));
}

int run(const std::vector<std::string>& argv) {
    const auto invocation = parse(argv);
    if (!invocation)
        return fail(Log(stderr), invocation.error());
    if (const Print* print = std::get_if<Print>(&*invocation)) {
        std::fputs(print->text.c_str(), stdout);
        return std::fflush(stdout) == 0 ? 0 : fail(Log(stderr), Error::environment("cannot print"));
    }
    const Options& options = std::get<Options>(*invocation);
    Log log(stderr, options.diagnostics());
    if (options.vm) // the log file is for those inside
        return fail(log, exec_in_vm(options, argv, PCTCTL_LIBEXEC_DIR, log));
    if (options.mode == Mode::doctor)
        return static_cast<int>(run_doctor(find_vm_run(PCTCTL_LIBEXEC_DIR)));
    if (options.log)
        if (const Status ok = log.also_to(*options.log); !ok)
            return fail(log, ok.error());
    log.info("pctctl {}, kernel {}{}", kVersion, kernel_release(),
             options.inside_vm ? ", in the virtual machine" : "");
    return start_session(options, log);
}

} // namespace

int main(int argc, char** argv) {
    try {
        ensure_standard_descriptors();
        return run({argv, argv + argc});
    } catch (const std::bad_alloc&) {
        std::fputs("pctctl: out of memory\n", stderr);
    } catch (const std::exception& exception) {
        std::fprintf(stderr, "pctctl: internal error: %s\n", exception.what());
    }
    return static_cast<int>(pctctl::ExitStatus::environment);
}
