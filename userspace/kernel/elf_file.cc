// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/elf_file.h"

#include <cstddef>

namespace pctctl {

ElfPtr open_elf(int fd) {
    elf_version(EV_CURRENT);
    ElfPtr elf(elf_begin(fd, ELF_C_READ, nullptr));
    if (!elf || elf_kind(elf.get()) != ELF_K_ELF || gelf_getclass(elf.get()) != ELFCLASS64)
        return nullptr;
    return elf;
}

std::vector<GElf_Phdr> executable_segments(Elf* elf) {
    std::vector<GElf_Phdr> segments;
    std::size_t count = 0;
    elf_getphdrnum(elf, &count);
    for (std::size_t i = 0; i < count; i++) {
        GElf_Phdr segment;
        if (gelf_getphdr(elf, static_cast<int>(i), &segment) && segment.p_type == PT_LOAD &&
            (segment.p_flags & PF_X))
            segments.push_back(segment);
    }
    return segments;
}

std::optional<std::uint64_t> file_offset(Elf* elf, std::uint64_t address) {
    for (const GElf_Phdr& segment : executable_segments(elf))
        if (address >= segment.p_vaddr && address < segment.p_vaddr + segment.p_filesz)
            return address - segment.p_vaddr + segment.p_offset;
    return std::nullopt;
}

std::vector<Symbol> functions(Elf* elf, Elf64_Word table_type) {
    Elf_Scn* table = nullptr;
    Elf_Data* versions = nullptr;
    for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf, section));) {
        GElf_Shdr header;
        if (!gelf_getshdr(section, &header))
            continue;
        if (header.sh_type == table_type)
            table = section;
        if (header.sh_type == SHT_GNU_versym && table_type == SHT_DYNSYM)
            versions = elf_getdata(section, nullptr);
    }
    std::vector<Symbol> result;
    GElf_Shdr header;
    Elf_Data* data = table ? elf_getdata(table, nullptr) : nullptr;
    if (!data || !gelf_getshdr(table, &header) || header.sh_entsize == 0)
        return result;
    int count = static_cast<int>(header.sh_size / header.sh_entsize);
    for (int i = 0; i < count; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF ||
            GELF_ST_TYPE(symbol.st_info) != STT_FUNC)
            continue;
        const char* name = elf_strptr(elf, header.sh_link, symbol.st_name);
        GElf_Versym version = 0;
        if (versions)
            gelf_getversym(versions, i, &version);
        if (name)
            result.push_back({name, symbol.st_value, symbol.st_size,
                              header.sh_offset + static_cast<std::uint64_t>(i) * sizeof(Elf64_Sym) +
                                  offsetof(Elf64_Sym, st_value),
                              (version & 0x8000) == 0});
    }
    return result;
}

} // namespace pctctl
