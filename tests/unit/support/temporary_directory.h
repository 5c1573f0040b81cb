// SPDX-License-Identifier: GPL-2.0-only
// A new directory for a test, with its path free of symbolic links, and helpers for whole files.
#pragma once

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "support/temporary.h"

namespace pctctl {

class TemporaryDirectory {
public:
    std::filesystem::path path() const { return std::filesystem::canonical(directory_.path()); }
    std::filesystem::path operator/(const std::string& name) const { return path() / name; }

private:
    test::TemporaryDirectory directory_;
};

inline std::string contents(const std::filesystem::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline void put(const std::filesystem::path& file, const std::string& text) {
    std::ofstream(file, std::ios::binary) << text;
}

} // namespace pctctl
