// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/private_libc.h"

#include <elf.h>
#include <fcntl.h>
#include <gelf.h>
#include <libelf.h>
#include <link.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <optional>
#include <span>

#include "base/files.h"
#include "base/text.h"
#include "kernel/elf_file.h"
#include "pctctl/points.h"

namespace pctctl {

namespace {

constexpr const char* kPointNames[] = {
#define X(symbol, traits) #symbol,
    PCT_LIBC_POINTS(X)
#undef X
};

std::optional<unsigned> point_index(std::string_view symbol) {
    for (unsigned i = 0; i < std::size(kPointNames); i++)
        if (symbol == kPointNames[i])
            return i;
    return std::nullopt;
}

std::string real_path(const std::string& path) {
    std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
    return real ? real.get() : "";
}

Error not_elf() {
    return Error::environment(std::string("cannot read the C library's symbols: ") +
                              (elf_errno() ? elf_errmsg(-1) : "not a 64-bit ELF file"));
}

constexpr std::uint8_t kNop = 0x90, kLock = 0xf0, kJmpRel8 = 0xeb, kJmpRel32 = 0xe9;

// How many bytes at the beginning are padding. Assemblers pad with int3, or with no-operation
// instructions of any length (0f 1f with an operand, and prefixes).
size_t padding_length(std::span<const std::uint8_t> code) {
    size_t at = 0;
    for (;;) {
        size_t next = at;
        while (next < code.size() && (code[next] == 0x66 || code[next] == 0x2e))
            next++;
        if (next < code.size() && (code[next] == kNop || code[next] == 0xcc)) {
            next += 1;
        } else if (next + 2 < code.size() && code[next] == 0x0f && code[next + 1] == 0x1f) {
            switch (code[next + 2]) { // ModRM says how long the address is
            case 0x00:
                next += 3;
                break;
            case 0x40:
                next += 4;
                break;
            case 0x44:
                next += 5;
                break;
            case 0x80:
                next += 7;
                break;
            case 0x84:
                next += 8;
                break;
            default:
                return at;
            }
        } else {
            return at;
        }
        if (next > code.size())
            return at;
        at = next;
    }
}

// The bytes of `nop; jmp target`, to be placed at address. Empty if they do not fit in room bytes.
std::vector<std::uint8_t> entry_thunk(std::uint64_t address, std::uint64_t target, size_t room) {
    std::vector<std::uint8_t> code{kNop};
    auto distance = static_cast<std::int64_t>(target - address);
    if (distance - 3 >= INT8_MIN && distance - 3 <= INT8_MAX) {
        code.push_back(kJmpRel8);
        code.push_back(static_cast<std::uint8_t>(distance - 3));
    } else {
        code.push_back(kJmpRel32);
        auto relative = static_cast<std::uint32_t>(distance - 6);
        for (int i = 0; i < 4; i++)
            code.push_back(static_cast<std::uint8_t>(relative >> (8 * i)));
    }
    if (code.size() > room)
        code.clear();
    return code;
}

std::string executable_in_path(const std::string& name, int& error) {
    auto executable = [&](const std::string& path) {
        struct stat status;
        if (::stat(path.c_str(), &status) != 0)
            error = errno == ENOENT && error ? error : errno;
        else if (!S_ISREG(status.st_mode) || ::access(path.c_str(), X_OK) != 0)
            error = EACCES;
        else
            return true;
        return false;
    };
    error = 0;
    if (name.empty()) {
        error = ENOENT;
        return "";
    }
    if (name.find('/') != std::string::npos)
        return executable(name) ? name : "";
    const char* path = std::getenv("PATH");
    std::string_view rest = path ? path : "/bin:/usr/bin";
    for (;;) { // an empty part means the current directory
        size_t end = std::min(rest.find(':'), rest.size());
        std::string directory(rest.substr(0, end));
        std::string candidate = directory.empty() ? name : directory + "/" + name;
        if (executable(candidate))
            return candidate;
        if (end == rest.size())
            break;
        rest.remove_prefix(end + 1);
    }
    if (error == ENOTDIR)
        error = ENOENT;
    return "";
}

} // namespace

Error cannot_run(const std::string& name, int error) {
    std::string text = "cannot run '" + name + "': " + errno_text(error);
    switch (error) {
    case ENOENT:
        text += name.find('/') == std::string::npos
                    ? "; no such program in PATH"
                    : "; check the path, and the interpreter the file names";
        break;
    case EACCES:
        text += "; it must be a file the user may execute ('chmod +x'), on a file system not "
                "mounted noexec";
        break;
    case ENOEXEC:
        text += "; it is neither a program of this machine's kind nor a script with a '#!' line";
        break;
    case E2BIG:
        text += "; the arguments and the environment are too long together";
        break;
    }
    return Error::usage(text);
}

Result<PrivateFile> PrivateFile::copy(const std::string& path) {
    auto failed = [&](const std::string& what) {
        int error = errno;
        return Error::environment("cannot make a private copy of '" + path + "': " + what + ": " +
                                  errno_text(error) + (error == EPERM ? "; run as root" : ""));
    };
    std::string original = real_path(path);
    Fd source(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    struct stat status;
    if (original.empty() || !source || ::fstat(source.get(), &status) != 0)
        return failed("open");
    Fd context(::fsopen("tmpfs", FSOPEN_CLOEXEC));
    if (!context)
        return failed("fsopen");
    ::fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", "0755", 0);
    if (::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0) != 0)
        return failed("fsconfig");
    Fd mount(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NODEV));
    if (!mount)
        return failed("fsmount");
    Fd file(::openat(mount.get(), kName, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0755));
    if (!file)
        return failed("create");
    for (off_t at = 0; at < status.st_size;) {
        std::vector<char> buffer(1 << 20);
        ssize_t n = ::pread(source.get(), buffer.data(), buffer.size(), at);
        if (n <= 0)
            return failed("read");
        for (ssize_t done = 0; done < n;) {
            ssize_t m = ::pwrite(file.get(), buffer.data() + done, static_cast<size_t>(n - done),
                                 at + done);
            if (m < 0)
                return failed("write");
            done += m;
        }
        at += n;
    }
    // A set-user-id program runs as its owner here too, except where its file system forbids that.
    // Writing and changing the owner clear these bits, so they are set last.
    struct statvfs place{};
    const bool set_ids = ::fstatvfs(source.get(), &place) == 0 && !(place.f_flag & ST_NOSUID);
    const mode_t mode = status.st_mode & (set_ids ? 07777 : 01777);
    if (::fchown(file.get(), status.st_uid, status.st_gid) != 0 && (mode & (S_ISUID | S_ISGID)))
        return failed("give it to its owner");
    if (::fchmod(file.get(), mode) != 0) // whatever the umask
        return failed("set its mode");
    return PrivateFile(std::move(original), std::move(mount), std::move(file));
}

Status PrivateFile::close_for_writing() {
    Fd file(::openat(mount_.get(), kName, O_RDONLY | O_CLOEXEC));
    if (!file)
        return Error::environment("cannot open the private copy of '" + original_ +
                                  "': " + errno_text(errno));
    file_ = std::move(file);
    return Done{};
}

std::string PrivateFile::probe_path() const {
    return "/proc/self/fd/" + std::to_string(file_.get());
}

Result<std::string> libc_path() {
    std::string found;
    dl_iterate_phdr(
        [](dl_phdr_info* info, size_t, void* result) {
            std::string_view path = info->dlpi_name ? info->dlpi_name : "";
            if (path.substr(path.rfind('/') + 1) == "libc.so.6") {
                *static_cast<std::string*>(result) = path;
                return 1;
            }
            return 0;
        },
        &found);
    std::string real = found.empty() ? "" : real_path(found);
    if (real.empty())
        return Error::environment("the C library libc.so.6 is not mapped into pctctl; build it "
                                  "against glibc, not statically");
    return real;
}

Result<std::vector<LibcPoint>> prepare_libc_points(int fd) {
    ElfPtr elf = open_elf(fd);
    if (!elf)
        return not_elf();
    std::vector<Symbol> all = functions(elf.get(), SHT_DYNSYM);
    std::map<std::string_view, const Symbol*> by_name;
    for (const Symbol& symbol : all)
        if (symbol.default_version)
            by_name.try_emplace(symbol.name, &symbol);

    std::vector<LibcPoint> points;
    std::vector<std::uint64_t> addresses;
    for (unsigned i = 0; i < std::size(kPointNames); i++) {
        auto found = by_name.find(kPointNames[i]);
        if (found == by_name.end())
            continue;
        const Symbol& symbol = *found->second;
        if (std::find(addresses.begin(), addresses.end(), symbol.address) != addresses.end())
            continue;
        auto offset = file_offset(elf.get(), symbol.address);
        if (!offset)
            continue;
        addresses.push_back(symbol.address);
        std::uint8_t first = 0;
        if (::pread(fd, &first, 1, static_cast<off_t>(*offset)) == 1 && first == kLock) {
            std::uint8_t behind[16] = {};
            std::uint64_t end = *offset + symbol.size;
            // Functions are aligned to 16 bytes, so the padding ends at the next such address.
            size_t room = (16 - (symbol.address + symbol.size) % 16) % 16;
            if (::pread(fd, behind, room, static_cast<off_t>(end)) != static_cast<ssize_t>(room))
                continue;
            room = padding_length(std::span(behind, room));
            auto thunk = entry_thunk(symbol.address + symbol.size, symbol.address, room);
            if (thunk.empty() ||
                ::pwrite(fd, thunk.data(), thunk.size(), static_cast<off_t>(end)) !=
                    static_cast<ssize_t>(thunk.size()))
                continue;
            Elf64_Addr entry = symbol.address + symbol.size;
            for (const Symbol& alias : all)
                if (alias.address == symbol.address &&
                    ::pwrite(fd, &entry, sizeof entry, static_cast<off_t>(alias.value_at)) !=
                        static_cast<ssize_t>(sizeof entry))
                    return Error::environment("cannot change the private C library: " +
                                              errno_text(errno));
            offset = end;
        }
        points.push_back({*offset, i});
    }
    return points;
}

Result<ProgramInfo> inspect_program(const std::string& name) {
    ProgramInfo info;
    std::string program = name;
    // The kernel follows scripts that are interpreted by scripts five levels deep.
    for (int level = 0; level < 6; level++) {
        int error = 0;
        // The name of an interpreter is a path and is not looked up in PATH.
        std::string found = level == 0 || program.find('/') != std::string::npos
                                ? executable_in_path(program, error)
                                : program;
        if (found.empty())
            return cannot_run(name, error);
        info.path = real_path(found);
        Fd file(::open(found.c_str(), O_RDONLY | O_CLOEXEC));
        char head[256] = {};
        ssize_t size = file ? ::pread(file.get(), head, sizeof head, 0) : 0;
        std::string_view text(head, size > 0 ? static_cast<size_t>(size) : 0);
        if (text.starts_with("#!")) {
            text.remove_prefix(2);
            text = text.substr(0, text.find('\n'));
            text = trimmed(text);
            program = std::string(text.substr(0, text.find_first_of(" \t")));
            continue;
        }
        ElfPtr elf = file ? open_elf(file.get()) : nullptr;
        if (!elf)
            return info; // unreadable, not 64-bit, or a script that execvp gives to /bin/sh
        size_t count = 0;
        elf_getphdrnum(elf.get(), &count);
        info.is_static = true;
        for (size_t i = 0; i < count; i++) {
            GElf_Phdr segment;
            if (gelf_getphdr(elf.get(), static_cast<int>(i), &segment) &&
                segment.p_type == PT_INTERP)
                info.is_static = false;
        }
        if (!info.is_static)
            return info;
        std::vector<std::uint64_t> addresses;
        std::vector<Symbol> all = functions(elf.get(), SHT_SYMTAB);
        std::map<unsigned, const Symbol*> by_index;
        for (const Symbol& symbol : all)
            if (auto index = point_index(symbol.name))
                by_index.try_emplace(*index, &symbol);
        for (const auto& [index, symbol] : by_index) {
            auto offset = file_offset(elf.get(), symbol->address);
            std::uint8_t first = 0;
            if (!offset ||
                std::find(addresses.begin(), addresses.end(), symbol->address) != addresses.end() ||
                ::pread(file.get(), &first, 1, static_cast<off_t>(*offset)) != 1 || first == kLock)
                continue; // prepare_libc_points() redirects symbols; here calls are bound already
            addresses.push_back(symbol->address);
            info.points.push_back({*offset, index});
        }
        return info;
    }
    return cannot_run(name, ELOOP);
}

} // namespace pctctl
