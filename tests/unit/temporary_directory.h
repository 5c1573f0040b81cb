// SPDX-License-Identifier: GPL-2.0-only
// A directory for one test, removed with all its contents.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace pctctl {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        path_ = (std::filesystem::canonical(std::filesystem::temp_directory_path()) /
                 "pctctl-test-XXXXXX")
                    .string();
        if (!::mkdtemp(path_.data()))
            throw std::runtime_error("no temporary directory");
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code ignored;
        std::filesystem::remove_all(path_, ignored);
    }

    std::filesystem::path path() const { return path_; }
    std::filesystem::path operator/(const std::string& name) const { return path() / name; }

private:
    std::string path_;
};

inline std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

} // namespace pctctl
