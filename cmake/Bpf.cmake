# SPDX-License-Identifier: GPL-2.0-only
# vmlinux.h, BPF objects and their skeletons.
#
#   bpf/NAME.bpf.c  ->  bpf/NAME.bpf.o  ->  skel/NAME.skel.h (struct NAME_bpf)
#
# The same objects built with PCTCTL_BROKEN_DISPATCH have skeletons of the same names in
# skel-broken/, for the program that proves that the witness notices a broken scheduler.

# Types and kfuncs of the kernel that has sched_ext: the guest's, else the running one.
set(vmlinux ${PCTCTL_DEPS}/kernel/vmlinux)
if(NOT EXISTS ${vmlinux})
    if(EXISTS /sys/kernel/sched_ext AND EXISTS /sys/kernel/btf/vmlinux)
        set(vmlinux /sys/kernel/btf/vmlinux)
    else()
        message(FATAL_ERROR "no kernel with sched_ext to take vmlinux.h from; run setup/deps")
    endif()
endif()
set(vmlinux_h ${CMAKE_BINARY_DIR}/include/vmlinux.h)
add_custom_command(
    OUTPUT ${vmlinux_h}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/include
    COMMAND ${BPFTOOL} btf dump file ${vmlinux} format c > ${vmlinux_h}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${vmlinux_h}.new ${vmlinux_h}
    DEPENDS ${vmlinux}
    COMMENT "Generating vmlinux.h"
    VERBATIM)
add_custom_target(vmlinux_h ALL DEPENDS ${vmlinux_h})

# -isystem: warnings of generated and foreign headers are none of ours. libbpf's BPF_PROG() declares
# parameters that programs need not use.
set(BPF_FLAGS -std=gnu11 -target bpf -mcpu=v3 -O2 -g ${PCTCTL_WARNINGS} -Wno-unused-parameter
    -D__TARGET_ARCH_x86
    -I${CMAKE_SOURCE_DIR} -I${CMAKE_SOURCE_DIR}/include -I${CMAKE_SOURCE_DIR}/policies
    -isystem ${CMAKE_BINARY_DIR}/include)
if(NOT LIBBPF_INCLUDE STREQUAL "/usr/include")
    list(APPEND BPF_FLAGS -isystem ${LIBBPF_INCLUDE})
endif()

# bpf_objects(TARGET OBJECT_DIR SKELETON_DIR FLAGS...)
function(bpf_objects target object_dir skeleton_dir)
    file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bpf/*.bpf.c)
    set(skeletons)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME)
        string(REGEX REPLACE "\\.bpf\\.c$" "" name ${name})
        set(object ${CMAKE_BINARY_DIR}/${object_dir}/${name}.bpf.o)
        set(skeleton ${CMAKE_BINARY_DIR}/${skeleton_dir}/${name}.skel.h)
        add_custom_command(
            OUTPUT ${object}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/${object_dir}
            COMMAND ${BPF_CLANG} ${BPF_FLAGS} ${ARGN} -MD -MF ${object}.d -MT ${object}
                    -c ${source} -o ${object}
            DEPENDS ${source} ${vmlinux_h}
            DEPFILE ${object}.d
            COMMENT "BPF ${object_dir}/${name}.bpf.o"
            VERBATIM)
        add_custom_command(
            OUTPUT ${skeleton}
            COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/${skeleton_dir}
            COMMAND ${BPFTOOL} gen skeleton ${object} name ${name}_bpf > ${skeleton}.new
            COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
            DEPENDS ${object}
            COMMENT "Skeleton ${skeleton_dir}/${name}.skel.h"
            VERBATIM)
        list(APPEND skeletons ${skeleton})
    endforeach()
    add_custom_target(${target} DEPENDS ${skeletons})
    add_dependencies(${target} vmlinux_h)
endfunction()

# Each header includes what it uses: it compiles alone.
file(GLOB bpf_headers CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/bpf/*.bpf.h)
set(bpf_header_stamps)
foreach(header IN LISTS bpf_headers)
    get_filename_component(name ${header} NAME)
    set(stamp ${CMAKE_BINARY_DIR}/bpf/${name}.alone)
    add_custom_command(
        OUTPUT ${stamp}
        COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/bpf
        COMMAND ${BPF_CLANG} ${BPF_FLAGS} -Wno-unused-function -MD -MF ${stamp}.d -MT ${stamp}
                -fsyntax-only -x c -include ${header} /dev/null
        COMMAND ${CMAKE_COMMAND} -E touch ${stamp}
        DEPENDS ${header} ${vmlinux_h}
        DEPFILE ${stamp}.d
        COMMENT "BPF header ${name}"
        VERBATIM)
    list(APPEND bpf_header_stamps ${stamp})
endforeach()
add_custom_target(bpf_headers DEPENDS ${bpf_header_stamps})
add_dependencies(bpf_headers vmlinux_h)

bpf_objects(bpf bpf skel)
add_dependencies(bpf bpf_headers)
bpf_objects(bpf_broken bpf-broken skel-broken -DPCTCTL_BROKEN_DISPATCH)
