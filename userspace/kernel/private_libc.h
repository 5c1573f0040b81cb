// SPDX-License-Identifier: GPL-2.0-only
// A copy of the C library that only the program under test sees, and where its sync points are.
//
// A uprobe belongs to an inode: on the system's library it would slow every process of the machine.
// The copy lives on a tmpfs that is mounted nowhere (it exists as long as a descriptor of it does,
// so nothing can be left behind) and is bound over the library's path in the program's mount
// namespace only.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Private copy of a regular file. Move-only; the copy goes with the last descriptor and mount of
// it.
class PrivateFile {
public:
    static Result<PrivateFile> copy(const std::string& path); // needs CAP_SYS_ADMIN

    const std::string& original() const { return original_; } // absolute, without symbolic links
    int fd() const { return file_.get(); } // for reading and, until close_for_writing(), writing
    // The kernel executes no file that somebody has open for writing.
    Status close_for_writing();
    // Names the copy's inode to uprobes and BPF links in this process.
    std::string probe_path() const;
    // Detached mount holding the copy as kName; a mount namespace may attach it, once.
    int mount() const { return mount_.get(); }
    static constexpr const char* kName = "copy";

private:
    PrivateFile(std::string original, Fd mount, Fd file)
        : original_(std::move(original)), mount_(std::move(mount)), file_(std::move(file)) {}

    std::string original_;
    Fd mount_;
    Fd file_;
};

// A place for a uprobe.
struct LibcPoint {
    std::uint64_t offset; // in the file
    unsigned index;       // position in PCT_LIBC_POINTS
    bool operator==(const LibcPoint&) const = default;
};

// The C library mapped into this process, without symbolic links in the path.
Result<std::string> libc_path();

// Sync points of a shared library from its dynamic symbols: default versions only, one point for
// each address (the first in PCT_LIBC_POINTS wins). An x86 uprobe on an instruction with a LOCK
// prefix never fires; where a function begins with one (pthread_spin_lock), its symbols are pointed
// to a `nop; jmp function` written into the padding behind it and the point is at the nop. So the
// file must be a private copy that no process uses yet.
Result<std::vector<LibcPoint>> prepare_libc_points(int fd);

struct ProgramInfo {
    std::string path;              // what will be mapped and executed: after PATH and #! lines
    bool is_static = false;        // has no interpreter (ld.so), so a private libc is not used
    std::vector<LibcPoint> points; // of a static program with symbols, in the file `path`
};

// Looks name up as execvp would. Error of usage when it cannot be found or executed.
Result<ProgramInfo> inspect_program(const std::string& name);

// The one line for a program that cannot be executed for the errno value given.
Error cannot_run(const std::string& name, int error);

} // namespace pctctl
