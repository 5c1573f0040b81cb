# SPDX-License-Identifier: GPL-2.0-only
# The controller: the library pctctl_core and the program pctctl, and both once more with the
# deliberately broken scheduler (pctctl-broken, for tests only).

configure_file(cmake/version.h.in ${CMAKE_BINARY_DIR}/include/pctctl/version.h @ONLY)

# Where `make install` puts the VM's parts, seen from the program's own directory, so that an
# installed tree can be moved.
file(RELATIVE_PATH PCTCTL_LIBEXEC_DIR ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pctctl)

file(GLOB core_sources CONFIGURE_DEPENDS userspace/*.cc)
list(FILTER core_sources EXCLUDE REGEX "/main\\.cc$")

# pctctl_program(PROGRAM LIBRARY BPF_TARGET SKELETON_DIR)
function(pctctl_program program library bpf skeletons)
    add_library(${library} STATIC ${core_sources})
    add_dependencies(${library} ${bpf})
    target_include_directories(${library} PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include
        ${CMAKE_SOURCE_DIR}/policies ${CMAKE_SOURCE_DIR}/userspace)
    target_include_directories(${library} SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/include
        ${CMAKE_BINARY_DIR}/${skeletons})
    target_link_libraries(${library} PUBLIC pctctl_flags pctctl_libbpf
        spdlog::spdlog nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads)
    add_executable(${program} userspace/main.cc)
    target_compile_definitions(${program} PRIVATE PCTCTL_LIBEXEC_DIR="${PCTCTL_LIBEXEC_DIR}")
    target_link_libraries(${program} PRIVATE ${library})
endfunction()

pctctl_program(pctctl pctctl_core bpf skel)
pctctl_program(pctctl-broken pctctl_core_broken bpf_broken skel-broken)
if(NOT PCTCTL_SANITIZE) # sanitized host tests need neither
    add_custom_target(programs ALL DEPENDS pctctl pctctl-broken)
endif()
