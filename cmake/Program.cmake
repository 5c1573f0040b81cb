# SPDX-License-Identifier: GPL-2.0-only
# The controller: one library for each folder of userspace/, a room, and the program pctctl. The same
# program with the deliberately broken scheduler is pctctl-broken, for tests only.

configure_file(cmake/version.h.in ${CMAKE_BINARY_DIR}/include/pctctl/version.h @ONLY)

# Where `make install` puts the VM's parts, seen from the program's own directory, so that an
# installed tree can be moved.
file(RELATIVE_PATH PCTCTL_LIBEXEC_DIR ${CMAKE_INSTALL_FULL_BINDIR}
     ${CMAKE_INSTALL_FULL_LIBEXECDIR}/pctctl)

# Types and decisions that both sides share.
add_library(pctctl_shared INTERFACE)
target_include_directories(pctctl_shared INTERFACE ${CMAKE_SOURCE_DIR}/include
    ${CMAKE_SOURCE_DIR}/policies)
target_include_directories(pctctl_shared SYSTEM INTERFACE ${CMAKE_BINARY_DIR}/include)

# room(NAME LIBRARY...): userspace/NAME -> pctctl_NAME, which links these. A room sees its own headers, as
# "NAME/header.h", and those of the rooms it links, by way of a folder that holds nothing but a link to it:
# an #include that runs up the layers does not build.
function(room name)
    set(view ${CMAKE_BINARY_DIR}/rooms/${name})
    file(MAKE_DIRECTORY ${view})
    file(CREATE_LINK ${CMAKE_SOURCE_DIR}/userspace/${name} ${view}/${name} SYMBOLIC)
    file(GLOB sources CONFIGURE_DEPENDS userspace/${name}/*.cc)
    list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
    add_library(pctctl_${name} STATIC ${sources})
    target_include_directories(pctctl_${name} PUBLIC ${view})
    target_link_libraries(pctctl_${name} PUBLIC pctctl_flags pctctl_shared ${ARGN})
    # The same for the unit tests.
    add_library(checked_${name} STATIC EXCLUDE_FROM_ALL ${sources})
    target_include_directories(checked_${name} PUBLIC ${view})
    list(TRANSFORM ARGN REPLACE "^pctctl_(.*)$" "checked_\\1" OUTPUT_VARIABLE libraries)
    list(TRANSFORM libraries REPLACE "^checked_libbpf$" "pctctl_libbpf")
    target_link_libraries(checked_${name} PUBLIC pctctl_flags pctctl_shared ${libraries}
        pctctl_checked_flags)
endfunction()

# From the lowest to the highest.
room(base spdlog::spdlog)
room(plan pctctl_base nlohmann_json::nlohmann_json)
room(kernel pctctl_plan pctctl_libbpf)
room(judge pctctl_plan)
room(witness pctctl_plan pctctl_libbpf)
room(run pctctl_kernel pctctl_judge pctctl_witness Threads::Threads)
room(campaign pctctl_plan Threads::Threads)
room(report pctctl_campaign nlohmann_json::nlohmann_json)
room(cli pctctl_report pctctl_run CLI11::CLI11)
foreach(library pctctl_kernel pctctl_witness checked_kernel checked_witness)
    add_dependencies(${library} bpf)
    target_include_directories(${library} SYSTEM PRIVATE ${CMAKE_BINARY_DIR}/skel)
endforeach()

# Its own loader, with the broken scheduler's skeletons, takes the place of the library's.
add_executable(pctctl userspace/cli/main.cc)
add_executable(pctctl-broken userspace/cli/main.cc userspace/kernel/bpf_scheduler.cc)
add_dependencies(pctctl-broken bpf_broken)
target_include_directories(pctctl-broken SYSTEM BEFORE PRIVATE ${CMAKE_BINARY_DIR}/skel-broken)
foreach(program pctctl pctctl-broken)
    target_compile_definitions(${program} PRIVATE PCTCTL_LIBEXEC_DIR="${PCTCTL_LIBEXEC_DIR}")
    target_link_libraries(${program} PRIVATE pctctl_cli)
endforeach()
add_custom_target(programs ALL DEPENDS pctctl pctctl-broken)
