// SPDX-License-Identifier: GPL-2.0-only
#include "report/store.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include <nlohmann/json.hpp>
#include <spdlog/fmt/fmt.h>

#include "base/fd.h"
#include "base/files.h"
#include "base/text.h"
#include "pctctl/run.h"
#include "pctctl/version.h"
#include "plan/cgroup_name.h"
#include "plan/point_sets.h"
#include "plan/policies.h"

namespace pctctl {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// 3: without focus and the counts of disturbances, the final wait was pct's only; 2: without
// phases; 1: without strides, all steps counted
constexpr int kSchema = 4;
constexpr const char* kKind = "pctctl run";

// Program arguments and paths are bytes, JSON strings are not.
json bytes(const std::string& text) {
    if (is_utf8(text))
        return text;
    std::string hex;
    for (const char c : text)
        hex += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return json{{"hex", hex}};
}

std::string bytes_from(const json& value) {
    std::string text;
    const std::string hex = value.is_string() ? "" : value.at("hex").get<std::string>();
    if (value.is_string())
        text = value.get<std::string>();
    for (std::size_t i = 0; i < hex.size(); i += 2) {
        const auto byte = parse_number_or_hex("0x" + hex.substr(i, 2));
        if (!byte || hex.size() % 2)
            throw std::invalid_argument("hex is not hex");
        text += static_cast<char>(*byte);
    }
    if (text.find('\0') != std::string::npos)
        throw std::invalid_argument("a word contains a NUL byte");
    return text;
}

json optional_bytes(const std::optional<std::string>& text) {
    return text ? bytes(*text) : json(nullptr);
}

std::optional<std::string> optional_bytes_from(const json& value) {
    return value.is_null() ? std::nullopt : std::optional(bytes_from(value));
}

// The scheduler gets these numbers, so none may be out of range or of another type.
std::uint64_t number(const json& value, std::uint64_t low, std::uint64_t high) {
    if (!value.is_number_unsigned() || value.get<std::uint64_t>() < low ||
        value.get<std::uint64_t>() > high)
        throw std::invalid_argument("a number is out of range");
    return value.get<std::uint64_t>();
}

std::chrono::nanoseconds duration(const json& value, std::uint64_t low) {
    constexpr std::uint64_t kMost = 1'000'000'000'000'000'000;
    return std::chrono::nanoseconds(number(value, low, kMost));
}

std::string kernel_release() {
    utsname names{};
    return ::uname(&names) == 0 ? names.release : "unknown";
}

RunRecord record_from(const json& j) {
    RunRecord record;
    ExecutorOptions& options = record.options;
    if (!j.at("command").is_array())
        throw std::invalid_argument("the command is no array");
    for (const json& word : j.at("command"))
        options.command.push_back(bytes_from(word));
    if (options.command.empty() || options.command[0].empty())
        throw std::invalid_argument("the command is empty");
    record.cwd = bytes_from(j.at("cwd"));
    options.policy = j.at("policy").get<std::string>();
    const PolicyInfo* policy = find_policy(options.policy);
    if (!policy)
        throw std::invalid_argument(fmt::format("unknown policy '{}'", options.policy));
    options.parameters = parameters_from(j.at("parameters"), policy->id);
    options.depth = static_cast<unsigned>(number(j.at("depth"), 1, PCT_MAX_DEPTH));
    const auto points = parse_points(
        fmt::format("{}", fmt::join(j.at("points").get<std::vector<std::string>>(), ",")));
    if (!points)
        throw std::invalid_argument(points.error().message);
    options.points = *points;
    options.spin_limit = duration(j.at("spin_limit_ns"), 0);
    options.timeout = duration(j.at("timeout_ns"), 1);
    options.pids_limit = number(j.at("pids_limit"), 1, kMostPids);
    options.cgroup = optional_bytes_from(j.at("cgroup"));
    if (options.cgroup)
        if (const Status ok = check_cgroup_name(*options.cgroup); !ok)
            throw std::invalid_argument(ok.error().message);
    options.user = optional_bytes_from(j.at("user"));

    RunResult& run = record.result;
    const auto seed = RunSeed::parse(j.at("seed").get<std::string>());
    if (!seed)
        throw std::invalid_argument(seed.error().message);
    run.seed = *seed;
    if (const json& text = j.at("strides"); !text.is_null()) {
        const auto strides = Strides::parse(text.get<std::string>());
        if (!strides)
            throw std::invalid_argument(strides.error().message);
        options.strides = *strides;
    }
    const auto focus = Focus::parse(j.at("focus").get<std::string>());
    if (!focus)
        throw std::invalid_argument(focus.error().message);
    options.focus = run.focus = *focus;
    run.algorithm = {options.policy, options.depth, options.strides};
    run.number = static_cast<std::uint32_t>(number(j.at("run"), 1, 0xffffffff));
    const auto outcome = outcome_from(j.at("outcome").get<std::string>());
    if (!outcome)
        throw std::invalid_argument("its outcome is unknown");
    run.outcome = *outcome;
    if (!j.at("exit_code").is_number_integer() || !j.at("signal").is_number_integer())
        throw std::invalid_argument("exit_code or signal is no whole number");
    run.exit_code = j.at("exit_code").get<int>();
    run.signal = j.at("signal").get<int>();
    run.detail = j.at("detail").get<std::string>();
    run.threads = static_cast<std::uint32_t>(number(j.at("threads"), 0, 0xffffffff));
    run.steps = number(j.at("steps"), 0, ~0ULL);
    run.switches = number(j.at("switches"), 0, ~0ULL);
    run.interventions = number(j.at("interventions"), 0, ~0ULL);
    run.skipped_calls = number(j.at("skipped_calls"), 0, ~0ULL);
    run.unlocked_hooks = number(j.at("unlocked_hooks"), 0, ~0ULL);
    const auto hash = parse_number_or_hex("0x" + j.at("order_hash").get<std::string>());
    if (!hash)
        throw std::invalid_argument("order_hash is not hex");
    run.order_hash = *hash;
    run.time_limit = *options.timeout;
    if (!j.at("violations").is_null())
        run.violations = number(j.at("violations"), 0, ~0ULL);
    run.duration_ms = j.at("duration_ms").get<double>();
    record.pctctl_version = j.at("versions").at("pctctl").get<std::string>();
    record.kernel_release = j.at("versions").at("kernel").get<std::string>();
    return record;
}

// Makes `name` in the directory. Returns 0 or an errno value. A full or remote disk may show itself
// by a short write or only at close(), so both are checked.
int write_new_file(int directory, const char* name, std::string_view text) {
    Fd file(::openat(directory, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644));
    if (!file)
        return errno;
    if (const int error = write_all(file.get(), text))
        return error;
    return ::close(file.release()) == 0 ? 0 : errno;
}

// A directory below OUT with a name that nobody else uses. Removed with this object, unless moved.
class Draft {
public:
    explicit Draft(const fs::path& out) : path_((out / ".run-XXXXXX").string()) {
        if (!::mkdtemp(path_.data())) {
            error_ = errno;
            path_.clear();
        }
    }
    Draft(const Draft&) = delete;
    Draft& operator=(const Draft&) = delete;
    ~Draft() {
        std::error_code ignored;
        if (!path_.empty())
            fs::remove_all(path_, ignored);
    }

    const std::string& path() const { return path_; }
    int error() const { return error_; }
    void moved() { path_.clear(); }

private:
    std::string path_;
    int error_ = 0;
};

// Is this a run that an earlier campaign kept, or an empty directory?
bool is_kept_run(const std::string& path) {
    struct stat status{};
    if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode))
        return false;
    if (::lstat((path + "/run.json").c_str(), &status) == 0)
        return S_ISREG(status.st_mode);
    std::error_code error;
    return fs::is_empty(path, error) && !error;
}

} // namespace

std::string to_json_text(const RunRecord& record) {
    const ExecutorOptions& options = record.options;
    const RunResult& run = record.result;
    json command = json::array();
    for (const std::string& word : options.command)
        command.push_back(bytes(word));
    nlohmann::ordered_json j;
    j["schema"] = kSchema;
    j["kind"] = kKind;
    j["command"] = command;
    j["cwd"] = bytes(record.cwd);
    j["policy"] = options.policy;
    j["parameters"] =
        parameters_json(options.parameters, std::array{find_policy(options.policy)->id});
    j["depth"] = options.depth;
    const auto strides = strides_text({options.policy, options.depth, options.strides});
    j["strides"] = strides ? json(*strides) : json(nullptr);
    j["points"] = point_names(options.points);
    j["focus"] = run.focus.text();
    j["spin_limit_ns"] = static_cast<std::uint64_t>(options.spin_limit.count());
    // Replays have the time that the run had.
    j["timeout_ns"] = static_cast<std::uint64_t>(options.timeout.value_or(run.time_limit).count());
    j["pids_limit"] = options.pids_limit;
    j["cgroup"] = optional_bytes(options.cgroup);
    j["user"] = optional_bytes(options.user);
    j["seed"] = run.seed.text();
    j["run"] = run.number;
    j["outcome"] = name(run.outcome);
    j["exit_code"] = run.exit_code;
    j["signal"] = run.signal;
    j["detail"] = run.detail;
    j["threads"] = run.threads;
    j["steps"] = run.steps;
    j["switches"] = run.switches;
    j["interventions"] = run.interventions;
    j["skipped_calls"] = run.skipped_calls;
    j["unlocked_hooks"] = run.unlocked_hooks;
    j["order_hash"] = fmt::format("{:016x}", run.order_hash);
    j["violations"] = run.violations ? json(*run.violations) : json(nullptr);
    j["duration_ms"] = run.duration_ms;
    j["versions"] = {{"pctctl", record.pctctl_version}, {"kernel", record.kernel_release}};
    return j.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
}

Result<RunRecord> parse_record(std::string_view text, const std::string& where) {
    try {
        const json j = json::parse(text);
        if (!j.is_object() || j.value("kind", json()) != kKind)
            return Error::usage(fmt::format("{} is not a run kept by pctctl", where));
        if (j.value("schema", json()) != kSchema)
            return Error::usage(fmt::format("{} was kept by another version of pctctl (schema {}, "
                                            "this one reads {})",
                                            where, printable(j.value("schema", json()).dump(), 20),
                                            kSchema));
        return record_from(j);
    } catch (const json::parse_error&) {
        return Error::usage(fmt::format("{} is damaged: it is not JSON", where));
    } catch (
        const json::exception& error) { // "[json.exception.out_of_range.403] key 'k' not found"
        const std::string_view what = error.what();
        const std::size_t bracket = what.find("] ");
        return Error::usage(fmt::format(
            "{} is damaged: {}", where,
            printable(bracket == std::string_view::npos ? what : what.substr(bracket + 2))));
    } catch (const std::invalid_argument& error) {
        return Error::usage(fmt::format("{} is damaged: {}", where, printable(error.what())));
    }
}

Result<RunRecord> load_record(const fs::path& directory) {
    const std::string file = (directory / "run.json").string();
    const auto text = read_text(file);
    if (!text)
        return Error::usage(fmt::format("cannot read {}: {}; name a directory that a campaign has "
                                        "kept, such as pctctl-out/run-1",
                                        printable(file), errno_text(errno)));
    return parse_record(*text, printable(file));
}

RunStore::RunStore(fs::path out, ExecutorOptions options, std::string cwd)
    : out_(std::move(out)), options_(std::move(options)), cwd_(std::move(cwd)) {}

Result<std::string> RunStore::keep(const RunResult& run) {
    const std::string target = (out_ / fmt::format("run-{}", run.number)).string();
    const auto failed = [&](int error) {
        return Error::environment(fmt::format("cannot keep run {} in {}: {}; free space or name "
                                              "another directory with --out",
                                              run.number, printable(target), errno_text(error)));
    };

    std::error_code error;
    fs::create_directories(out_, error);
    if (error)
        return failed(error.value());
    Draft draft(out_);
    if (draft.error())
        return failed(draft.error());
    const Fd directory(
        ::open(draft.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW));
    if (!directory)
        return failed(errno);
    const std::string description = to_json_text(
        {options_for(options_, run), cwd_, run, std::string(kVersion), kernel_release()});
    for (const auto& [name, text] : {std::pair<const char*, std::string_view>{"stdout", run.out},
                                     {"stderr", run.err},
                                     {"run.json", description}})
        if (const int cause = write_new_file(directory.get(), name, text))
            return failed(cause);
    if (::fchmod(directory.get(), 0755) != 0) // mkdtemp made it readable for us alone
        return failed(errno);

    if (::rename(draft.path().c_str(), target.c_str()) == 0) {
        draft.moved();
        return target;
    }
    if (errno != ENOTEMPTY && errno != EEXIST && errno != ENOTDIR)
        return failed(errno);
    if (!is_kept_run(target))
        return Error::environment(fmt::format("cannot keep run {}: {} exists and pctctl did not "
                                              "make it; name another directory with --out",
                                              run.number, printable(target)));
    // A reader sees the old run or the new one, never a mixture. Some network file systems cannot
    // exchange two names: there a reader may see neither for a moment.
    if (::renameat2(AT_FDCWD, draft.path().c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) == 0)
        return target; // the old run is the draft now, and is removed with it
    Draft old(out_);
    if (old.error())
        return failed(old.error());
    if (::rename(target.c_str(), old.path().c_str()) != 0)
        return failed(errno);
    if (::rename(draft.path().c_str(), target.c_str()) != 0) {
        const int cause = errno;
        if (::rename(old.path().c_str(), target.c_str()) == 0)
            old.moved();
        return failed(cause);
    }
    draft.moved();
    return target;
}

} // namespace pctctl
