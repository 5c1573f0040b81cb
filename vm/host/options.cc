// SPDX-License-Identifier: GPL-2.0-only
#include "options.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <sys/stat.h>

#include <CLI/CLI.hpp>

#include "status.h"

namespace vm {
namespace {

constexpr const char* kUsageText =
    "Usage: vm/run [--cpus N] [--memory SIZE] [--timeout SEC] [--rw DIR]... -- CMD [ARG...]\n"
    "       vm/run --pool NAME [--guests N] [--cpus N] [--memory SIZE] [--rw DIR]...\n"
    "       vm/run --in NAME [--timeout SEC] -- CMD [ARG...]\n"
    "       vm/run --end NAME\n"
    "\n"
    "Runs CMD as root in a virtual machine whose kernel has sched_ext. It sees this machine's\n"
    "files; what it changes is thrown away, except below the current directory and each --rw "
    "DIR.\n";

constexpr const char* kFooter =
    "Exit status: CMD's own, 128+N when signal N ended it; 124 after --timeout, 125 when the\n"
    "virtual machine failed, 126 when CMD cannot be executed, 127 when it is not found,\n"
    "2 for a wrong command line.";

class HelpFormatter : public CLI::Formatter {
public:
    HelpFormatter() { column_width(20); }

    std::string make_usage(const CLI::App*, std::string) const override { return kUsageText; }
    std::string make_description(const CLI::App*) const override { return {}; }
    std::string make_positionals(const CLI::App*) const override { return {}; }
};

[[noreturn]] void refuse(const std::string& what) {
    throw CLI::ValidationError(what);
}

double number(const std::string& text) { // NaN: it is none
    char* end = nullptr;
    const double value = std::strtod(text.c_str(), &end);
    return text.empty() || *end ? std::strtod("nan", nullptr) : value;
}

bool is_memory(const std::string& text) {
    char* end = nullptr;
    const unsigned long value = std::strtoul(text.c_str(), &end, 10);
    if (end == text.c_str() || text[0] == '-' || value == 0)
        return false;
    const std::string unit = end;
    const unsigned long megabytes = unit == "G" || unit == "g"   ? value * 1024
                                    : unit == "M" || unit == "m" ? value
                                                                 : 0;
    return megabytes >= 256 && megabytes <= 1024UL * 1024;
}

std::string directory(const std::string& name) {
    char* path = ::realpath(name.c_str(), nullptr);
    struct stat status{};
    const bool right = path && ::stat(path, &status) == 0 && S_ISDIR(status.st_mode);
    const std::string absolute = right ? path : "";
    std::free(path);
    if (!right)
        refuse("--rw: '" + name + "' is not a directory");
    return absolute;
}

class Parser {
public:
    explicit Parser(Options& options) : options_(options) {
        app_.formatter(std::make_shared<HelpFormatter>());
        app_.footer(kFooter);
        app_.set_help_flag("-h,--help", "this text");
        app_.get_help_ptr()->group("Options");
        add_parts();
        add_machine();
        add_pool();
    }

    // The words before "--". Throws what CLI11 does.
    void parse(std::vector<std::string> words) {
        std::reverse(words.begin(), words.end()); // as CLI11 wants them
        app_.allow_extras();
        app_.parse(std::move(words));
        if (const Strings left = app_.remaining(); !left.empty()) {
            const std::string& word = left.front();
            refuse(word[0] == '-' ? "unknown option " + word.substr(0, word.find('='))
                                  : "unexpected '" + word + "': the command follows after --");
        }
        check();
    }
    std::string help() const { return app_.help(); }

private:
    using Strings = std::vector<std::string>;

    // An option of which the last one counts.
    CLI::Option* add(const std::string& name, const std::string& type,
                     const std::string& description,
                     const std::function<void(const std::string&)>& take) {
        return app_
            .add_option_function<Strings>(
                name, [take](const Strings& values) { take(values.back()); }, description)
            ->type_name(type)
            ->expected(1)
            ->allow_extra_args(false)
            ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
    }

    void add_parts() { // told by vm/run
        add("--init", "FILE", "", [this](const auto& v) { options_.init = v; })->group("");
        add("--kernel", "DIR", "", [this](const auto& v) { options_.kernel = v; })->group("");
    }

    void add_machine() {
        machine_ = {
            add("--cpus", "N", "virtual CPUs (2)",
                [this](const std::string& v) {
                    const double n = number(v);
                    if (!(n >= 1 && n <= 255) || n != static_cast<int>(n))
                        refuse("--cpus wants a number from 1 to 255, not '" + v + "'");
                    options_.cpus = static_cast<int>(n);
                }),
            add("--memory", "SIZE", "memory, such as 512M or 4G (2G)",
                [this](const std::string& v) {
                    if (!is_memory(v))
                        refuse("--memory wants a size such as 512M or 4G (256M at least), not '" +
                               v + "'");
                    options_.memory = v;
                }),
            app_.add_option_function<Strings>(
                    "--rw",
                    [this](const Strings& names) {
                        for (const std::string& name : names)
                            options_.writable.push_back(directory(name));
                    },
                    "share this directory for writing too; may be repeated")
                ->type_name("DIR")
                ->allow_extra_args(false)
                ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)};
        timeout_ = add("--timeout", "SEC", "end after so many seconds, boot included (none)",
                       [this](const std::string& v) {
                           const double seconds = number(v);
                           if (!(seconds > 0) || seconds > 1e7)
                               refuse("--timeout wants seconds, not '" + v + "'");
                           options_.timeout =
                               std::chrono::milliseconds(static_cast<long>(seconds * 1000));
                       });
    }

    void add_pool() {
        const auto name = [](std::string& to) { return [&to](const auto& v) { to = v; }; };
        add("--pool", "NAME", "start guests that stay up, in the background",
            name(options_.start_pool));
        add("--in", "NAME", "run CMD in one of these guests", name(options_.in_pool));
        add("--end", "NAME", "end them", name(options_.end_pool));
        pool_ = {add("--guests", "N", "with --pool: so many at the same time (2)",
                     [this](const std::string& v) {
                         const double n = number(v);
                         if (!(n >= 1 && n <= 64) || n != static_cast<int>(n))
                             refuse("--guests wants a number from 1 to 64, not '" + v + "'");
                         options_.guests = static_cast<unsigned>(n);
                     }),
                 add("--idle", "SEC",
                     "with --pool: they end when nobody has wanted one for so long (300)",
                     [this](const std::string& v) {
                         options_.idle = number(v);
                         if (!(options_.idle > 0) || options_.idle > 1e6)
                             refuse("--idle wants seconds, not '" + v + "'");
                     }),
                 app_.add_flag("--with-parent", options_.with_parent,
                               "with --pool: they end with the process that has started them")};
    }

    void check() const {
        const int modes =
            !options_.start_pool.empty() + !options_.in_pool.empty() + !options_.end_pool.empty();
        if (modes > 1)
            refuse("only one of --pool, --in and --end can be given");
        for (const CLI::Option* option : pool_)
            if (option->count() > 0 && options_.start_pool.empty())
                refuse(option->get_name() + " goes with --pool only");
        for (const CLI::Option* option : machine_)
            if (option->count() > 0 && modes > 0 && options_.start_pool.empty())
                refuse(option->get_name() + " is for --pool to say");
        if (timeout_->count() > 0 && (!options_.start_pool.empty() || !options_.end_pool.empty()))
            refuse("--timeout is a command's");
    }

    Options& options_;
    CLI::App app_;
    std::vector<CLI::Option*> machine_, pool_; // options of a guest, of --pool
    CLI::Option* timeout_ = nullptr;
};

int usage(const std::string& what) {
    complain(what + " (see vm/run --help)");
    return kUsage;
}

} // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
    std::vector<std::string> words(argv + 1, argv + argc);
    // What follows is the command's, whatever it looks like.
    const auto split = std::find(words.begin(), words.end(), "--");
    if (split != words.end())
        options.command.assign(split + 1, words.end());
    words.erase(split, words.end());

    Parser parser(options);
    try {
        parser.parse(words);
    } catch (const CLI::CallForHelp&) {
        std::fputs(parser.help().c_str(), stdout);
        return 0;
    } catch (const CLI::ArgumentMismatch& error) {
        const std::string text = error.what();
        return usage(text.substr(0, text.find(':')) + " needs a value");
    } catch (const CLI::ParseError& error) {
        return usage(error.what());
    }
    const bool wants_command = options.start_pool.empty() && options.end_pool.empty();
    if (wants_command && options.command.empty())
        return usage("no command; it follows after --");
    if (!wants_command && !options.command.empty())
        return usage("--pool and --end run no command");
    return std::nullopt;
}

} // namespace vm
