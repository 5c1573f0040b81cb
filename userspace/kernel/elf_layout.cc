// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/elf_layout.h"

#include <fcntl.h>
#include <link.h>

#include "base/fd.h"
#include "kernel/elf_file.h"

namespace pctctl {

Result<pct_object> describe_object(int fd, std::span<const LibcPoint> points) {
    const ElfPtr elf = open_elf(fd);
    if (!elf)
        return Error::environment("the C library's copy is not an ELF file");

    pct_object object = {};
    for (const GElf_Phdr& segment : executable_segments(elf.get())) {
        object.text_start = segment.p_offset;
        object.text_end = segment.p_offset + segment.p_filesz;
    }
    // A static program has no dynamic symbols.
    for (const Elf64_Word table : {SHT_DYNSYM, SHT_SYMTAB})
        for (const Symbol& symbol : functions(elf.get(), table))
            if (symbol.name == "syscall") {
                object.syscall_start = file_offset(elf.get(), symbol.address).value_or(0);
                object.syscall_end = object.syscall_start + symbol.size;
            }
    for (const LibcPoint& point : points)
        if (point.index < PCT_OBJECT_POINTS)
            object.point_offset[point.index] = point.offset;
    return object;
}

Result<std::uint64_t> loader_text_size(const std::string& path) {
    const Fd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    const ElfPtr elf = file ? open_elf(file.get()) : nullptr;
    if (!elf)
        return Error::environment("cannot read the dynamic loader " + path);
    std::uint64_t end = 0;
    for (const GElf_Phdr& segment : executable_segments(elf.get()))
        end = segment.p_vaddr + segment.p_memsz;
    return end;
}

std::string own_loader() {
    std::string path;
    dl_iterate_phdr(
        [](dl_phdr_info* info, std::size_t, void* out) {
            for (int i = 0; i < info->dlpi_phnum; ++i)
                if (info->dlpi_phdr[i].p_type == PT_INTERP)
                    *static_cast<std::string*>(out) =
                        reinterpret_cast<const char*>(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
            return 0;
        },
        &path);
    return path;
}

} // namespace pctctl
