# SPDX-License-Identifier: GPL-2.0-only
# Libraries and tools that come from packages or from setup/deps.

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(spdlog REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(GTest REQUIRED)
find_package(benchmark REQUIRED)
pkg_check_modules(ELF REQUIRED IMPORTED_TARGET libelf)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)

# libbpf: the one setup/deps has built, else the distribution's.
add_library(pctctl_libbpf INTERFACE)
if(EXISTS ${PCTCTL_DEPS}/libbpf/lib/libbpf.a)
    set(LIBBPF_INCLUDE ${PCTCTL_DEPS}/libbpf/include)
    target_link_libraries(pctctl_libbpf INTERFACE ${PCTCTL_DEPS}/libbpf/lib/libbpf.a)
else()
    pkg_check_modules(LIBBPF REQUIRED IMPORTED_TARGET libbpf>=1.5)
    pkg_get_variable(LIBBPF_INCLUDE libbpf includedir)
    target_link_libraries(pctctl_libbpf INTERFACE PkgConfig::LIBBPF)
endif()
if(NOT LIBBPF_INCLUDE STREQUAL "/usr/include") # naming that one breaks #include_next
    target_include_directories(pctctl_libbpf SYSTEM INTERFACE ${LIBBPF_INCLUDE})
endif()
target_link_libraries(pctctl_libbpf INTERFACE PkgConfig::ELF PkgConfig::ZLIB)

find_program(BPF_CLANG NAMES clang-19 clang-20 clang-21 clang REQUIRED
             DOC "clang with the bpf target, 19 or newer")
find_program(BPFTOOL NAMES bpftool HINTS ${PCTCTL_DEPS}/bpftool PATHS /usr/sbin /sbin REQUIRED
             DOC "bpftool, 7.5 or newer")
