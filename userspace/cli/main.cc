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

#include "cli/doctor.h"
#include "cli/interrupt.h"
#include "cli/options.h"
#include "cli/session.h"
#include "cli/vm_exec.h"
#include "report/progress.h"
#include "run/kernel_executor.h"

namespace {

using namespace pctctl;

int fail(const Error& error) {
    std::fprintf(stderr, "pctctl: %s\n", error.message.c_str());
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

int start_session(const Options& options) {
    Surroundings around;
    around.make_executor = make_kernel_executor;
    around.vm = std::getenv("PCTCTL_GUEST"); // set by vm/run, also when called without --vm
    around.sudo = ::geteuid() == 0 && std::getenv("SUDO_USER");
    utsname names{};
    around.kernel = ::uname(&names) == 0 ? names.release : "unknown";
    around.out = stdout;
    around.err = stderr;
    around.json_fd = STDOUT_FILENO;
    if (options.json_on_stdout()) {
        // Standard output is JSON's alone; the program's own, shown live, goes to stderr like ours.
        around.json_fd = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
        if (around.json_fd < 0 || ::dup2(STDERR_FILENO, STDOUT_FILENO) < 0)
            return fail(Error::environment("cannot set standard output aside for JSON"));
        around.out = stderr;
    }

    hold_signals();
    std::optional<Interrupt> interrupt;
    const bool terminal = terminal_columns(stderr, options.inside_vm).has_value();
    around.listen_for_interrupts = [&interrupt, terminal] {
        return interrupt.emplace(terminal).token();
    };
    return static_cast<int>(run_session(options, around));
}

int run(const std::vector<std::string>& argv) {
    const auto invocation = parse(argv);
    if (!invocation)
        return fail(invocation.error());
    if (const Print* print = std::get_if<Print>(&*invocation)) {
        std::fputs(print->text.c_str(), stdout);
        return std::fflush(stdout) == 0 ? 0 : fail(Error::environment("cannot print"));
    }
    const Options& options = std::get<Options>(*invocation);
    if (options.vm)
        return fail(exec_in_vm(options, argv, PCTCTL_LIBEXEC_DIR));
    if (options.mode == Mode::doctor)
        return static_cast<int>(run_doctor(find_vm_run(PCTCTL_LIBEXEC_DIR)));
    return start_session(options);
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
