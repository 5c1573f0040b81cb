# SPDX-License-Identifier: GPL-2.0-only
# The controller: the library pctctl_core, the program pctctl, and the same with the deliberately
# broken scheduler (pctctl-broken, for tests only).

configure_file(cmake/version.h.in ${CMAKE_BINARY_DIR}/include/pctctl/version.h @ONLY)

# Where `make install` puts the VM's parts, seen from the program's own directory, so that an
# installed tree can be moved.
file(RELATIVE_PATH PCTCTL_LIBEXEC_DIR ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pctctl)

file(GLOB core_sources CONFIGURE_DEPENDS userspace/*.cc)
list(FILTER core_sources EXCLUDE REGEX "/main\\.cc$")

add_library(pctctl_core STATIC ${core_sources})
add_dependencies(pctctl_core bpf)
target_include_directories(pctctl_core PUBLIC ${CMAKE_SOURCE_DIR} ${CMAKE_SOURCE_DIR}/include
    ${CMAKE_SOURCE_DIR}/policies ${CMAKE_SOURCE_DIR}/userspace)
target_include_directories(pctctl_core SYSTEM PUBLIC ${CMAKE_BINARY_DIR}/include
    ${CMAKE_BINARY_DIR}/skel)
target_link_libraries(pctctl_core PUBLIC pctctl_flags pctctl_libbpf
    spdlog::spdlog nlohmann_json::nlohmann_json CLI11::CLI11 Threads::Threads)

# Its own kernel.cc, with the broken scheduler's skeletons, takes the place of the library's.
add_executable(pctctl userspace/main.cc)
add_executable(pctctl-broken userspace/main.cc userspace/kernel.cc)
add_dependencies(pctctl-broken bpf_broken)
target_include_directories(pctctl-broken SYSTEM BEFORE PRIVATE ${CMAKE_BINARY_DIR}/skel-broken)
foreach(program pctctl pctctl-broken)
    target_compile_definitions(${program} PRIVATE PCTCTL_LIBEXEC_DIR="${PCTCTL_LIBEXEC_DIR}")
    target_link_libraries(${program} PRIVATE pctctl_core)
endforeach()
if(NOT PCTCTL_SANITIZE) # sanitized host tests need neither
    add_custom_target(programs ALL DEPENDS pctctl pctctl-broken)
endif()
