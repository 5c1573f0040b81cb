// SPDX-License-Identifier: GPL-2.0-only
// Reads ELF files, to compute where the probes go.
#pragma once

#include <gelf.h>
#include <libelf.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace pctctl {

struct ElfEnd {
    void operator()(Elf* elf) const { elf_end(elf); }
};
using ElfPtr = std::unique_ptr<Elf, ElfEnd>;

// Null if the file is not a 64-bit ELF file. The descriptor has to stay open.
ElfPtr open_elf(int fd);

std::vector<GElf_Phdr> executable_segments(Elf* elf);

// File offset of a virtual address. Nothing if it is in no executable segment.
std::optional<std::uint64_t> file_offset(Elf* elf, std::uint64_t address);

struct Symbol {
    std::string name;
    std::uint64_t address;
    std::uint64_t size;
    std::uint64_t value_at; // file offset of the symbol's st_value
    bool default_version;
};

// Functions defined in the symbol table of the given type (SHT_DYNSYM or SHT_SYMTAB).
std::vector<Symbol> functions(Elf* elf, Elf64_Word table_type);

} // namespace pctctl
