// SPDX-License-Identifier: GPL-2.0-only
#include "elf_layout.h"

#include <fcntl.h>
#include <gelf.h>
#include <link.h>

#include <memory>
#include <string_view>

#include "fd.h"

namespace pctctl {
namespace {

struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfHandle = std::unique_ptr<Elf, ElfEnd>;

ElfHandle open_elf(int fd) {
    elf_version(EV_CURRENT);
    return ElfHandle(elf_begin(fd, ELF_C_READ, nullptr));
}

template <typename F> void for_each_segment(Elf* elf, F&& visit) {
    std::size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (std::size_t i = 0; i < count; ++i) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, static_cast<int>(i), &header))
            visit(header);
    }
}

// Dynamic symbols of a library; all symbols of a static program, which has no others.
template <typename F> void for_each_symbol(Elf* elf, F&& visit) {
    for (Elf_Scn* section = elf_nextscn(elf, nullptr); section;
         section = elf_nextscn(elf, section)) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header) || header.sh_entsize == 0 ||
            (header.sh_type != SHT_DYNSYM && header.sh_type != SHT_SYMTAB))
            continue;
        Elf_Data* data = elf_getdata(section, nullptr);
        for (std::size_t i = 0; data && i < header.sh_size / header.sh_entsize; ++i) {
            GElf_Sym symbol;
            if (!gelf_getsym(data, static_cast<int>(i), &symbol) || symbol.st_value == 0)
                continue;
            if (const char* name = elf_strptr(elf, header.sh_link, symbol.st_name))
                visit(std::string_view(name), symbol);
        }
    }
}

} // namespace

Result<pct_object> describe_object(int fd, std::span<const LibcPoint> points) {
    const ElfHandle elf = open_elf(fd);
    if (!elf)
        return Error::environment("the C library's copy is not an ELF file");

    pct_object object = {};
    std::uint64_t address_to_offset = 0; // of the text segment
    for_each_segment(elf.get(), [&](const GElf_Phdr& header) {
        if (header.p_type != PT_LOAD || !(header.p_flags & PF_X))
            return;
        object.text_start = header.p_offset;
        object.text_end = header.p_offset + header.p_filesz;
        address_to_offset = header.p_vaddr - header.p_offset;
    });
    for_each_symbol(elf.get(), [&](std::string_view name, const GElf_Sym& symbol) {
        if (name != "syscall")
            return;
        object.syscall_start = symbol.st_value - address_to_offset;
        object.syscall_end = object.syscall_start + symbol.st_size;
    });
    for (const LibcPoint& point : points)
        if (point.index < PCT_OBJECT_POINTS)
            object.point_offset[point.index] = point.offset;
    return object;
}

Result<std::uint64_t> loader_text_size(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const ElfHandle elf = file ? open_elf(file.get()) : ElfHandle();
    if (!elf)
        return Error::environment("cannot read the dynamic loader " + path);
    std::uint64_t end = 0;
    for_each_segment(elf.get(), [&](const GElf_Phdr& header) {
        if (header.p_type == PT_LOAD && (header.p_flags & PF_X))
            end = header.p_vaddr + header.p_memsz;
    });
    return end;
}

std::string own_loader() {
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i)
                if (info->dlpi_phdr[i].p_type == PT_INTERP)
                    *static_cast<std::string*>(out) = reinterpret_cast<const char*>(
                        info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            return 0;
        },
        &path);
    return path;
}

} // namespace pctctl
