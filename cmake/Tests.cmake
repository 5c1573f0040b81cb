# SPDX-License-Identifier: GPL-2.0-only
# Tests, the zoo of small programs they run, and benchmarks. Labels: host (no VM, no root),
# vm (inside the guest), vm_host (the VM seen from outside).
#
# Each test of a test program is one of ctest's. A script may carry "# timeout: SECONDS" in its head; "# long" keeps it out of `make check`.

include(GoogleTest)

# tests/unit/ROOM/*_test.cc -> build/tests/unit_tests, with sanitizers
file(GLOB unit_sources CONFIGURE_DEPENDS tests/unit/*/*_test.cc)
if(unit_sources)
    add_executable(unit_tests ${unit_sources})
    set_target_properties(unit_tests PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_include_directories(unit_tests PRIVATE ${CMAKE_SOURCE_DIR}/tests/unit)
    # Not by __FILE__, which is relative under ccache.
    set_source_files_properties(tests/unit/base/proc_text_test.cc PROPERTIES
        COMPILE_DEFINITIONS FIXTURES="${CMAKE_SOURCE_DIR}/tests/unit/base/fixtures")
    target_link_libraries(unit_tests PRIVATE checked_cli GTest::gmock GTest::gtest_main)
    gtest_discover_tests(unit_tests TEST_PREFIX unit. DISCOVERY_TIMEOUT 60
        PROPERTIES LABELS host TIMEOUT 300)
endif()

# tests/model: abstract programs under the policies' own code -> build/tests/model_tests. `model` is for
# every day; `model_long` takes larger samples. No kernel, no BPF object; of the controller only the
# room that says what a policy is told before a run.
file(GLOB model_sources CONFIGURE_DEPENDS tests/model/*.cc)
file(GLOB model_tests CONFIGURE_DEPENDS tests/model/*_test.cc)
list(REMOVE_ITEM model_sources ${model_tests})
add_library(model STATIC EXCLUDE_FROM_ALL ${model_sources})
target_include_directories(model PUBLIC ${CMAKE_SOURCE_DIR}/tests/model)
target_link_libraries(model PUBLIC pctctl_plan)
add_executable(model_tests ${model_tests})
set_target_properties(model_tests PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
target_compile_definitions(model_tests PRIVATE PCTCTL_SOURCE_DIR="${CMAKE_SOURCE_DIR}")
target_link_libraries(model_tests PRIVATE pctctl_test_flags model GTest::gmock GTest::gtest_main)
gtest_discover_tests(model_tests TEST_PREFIX model. DISCOVERY_TIMEOUT 60
    PROPERTIES LABELS host TIMEOUT 1800)

add_test(NAME model_long
         COMMAND ${CMAKE_COMMAND} -E env PCTCTL_LONG_TESTS=1 $<TARGET_FILE:model_tests>)
set_tests_properties(model_long PROPERTIES LABELS "host;long" TIMEOUT 14400)

# The policies for the BPF target; the object is of no use but that it could be made.
set(policies_o ${CMAKE_BINARY_DIR}/tests/policies.bpf.o)
add_custom_command(
    OUTPUT ${policies_o}
    COMMAND ${BPF_CLANG} ${BPF_FLAGS} -MD -MF ${policies_o}.d -MT ${policies_o}
            -c ${CMAKE_SOURCE_DIR}/tests/model/policies.bpf.c -o ${policies_o}
    DEPENDS tests/model/policies.bpf.c vmlinux_h
    DEPFILE ${policies_o}.d
    COMMENT "BPF policies"
    VERBATIM)
add_custom_target(policies_bpf ALL DEPENDS ${policies_o})

# programs_under_test(DIRECTORY PREFIX): tests/DIRECTORY/NAME.c -> target PREFIX_NAME, made as any C program
# would be, at build/DIRECTORY/NAME. PREFIX_targets lists them.
function(programs_under_test directory prefix)
    file(GLOB sources CONFIGURE_DEPENDS tests/${directory}/*.c)
    set(targets)
    foreach(source IN LISTS sources)
        get_filename_component(name ${source} NAME_WE)
        set(target ${prefix}_${name})
        add_executable(${target} ${source})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} C_EXTENSIONS OFF
            RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/${directory})
        target_compile_options(${target} PRIVATE ${PCTCTL_WARNINGS} -O1 -g -pthread)
        target_link_options(${target} PRIVATE -pthread)
        list(APPEND targets ${target})
    endforeach()
    set(${prefix}_targets ${targets} PARENT_SCOPE)
endfunction()
programs_under_test(zoo zoo) # small programs with known bugs, or none
add_custom_target(zoo ALL)
add_dependencies(zoo ${zoo_targets})
programs_under_test(programs program) # those that behave badly, or serve one test

include(VmTests)

# benchmarks/*.cc -> build/benchmarks/NAME
file(GLOB benchmark_sources CONFIGURE_DEPENDS benchmarks/*.cc)
add_custom_target(benchmarks)
foreach(source IN LISTS benchmark_sources)
    get_filename_component(name ${source} NAME_WE)
    add_executable(benchmark_${name} ${source})
    set_target_properties(benchmark_${name} PROPERTIES OUTPUT_NAME ${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks)
    target_link_libraries(benchmark_${name} PRIVATE pctctl_cli benchmark::benchmark)
    add_dependencies(benchmarks benchmark_${name})
endforeach()
target_link_libraries(benchmark_zoo PRIVATE vm_harness) # it calls pctctl as the tests do

# script_tests(LABEL DEFAULT_TIMEOUT COMMAND...): one test for each tests/LABEL/*.sh
function(script_tests label default_timeout)
    file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${label}/*.sh)
    foreach(script IN LISTS scripts)
        get_filename_component(name ${script} NAME_WE)
        file(STRINGS ${script} head LIMIT_COUNT 20 REGEX "^# (timeout: [0-9]+|long|library)$")
        if("# library" IN_LIST head)
            continue()
        endif()
        set(timeout ${default_timeout})
        if(head MATCHES "# timeout: ([0-9]+)")
            set(timeout ${CMAKE_MATCH_1})
        endif()
        set(labels ${label})
        if("# long" IN_LIST head)
            list(APPEND labels long)
        endif()
        list(TRANSFORM ARGN REPLACE "@TIMEOUT@" ${timeout} OUTPUT_VARIABLE command)
        math(EXPR kill "${timeout} + 30") # the VM's own limit first: it says more
        add_test(NAME ${label}.${name} COMMAND ${command} tests/${label}/${name}.sh
                 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
        set_tests_properties(${label}.${name} PROPERTIES LABELS "${labels}" TIMEOUT ${kill}
            SKIP_RETURN_CODE 77)
    endforeach()
endfunction()

script_tests(vm 300 ${vm_run} --in ${vm_pool} --timeout @TIMEOUT@ --)
set_tests_properties(vm.process_side PROPERTIES FIXTURES_REQUIRED guests)
script_tests(vm_host 400)
script_tests(host 60)

# benchmarks/model/*.cc -> build/benchmarks/model, the tables of `make bench-model`
file(GLOB bench_model_sources CONFIGURE_DEPENDS benchmarks/model/*.cc)
add_executable(bench_model ${bench_model_sources})
set_target_properties(bench_model PROPERTIES OUTPUT_NAME model
    RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/benchmarks)
target_link_libraries(bench_model PRIVATE model)
