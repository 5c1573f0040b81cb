# SPDX-License-Identifier: GPL-2.0-only
# The controller: the library pctctl_core and the program pctctl, and both once more with the
# deliberately broken scheduler (pctctl-broken, for tests only).

configure_file(cmake/version.h.in ${CMAKE_BINARY_DIR}/include/pctctl/version.h @ONLY)

# Where `make install` puts the VM's parts, seen from the program's own directory, so that an
# installed tree can be moved.
file(RELATIVE_PATH PCTCTL_LIBEXEC_DIR ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pctctl)

file(GLOB core_sources CONFIGURE_DEPENDS userspace/*.cc policies/*.cc)
list(FILTER core_sources EXCLUDE REGEX "/main\\.cc$")

# pctctl_program(PROGRAM LIBRARY BPF_TARGET SKELETON_DIR DEFINITIONS...)
function(pctctl_program program library bpf skeletons)
    if(core_sources)
        add_library(${library} STATIC ${core_sources})
        set(scope PUBLIC)
    else()
        add_library(${library} INTERFACE)
        set(scope INTERFACE)
    endif()
    add_dependencies(${library} ${bpf})
    target_include_directories(${library} ${scope} ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include
        ${CMAKE_SOURCE_DIR}/policies ${CMAKE_SOURCE_DIR}/userspace)
    target_include_directories(${library} SYSTEM ${scope} ${CMAKE_BINARY_DIR}/include
        ${CMAKE_BINARY_DIR}/${skeletons})
    target_compile_definitions(${library} ${scope} ${ARGN})
    target_link_libraries(${library} ${scope} pctctl_flags pctctl_libbpf PkgConfig::DW
        PkgConfig::CAP spdlog::spdlog nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads)
    if(EXISTS ${CMAKE_SOURCE_DIR}/userspace/main.cc)
        add_executable(${program} userspace/main.cc)
        target_compile_definitions(${program} PRIVATE
            PCTCTL_LIBEXEC_DIR="${PCTCTL_LIBEXEC_DIR}")
        target_link_libraries(${program} PRIVATE ${library})
    else()
        add_custom_target(${program})
    endif()
endfunction()

pctctl_program(pctctl pctctl_core bpf skel)
pctctl_program(pctctl-broken pctctl_core_broken bpf_broken skel-broken PCTCTL_BROKEN_DISPATCH)
if(NOT PCTCTL_SANITIZE) # sanitized host tests need neither
    add_custom_target(programs ALL DEPENDS pctctl pctctl-broken)
endif()
