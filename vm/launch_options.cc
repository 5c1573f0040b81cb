// SPDX-License-Identifier: GPL-2.0-only
#include "launch_options.h"

#include <cstdio>
#include <cstdlib>
#include <sys/stat.h>

#include "launch_status.h"

namespace vm {
namespace {

constexpr const char* kHelp =
    "Usage: vm/run [--cpus N] [--memory SIZE] [--timeout SEC] [--rw DIR]... -- CMD [ARG...]\n"
    "\n"
    "Runs CMD as root in a virtual machine whose kernel has sched_ext. It sees this machine's\n"
    "files; what it changes is thrown away, except below the current directory and each --rw DIR.\n"
    "\n"
    "  --cpus N        virtual CPUs (2)\n"
    "  --memory SIZE   memory, such as 512M or 4G (2G)\n"
    "  --timeout SEC   end after so many seconds, boot included (none)\n"
    "  --rw DIR        share this directory for writing too; may be repeated\n"
    "\n"
    "Exit status: CMD's own, 128+N when signal N ended it; 124 after --timeout, 125 when the\n"
    "virtual machine failed, 126 when CMD cannot be executed, 127 when it is not found,\n"
    "2 for a wrong command line.\n";

int usage(const std::string& what) {
    complain(what + " (see vm/run --help)");
    return kUsage;
}

bool parse_memory(const std::string& text) {
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

} // namespace

std::optional<int> parse_options(int argc, char** argv, Options& options) {
    int i = 1;
    for (; i < argc; ++i) {
        std::string name = argv[i];
        if (name == "--") {
            ++i;
            break;
        }
        if (name == "--help" || name == "-h") {
            std::fputs(kHelp, stdout);
            return 0;
        }
        if (name[0] != '-')
            return usage("unexpected '" + name + "': the command follows after --");
        std::string value;
        if (const auto equals = name.find('='); equals != std::string::npos) {
            value = name.substr(equals + 1);
            name.resize(equals);
        } else if (i + 1 < argc) {
            value = argv[++i];
        } else {
            return usage(name + " needs a value, or is unknown");
        }
        char* end = nullptr;
        if (name == "--init") {
            options.init = value;
        } else if (name == "--kernel") {
            options.kernel = value;
        } else if (name == "--cpus") {
            const long n = std::strtol(value.c_str(), &end, 10);
            if (value.empty() || *end || n < 1 || n > 255)
                return usage("--cpus wants a number from 1 to 255, not '" + value + "'");
            options.cpus = static_cast<int>(n);
        } else if (name == "--memory") {
            if (!parse_memory(value))
                return usage("--memory wants a size such as 512M or 4G (256M at least), not '" +
                             value + "'");
            options.memory = value;
        } else if (name == "--timeout") {
            const double seconds = std::strtod(value.c_str(), &end);
            if (value.empty() || *end || !(seconds > 0) || seconds > 1e7)
                return usage("--timeout wants seconds, not '" + value + "'");
            options.timeout = std::chrono::milliseconds(static_cast<long>(seconds * 1000));
        } else if (name == "--rw") {
            char* path = ::realpath(value.c_str(), nullptr);
            struct stat status{};
            if (!path || ::stat(path, &status) || !S_ISDIR(status.st_mode)) {
                std::free(path);
                return usage("--rw: '" + value + "' is not a directory");
            }
            options.writable.emplace_back(path);
            std::free(path);
        } else {
            return usage("unknown option " + name);
        }
    }
    for (; i < argc; ++i)
        options.command.emplace_back(argv[i]);
    if (options.command.empty())
        return usage("no command; it follows after --");
    return std::nullopt;
}

} // namespace vm
