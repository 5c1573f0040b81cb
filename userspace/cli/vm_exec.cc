// SPDX-License-Identifier: GPL-2.0-only
#include "cli/vm_exec.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include <spdlog/fmt/fmt.h>

#include "base/text.h"
#include "base/vm_places.h"
#include "report/store.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;

constexpr unsigned kUsualCpus = 2; // the default of vm/run

bool is_executable_file(const fs::path& path) {
    std::error_code error;
    return fs::is_regular_file(path, error) && ::access(path.c_str(), X_OK) == 0;
}

// Is `path` the directory `top` or below it? Both absolute and without links.
bool is_within(const fs::path& path, const fs::path& top) {
    return std::mismatch(top.begin(), top.end(), path.begin(), path.end()).first == top.end();
}

// The path with links resolved, as far as it exists. Nothing on error.
std::optional<fs::path> resolved(const fs::path& path, const fs::path& base) {
    std::error_code error;
    fs::path whole = fs::weakly_canonical(base / path, error);
    if (error)
        return std::nullopt;
    if (!whole.has_filename() && whole != whole.root_path())
        whole = whole.parent_path(); // a slash at the end
    return whole;
}

Result<fs::path> own_executable() {
    std::error_code error;
    fs::path executable = fs::read_symlink("/proc/self/exe", error);
    if (error)
        return Error::environment("cannot find our own executable: " + error.message());
    return executable;
}

} // namespace

Result<std::string> find_vm_run(const fs::path& executable, const fs::path& libexec,
                                const char* from_environment) {
    if (from_environment && *from_environment) {
        if (is_executable_file(from_environment))
            return std::string(from_environment);
        return Error::environment(fmt::format("PCTCTL_VM_RUN names '{}', which cannot be executed",
                                              printable(from_environment)));
    }
    const fs::path directory = executable.parent_path();
    const fs::path candidates[] = {(directory / "../vm/run").lexically_normal(),
                                   (directory / libexec / "vm/run").lexically_normal()};
    for (const fs::path& candidate : candidates)
        if (is_executable_file(candidate))
            return candidate.string();
    return Error::environment(
        fmt::format("--vm: the virtual machine's parts are not installed (no {} and no {}); set "
                    "PCTCTL_VM_RUN to where vm/run is",
                    candidates[0].string(), candidates[1].string()));
}

Result<std::vector<std::string>> writable_directories(const Options& options, const fs::path& cwd,
                                                      const fs::path& program_cwd) {
    std::vector<std::string> directories;
    std::optional<fs::path> shared = resolved(cwd, "/").value_or(cwd);
    if (!vm::is_shareable(shared->string()))
        shared.reset();
    // Adds the directory unless the machine shares it already.
    const auto add = [&](const fs::path& path, const char* what) -> std::optional<Error> {
        const auto directory = resolved(path, cwd);
        if (!directory)
            return Error::environment(
                fmt::format("{} cannot be resolved: {}", what, printable(path.string())));
        if (!vm::is_shareable(directory->string()))
            return Error::environment(
                fmt::format("--vm cannot share {} with the virtual machine, but {} needs it; name "
                            "another place",
                            printable(directory->string()), what));
        if ((shared && is_within(*directory, *shared)) ||
            std::find(directories.begin(), directories.end(), directory->string()) !=
                directories.end())
            return std::nullopt;
        std::error_code error;
        fs::create_directories(*directory, error);
        if (error)
            return Error::environment(fmt::format("cannot make {} for {}: {}",
                                                  printable(directory->string()), what,
                                                  error.message()));
        directories.push_back(directory->string());
        return std::nullopt;
    };

    if (options.mode == Mode::campaign)
        if (auto error = add(options.out, "--out"))
            return *error;
    // A directory that cannot be shared (/proc, say) is skipped: the guest then says that it has no
    // such directory.
    if (options.mode == Mode::replay && !program_cwd.empty() &&
        vm::is_shareable(resolved(program_cwd, cwd).value_or(program_cwd).string()))
        if (auto error = add(program_cwd, "the kept run's directory"))
            return *error;
    // Adds the directory of a file. A device or pipe needs no shared directory. A missing directory
    // is left to the guest, which reports it as without --vm.
    const auto add_place_of = [&](const fs::path& file, const char* what) -> std::optional<Error> {
        std::error_code ignored;
        const fs::file_status status = fs::status(file, ignored);
        if (fs::exists(status) && !fs::is_regular_file(status))
            return std::nullopt;
        const fs::path directory = resolved(file, "/").value_or(file).parent_path();
        return fs::is_directory(directory, ignored) ? add(directory, what) : std::nullopt;
    };
    if (options.json && !options.json_on_stdout())
        if (auto error = add_place_of(cwd / *options.json, "--json"))
            return *error;
    std::error_code error;
    // A link is refused inside, wherever it leads.
    if (options.log && !fs::is_symlink(fs::symlink_status(cwd / *options.log, error)))
        if (auto error = add_place_of(cwd / *options.log, "--log"))
            return *error;
    return directories;
}

std::vector<std::string> vm_command(const std::string& vm_run, const Options& options,
                                    const std::vector<std::string>& writable,
                                    std::span<const std::string> argv,
                                    const std::string& executable) {
    std::vector<std::string> command = {vm_run};
    if (const unsigned jobs = options.given.jobs.value_or(1); jobs > kUsualCpus)
        command.insert(command.end(), {"--cpus", fmt::format("{}", jobs)});
    for (const std::string& directory : writable)
        command.insert(command.end(), {"--rw", directory});
    command.emplace_back("--");
    for (std::string& word : argv_inside_vm(argv, executable))
        command.push_back(std::move(word));
    return command;
}

Result<std::string> find_vm_run(const fs::path& libexec) {
    const auto executable = own_executable();
    if (!executable)
        return executable.error();
    return find_vm_run(*executable, libexec, std::getenv("PCTCTL_VM_RUN"));
}

Error exec_in_vm(const Options& options, std::span<const std::string> argv, const fs::path& libexec,
                 const Log& log) {
    const auto vm_run = find_vm_run(libexec);
    if (!vm_run)
        return vm_run.error();
    const auto executable = own_executable();
    if (!executable)
        return executable.error();
    std::error_code error;
    const fs::path cwd = fs::current_path(error);
    if (error)
        return Error::environment("--vm: the current directory is gone: " + error.message());
    fs::path program_cwd;
    if (!options.replay_dir.empty()) {
        const auto kept = load_record(options.replay_dir);
        if (!kept)
            return kept.error();
        program_cwd = kept->cwd;
    }
    const auto writable = writable_directories(options, cwd, program_cwd);
    if (!writable)
        return writable.error();

    std::vector<std::string> command =
        vm_command(*vm_run, options, *writable, argv, executable->string());
    log.debug("--vm: {}", printable(shell_quote(command), 4000));
    std::vector<char*> pointers;
    for (std::string& word : command)
        pointers.push_back(word.data());
    pointers.push_back(nullptr);
    ::execv(vm_run->c_str(), pointers.data());
    return Error::environment(fmt::format("--vm: cannot start {}: {}", *vm_run, errno_text(errno)));
}

} // namespace pctctl
