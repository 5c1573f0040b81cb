// SPDX-License-Identifier: GPL-2.0-only
#include "judge/proc_tree.h"

#include <dirent.h>
#include <unistd.h>

#include <charconv>
#include <climits>
#include <memory>

#include "base/files.h"
#include "base/proc_text.h"

namespace pctctl {

std::optional<std::string> read_link(const std::string& path) {
    char target[PATH_MAX];
    ssize_t size = ::readlink(path.c_str(), target, sizeof target);
    if (size < 0)
        return std::nullopt;
    return std::string(target, static_cast<size_t>(size));
}

std::optional<std::vector<int>> numbers_in(const std::string& directory) {
    std::unique_ptr<DIR, int (*)(DIR*)> dir(::opendir(directory.c_str()), &::closedir);
    if (!dir)
        return std::nullopt;
    std::vector<int> result;
    while (const dirent* entry = ::readdir(dir.get())) {
        std::string_view name = entry->d_name;
        int value = 0;
        auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), value);
        if (error == std::errc() && end == name.data() + name.size())
            result.push_back(value);
    }
    return result;
}

std::vector<std::string> descriptor_directories(const std::string& process,
                                                const std::string& kind) {
    std::vector<std::string> places{process + "/" + kind};
    // When a process' first thread has ended, only its other threads show them.
    if (parse_state(read_text(process + "/stat").value_or("")) == 'Z')
        for (int tid : numbers_in(process + "/task").value_or(std::vector<int>()))
            places.push_back(process + "/task/" + std::to_string(tid) + "/" + kind);
    return places;
}

std::string own_number(std::string_view status, const char* field, pid_t fallback) {
    // One number for each namespace, from the outermost to its own: "4711\t12".
    const std::string numbers = parse_field(status, field).value_or("");
    if (numbers.empty())
        return std::to_string(fallback);
    const size_t last = numbers.find_last_of(" \t");
    return last == std::string::npos ? numbers : numbers.substr(last + 1);
}

} // namespace pctctl
