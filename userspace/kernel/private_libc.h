// SPDX-License-Identifier: GPL-2.0-only
// A private copy of the C library, which only the program under test sees, and its scheduling
// points.
//
// A uprobe belongs to an inode: on the system's library it would slow down every process of the
// machine. So the copy is bound over the library's path, in the program's mount namespace only. It
// lives on a tmpfs that is mounted nowhere and exists as long as a descriptor of it does. So
// nothing can be left behind.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/fd.h"
#include "base/result.h"

namespace pctctl {

// Private copy of a regular file. Move-only. The copy vanishes with its last descriptor and mount.
class PrivateFile {
public:
    static Result<PrivateFile> copy(const std::string& path); // needs CAP_SYS_ADMIN

    const std::string& original() const { return original_; } // absolute, without symbolic links
    int fd() const { return file_.get(); } // for reading; before close_for_writing() also writing
    // Must be called before the copy is executed: the kernel executes no file that is open for
    // writing.
    Status close_for_writing();
    // A path by which this process can name the copy's inode to uprobes and BPF links.
    std::string probe_path() const;
    // A detached mount that has the copy as kName. One mount namespace may attach it, once.
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

// Scheduling points of a shared library, found by its dynamic symbols: default versions only, one
// point for each address (the first in PCT_LIBC_POINTS wins).
//
// An x86 uprobe on an instruction with a LOCK prefix never fires. Where a function begins with one
// (pthread_spin_lock), this writes a `nop; jmp function` into the padding behind it, lets the
// symbols point there, and takes the nop as the point. So the file must be a private copy that no
// process uses yet.
Result<std::vector<LibcPoint>> prepare_libc_points(int fd);

struct ProgramInfo {
    std::string path;              // the file that is executed in the end, after PATH and #! lines
    bool is_static = false;        // has no dynamic loader, so it does not use the private libc
    std::vector<LibcPoint> points; // of a static program with symbols, in the file `path`
};

// Looks name up as execvp would. Error of usage if it cannot be found or executed.
Result<ProgramInfo> inspect_program(const std::string& name);

// The error, one line, for a program that cannot be executed; `error` is the errno value.
Error cannot_run(const std::string& name, int error);

} // namespace pctctl
