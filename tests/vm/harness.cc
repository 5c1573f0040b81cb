// SPDX-License-Identifier: GPL-2.0-only
#include "harness.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace vmtest {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using Clock = std::chrono::steady_clock;
using std::chrono::seconds;

fs::path build_directory() {
    return fs::read_symlink("/proc/self/exe").parent_path().parent_path();
}

std::string descriptor_contents(int fd) {
    std::string text(static_cast<std::size_t>(std::max<off_t>(0, ::lseek(fd, 0, SEEK_END))), '\0');
    std::size_t got = 0;
    while (got < text.size()) {
        const ssize_t n =
            ::pread(fd, text.data() + got, text.size() - got, static_cast<off_t>(got));
        if (n <= 0)
            break;
        got += static_cast<std::size_t>(n);
    }
    text.resize(got);
    return text;
}

std::string join(const Arguments& words) {
    std::string text;
    for (const std::string& word : words)
        text += (text.empty() ? "" : " ") + word;
    return text;
}

std::uint64_t hex(const std::string& text, std::size_t digits) {
    if (text.size() != digits || text.find_first_not_of("0123456789abcdef") != std::string::npos)
        throw std::runtime_error("'" + text + "' is not " + std::to_string(digits) + " hex digits");
    return std::stoull(text, nullptr, 16);
}

RunResult run_from(const json& j) {
    RunResult run;
    run.number = j.at("run").get<unsigned>();
    run.seed = j.at("seed").get<std::string>();
    hex(run.seed.substr(0, 16), 16); // throws; checks all 24 digits with the next two
    run.seed_k = static_cast<std::uint32_t>(hex(run.seed.substr(0, 8), 8));
    run.seed_stream = hex(run.seed.substr(8), 16);
    run.policy = j.at("policy").get<std::string>();
    if (!j.at("strides").is_null())
        run.strides = j.at("strides").get<std::string>();
    run.outcome = j.at("outcome").get<std::string>();
    run.exit_code = j.at("exit_code").get<int>();
    run.signal = j.at("signal").get<int>();
    run.time_limit_s = j.at("time_limit_s").get<double>();
    run.threads = j.at("threads").get<unsigned>();
    run.steps = j.at("steps").get<std::uint64_t>();
    run.k_eff = j.at("k_eff").get<std::uint64_t>();
    run.order_hash = hex(j.at("order_hash").get<std::string>(), 16);
    j.at("switches").get<std::uint64_t>();
    run.duration_ms = j.at("duration_ms").get<double>();
    return run;
}

Summary summary_from(const json& j) {
    Summary s;
    if (j.at("schema").get<int>() != 1)
        throw std::runtime_error("schema is not 1");
    for (const char* key : {"command", "points"})
        if (!j.at(key).is_array() || j.at(key).empty())
            throw std::runtime_error(std::string(key) + " is no array with contents");
    j.at("policy").get<std::string>();
    j.at("campaign_seed");
    j.at("elapsed_s").get<double>();
    if (!j.at("depth").is_null()) // drawn for each run
        s.depth = j.at("depth").get<unsigned>();
    s.runs_done = j.at("runs_done").get<std::uint64_t>();
    s.failures = j.at("failures").get<std::uint64_t>();
    s.unfinished = j.at("unfinished").get<std::uint64_t>();
    if (!j.at("first_failure").is_null())
        s.first_failure = j.at("first_failure").get<std::uint64_t>();
    s.threads = j.at("threads").get<std::uint64_t>();
    s.steps = j.at("steps").get<std::uint64_t>();
    s.k_eff = j.at("k_eff").get<std::uint64_t>();
    for (const json& bound : j.at("policies").at(0).at("bounds"))
        if (bound.contains("races") && !bound.at("races").is_null())
            s.races = bound.at("races").get<std::uint64_t>();
    if (!j.at("bound_run").is_null()) { // one number for all runs
        s.bound_run = j.at("bound_run").get<double>();
        j.at("bound_campaign").get<double>();
    }
    if (!j.at("policies").is_array() || j.at("policies").empty())
        throw std::runtime_error("policies is no array with contents");
    for (const json& policy : j.at("policies"))
        s.policies.push_back(
            {policy.at("policy").get<std::string>(), policy.at("runs").get<std::uint64_t>(),
             policy.at("failures").get<std::uint64_t>(), policy.at("promise").get<std::string>()});
    s.interventions = j.at("interventions").get<std::uint64_t>();
    if (!j.at("violations").is_null())
        s.violations = j.at("violations").get<std::uint64_t>();
    for (const json& run : j.at("results"))
        s.results.push_back(run_from(run));
    if (s.results.size() != s.runs_done)
        throw std::runtime_error("runs_done is not the number of results");
    return s;
}

// "p=3/2/k^2"
Rate rate_from(unsigned depth, const std::string& text) {
    Rate rate;
    rate.depth = depth;
    std::istringstream in(text);
    std::string part;
    std::getline(in, part, '/');
    rate.numerator = std::stod(part);
    if (std::getline(in, part, '/'))
        rate.denominator = std::stod(part);
    if (std::getline(in, part, '/')) {
        if (part[0] != 'k')
            throw std::runtime_error("rate '" + text + "'");
        rate.exponent = part.size() > 1 ? static_cast<unsigned>(std::stoul(part.substr(2))) : 1;
    }
    return rate;
}

std::map<std::string, std::string> pairs(const std::string& text) {
    std::map<std::string, std::string> found;
    std::istringstream in(text);
    for (std::string word; in >> word;)
        if (const std::size_t equals = word.find('='); equals != std::string::npos)
            found[word.substr(0, equals)] = word.substr(equals + 1);
    return found;
}

Animal animal_from(const fs::path& source) {
    std::ifstream in(source);
    std::string line;
    std::getline(in, line); // the license
    std::getline(in, line);
    const std::string mark = "// zoo: ";
    if (line.compare(0, mark.size(), mark) != 0)
        throw std::runtime_error(source.string() + ": its second line is not '// zoo: ...'");
    auto values = pairs(line);
    Animal animal;
    animal.name = source.stem();
    animal.healthy = line.find(" healthy ") != std::string::npos;
    animal.threads = static_cast<unsigned>(std::stoul(values.at("threads")));
    if (animal.healthy) {
        animal.timers = values.at("timers") == "yes";
        return animal;
    }
    animal.bug = values.at("bug");
    animal.depth = static_cast<unsigned>(std::stoul(values.at("depth")));
    animal.outcome = values.at("outcome");
    animal.points = values.at("points");
    while (std::getline(in, line) && line.compare(0, 9, "// rate: ") == 0) {
        values = pairs(line);
        animal.rates.push_back(
            rate_from(static_cast<unsigned>(std::stoul(values.at("d"))), values.at("p")));
    }
    return animal;
}

// P(X <= successes) for X binomial.
double binomial_cdf(std::uint64_t successes, std::uint64_t trials, double p) {
    if (p <= 0)
        return 1;
    if (p >= 1)
        return successes >= trials ? 1 : 0;
    const double n = static_cast<double>(trials);
    double sum = 0;
    for (std::uint64_t i = 0; i <= successes; ++i) {
        const double x = static_cast<double>(i);
        sum += std::exp(std::lgamma(n + 1) - std::lgamma(x + 1) - std::lgamma(n - x + 1) +
                        x * std::log(p) + (n - x) * std::log1p(-p));
    }
    return std::min(sum, 1.0);
}

// The p in 0..1 at which a falling function has that value.
template <typename F> double solve_falling(F f, double value) {
    double low = 0;
    double high = 1;
    for (int i = 0; i < 60; ++i) {
        const double middle = (low + high) / 2;
        (f(middle) > value ? low : high) = middle;
    }
    return (low + high) / 2;
}

std::string first_line(const std::string& file) {
    std::ifstream in(file);
    std::string line;
    std::getline(in, line);
    return line;
}

// Leaves out zombies whose parent is this test: the test itself has not waited for them yet.
std::vector<std::string> find_processes() {
    std::vector<std::string> found;
    std::set<std::string> ancestry;
    for (pid_t pid = ::getpid(); pid > 0;) {
        ancestry.insert(std::to_string(pid));
        const std::string stat = first_line("/proc/" + std::to_string(pid) + "/stat");
        const std::size_t end = stat.rfind(')');
        if (end == std::string::npos)
            break;
        pid = std::atoi(stat.c_str() + end + 4);
    }
    std::error_code gone;
    for (const auto& entry : fs::directory_iterator("/proc", gone)) {
        const std::string pid = entry.path().filename();
        if (pid.find_first_not_of("0123456789") != std::string::npos || ancestry.contains(pid))
            continue;
        const std::string stat = first_line(entry.path() / "stat");
        const std::size_t end = stat.rfind(')');
        if (end == std::string::npos || std::atoi(stat.c_str() + end + 4) == 2 || pid == "2")
            continue; // kernel threads
        if (stat[end + 2] == 'Z' && std::atoi(stat.c_str() + end + 4) == ::getpid())
            continue;
        found.push_back("process " + pid + " " +
                        stat.substr(stat.find('('), end + 3 - stat.find('(')));
    }
    return found;
}

std::vector<std::string> find_cgroups() {
    std::vector<std::string> found;
    std::error_code gone;
    for (fs::recursive_directory_iterator it("/sys/fs/cgroup", gone), end; !gone && it != end;
         it.increment(gone))
        if (it->is_directory(gone))
            found.push_back("cgroup " + it->path().string());
    return found;
}

std::vector<std::string> find_bpf_objects() {
    std::vector<std::string> found;
    for (__u32 id = 0; ::bpf_prog_get_next_id(id, &id) == 0;)
        found.push_back("BPF program " + std::to_string(id));
    for (__u32 id = 0; ::bpf_link_get_next_id(id, &id) == 0;)
        found.push_back("BPF link " + std::to_string(id));
    return found;
}

// Files named after pctctl. Those named zoo-XXXXXX belong to test programs that were killed, and
// are not pctctl's to remove.
std::vector<std::string> find_files() {
    std::vector<std::string> found;
    for (const char* directory : {"/tmp", "/run", "/dev/shm", "/var/tmp"}) {
        std::error_code gone;
        for (const auto& entry : fs::directory_iterator(directory, gone))
            if (entry.path().filename().string().find("pctctl") != std::string::npos)
                found.push_back("file " + entry.path().string());
    }
    return found;
}

// The guest sees the host's files through an overlay, also those that host tests make in /tmp at
// the same time. Each command in the guest has its own mount namespace, so it can hide these two
// directories for itself.
class OwnTemporaryFiles : public testing::Environment {
public:
    void SetUp() override {
        if (!std::getenv("PCTCTL_GUEST"))
            return;
        const std::string here = build_directory();
        for (const char* directory : {"/tmp", "/var/tmp"})
            if (!here.starts_with(std::string(directory) + "/") &&
                ::mount("tmpfs", directory, "tmpfs", 0, "mode=1777") != 0)
                throw std::runtime_error(std::string("cannot mount ") + directory);
    }
};
const testing::Environment* const kOwnTemporaryFiles =
    testing::AddGlobalTestEnvironment(new OwnTemporaryFiles);

} // namespace

bool long_tests() {
    const char* value = std::getenv("PCTCTL_LONG_TESTS");
    return value && *value;
}

std::string built(std::string_view name) {
    return build_directory() / name;
}

std::ostream& operator<<(std::ostream& stream, const Call& call) {
    stream << call.command << "\nstatus " << call.status << "\n" << call.json_defect;
    for (const std::string* text : {&call.out, &call.err})
        stream << (text->size() > 4000 ? "..." + text->substr(text->size() - 4000) : *text);
    return stream;
}

Process::Process(const Arguments& argv) {
    out_ = ::memfd_create("stdout", MFD_CLOEXEC);
    err_ = ::memfd_create("stderr", MFD_CLOEXEC);
    std::vector<char*> words;
    for (const std::string& word : argv)
        words.push_back(const_cast<char*>(word.c_str()));
    words.push_back(nullptr);
    pid_ = ::fork();
    if (pid_ == 0) {
        ::setpgid(0, 0);
        ::dup2(out_, STDOUT_FILENO);
        ::dup2(err_, STDERR_FILENO);
        ::execv(words[0], words.data());
        ::_exit(127);
    }
}

Process::~Process() {
    if (pid_ > 0) {
        kill(SIGKILL);
        ::waitpid(pid_, nullptr, 0);
    }
    ::close(out_);
    ::close(err_);
}

void Process::kill(int signal) {
    if (pid_ > 0)
        ::kill(pid_, signal);
}

int Process::wait(seconds limit) {
    const auto end = Clock::now() + limit;
    bool in_time = true;
    while (pid_ > 0) {
        int status = 0;
        if (::waitpid(pid_, &status, WNOHANG) == pid_) {
            pid_ = -1;
            if (!in_time)
                return -1;
            return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
        if (in_time && Clock::now() > end) {
            in_time = false;
            kill(SIGKILL);
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return -1;
}

std::string Process::out() const {
    return descriptor_contents(out_);
}

std::string Process::err() const {
    return descriptor_contents(err_);
}

Call pctctl(const Arguments& arguments, seconds limit, const std::string& program) {
    const Directory directory;
    const std::string file = directory.path() + "/result.json";
    Arguments argv = {program};
    auto rest = arguments.begin();
    if (rest != arguments.end() && *rest == "replay")
        argv.push_back(*rest++);
    // Of an option that is given twice the last one counts: the caller's.
    argv.insert(argv.end(), {"--json", file, "--out", directory.path() + "/out"});
    argv.insert(argv.end(), rest, arguments.end());

    Call call;
    call.command = join(argv);
    Process process(argv);
    call.status = process.wait(limit);
    call.out = process.out();
    call.err = process.err();
    if (call.status == -1)
        call.err += "\n(not over after " + std::to_string(limit.count()) + " s)\n";
    if (!fs::exists(file)) {
        call.json_defect = "(no JSON)\n";
        return call;
    }
    try {
        call.summary = summary_from(json::parse(contents(file)));
        call.reported = true;
    } catch (const std::exception& error) {
        call.json_defect = std::string("JSON: ") + error.what() + "\n";
    }
    return call;
}

InTurn::InTurn(const std::vector<std::string>& commands, unsigned times) {
    std::ofstream lines(directory_.path() + "/commands");
    for (const std::string& command : commands)
        lines << command << "\n";
    std::ofstream(directory_.path() + "/next") << std::string(sizeof(unsigned), '\0');
    command_ = {built("programs/in_turn"), directory_.path(), std::to_string(times)};
    runs_ = static_cast<unsigned>(commands.size()) * times;
}

double Rate::at(double k) const {
    return numerator / denominator / std::pow(k, exponent);
}

std::string Animal::path() const {
    return built("zoo/" + name);
}

std::ostream& operator<<(std::ostream& stream, const Animal& animal) {
    return stream << animal.name;
}

namespace {

std::vector<Animal> read_zoo() {
    std::vector<Animal> all;
    for (const auto& entry : fs::directory_iterator(PCTCTL_ZOO_SOURCES))
        if (entry.path().extension() == ".c")
            all.push_back(animal_from(entry.path()));
    std::sort(all.begin(), all.end(),
              [](const Animal& a, const Animal& b) { return a.name < b.name; });
    return all;
}

} // namespace

std::vector<Animal> zoo() {
    static const std::vector<Animal> all = read_zoo(); // kept: it reads a file for each program
    return all;
}

Animal animal(std::string_view name) {
    return animal_from(fs::path(PCTCTL_ZOO_SOURCES) / (std::string(name) + ".c"));
}

Interval clopper_pearson(std::uint64_t successes, std::uint64_t trials, double confidence) {
    const double tail = (1 - confidence) / 2;
    Interval interval;
    if (successes > 0) // P(X >= successes) = tail
        interval.low = solve_falling(
            [&](double p) { return binomial_cdf(successes - 1, trials, p); }, 1 - tail);
    if (successes < trials)
        interval.high =
            solve_falling([&](double p) { return binomial_cdf(successes, trials, p); }, tail);
    return interval;
}

std::uint64_t runs_needed(double p, double miss) {
    return static_cast<std::uint64_t>(std::ceil(std::log(miss) / std::log1p(-p)));
}

Directory::Directory() : path_("/tmp/vmtest-XXXXXX") {
    if (!::mkdtemp(path_.data()))
        throw std::runtime_error("no directory in /tmp");
}

Directory::~Directory() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
}

std::string contents(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

std::vector<std::string> lines(std::string_view text) {
    std::vector<std::string> all;
    std::istringstream in{std::string(text)};
    for (std::string line; std::getline(in, line);)
        all.push_back(line);
    return all;
}

Traces Traces::now() {
    return {find_processes(), find_cgroups(), find_bpf_objects(), find_files(),
            first_line("/sys/kernel/sched_ext/state")};
}

std::vector<std::string> Traces::beyond(const Traces& before) const {
    std::vector<std::string> more;
    const auto compare = [&](const std::vector<std::string>& here,
                             const std::vector<std::string>& there) {
        for (const std::string& one : here)
            if (std::find(there.begin(), there.end(), one) == there.end())
                more.push_back(one);
    };
    compare(processes, before.processes);
    compare(cgroups, before.cgroups);
    compare(bpf, before.bpf);
    compare(files, before.files);
    if (scheduler != before.scheduler)
        more.push_back("sched_ext is " + scheduler);
    return more;
}

std::vector<std::string> left_behind(const Traces& before, seconds limit) {
    const auto end = Clock::now() + limit;
    while (true) {
        std::vector<std::string> left = Traces::now().beyond(before);
        if (left.empty() || Clock::now() > end)
            return left;
        std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
}

} // namespace vmtest
