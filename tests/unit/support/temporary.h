// SPDX-License-Identifier: GPL-2.0-only
// A new directory for a test. The destructor removes it with its contents.
#pragma once

#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

namespace pctctl::test {

class TemporaryDirectory {
public:
    TemporaryDirectory() {
        std::string name = std::filesystem::temp_directory_path() / "unit-test.XXXXXX";
        if (!::mkdtemp(name.data()))
            throw std::runtime_error("mkdtemp");
        path_ = name;
    }
    TemporaryDirectory(const TemporaryDirectory&) = delete;
    ~TemporaryDirectory() {
        std::error_code error;
        std::filesystem::remove_all(path_, error);
    }

    const std::string& path() const { return path_; }

    // Writes a file and makes the directories that it needs. Returns its path.
    std::string file(const std::string& name, const std::string& text, mode_t mode = 0644) const {
        std::filesystem::path path = path_ + "/" + name;
        std::filesystem::create_directories(path.parent_path());
        std::ofstream(path, std::ios::binary) << text;
        ::chmod(path.c_str(), mode);
        return path;
    }

    void remove(const std::string& name) const { std::filesystem::remove_all(path_ + "/" + name); }

private:
    std::string path_;
};

} // namespace pctctl::test
