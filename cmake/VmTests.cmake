# SPDX-License-Identifier: GPL-2.0-only
# Tests that run inside a guest: tests/vm/NAME_test.cc and tests/vm/*.sh. A boot takes as long as a test or
# two, so that all of them share a pool of guests, which ctest starts before the first one and ends behind the
# last one. A guest is emulated by one CPU of the host: there are as many as CPUs.

cmake_host_system_information(RESULT cpus QUERY NUMBER_OF_LOGICAL_CORES)
set(vm_run ${CMAKE_SOURCE_DIR}/vm/run)
set(vm_pool ${CMAKE_BINARY_DIR}) # the pool's name

add_test(NAME guests.start WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND ${vm_run} --pool ${vm_pool} --guests ${cpus} --with-parent)
add_test(NAME guests.end WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
    COMMAND ${vm_run} --end ${vm_pool})
set_tests_properties(guests.start PROPERTIES FIXTURES_SETUP guests TIMEOUT 60)
set_tests_properties(guests.end PROPERTIES FIXTURES_CLEANUP guests TIMEOUT 60)

# What they share.
add_library(vm_harness STATIC EXCLUDE_FROM_ALL tests/vm/harness.cc)
target_compile_definitions(vm_harness PRIVATE
    PCTCTL_ZOO_SOURCES="${CMAKE_SOURCE_DIR}/tests/zoo")
target_include_directories(vm_harness PUBLIC ${CMAKE_SOURCE_DIR}/tests/vm)
target_link_libraries(vm_harness PUBLIC pctctl_flags pctctl_test_flags pctctl_shared pctctl_libbpf
    nlohmann_json::nlohmann_json GTest::gtest_main)

# A checkout below /tmp hides the host's files there from nobody (harness.cc), and the host's tests make some.
set(vm_serial OFF)
if(CMAKE_BINARY_DIR MATCHES "^(/var)?/tmp/")
    set(vm_serial ON)
endif()

# vm_test(NAME TIMEOUT LONG_TIMEOUT [SMOKE]): tests/vm/NAME_test.cc -> build/tests/vm_NAME. Each of its tests is
# two of ctest's: vm.NAME.TEST, and vm_long.NAME.TEST with all of what the first takes samples of. The limits
# are for each of them. SMOKE: a regular expression for those that `make check-fast` has too.
add_custom_target(vm_tests ALL)
function(vm_test name timeout long_timeout)
    set(target vm_${name}_test)
    add_executable(${target} tests/vm/${name}_test.cc)
    set_target_properties(${target} PROPERTIES OUTPUT_NAME vm_${name}
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${target} PRIVATE vm_harness)
    add_dependencies(vm_tests ${target})
    set(found ${CMAKE_BINARY_DIR}/tests/vm_${name}.cmake)
    add_custom_command(TARGET ${target} POST_BUILD BYPRODUCTS ${found}
        COMMAND ${CMAKE_COMMAND} -D NAME=${name} -D EXECUTABLE=$<TARGET_FILE:${target}>
            -D OUTPUT=${found} -D RUN=${vm_run} -D POOL=${vm_pool} -D DIRECTORY=${CMAKE_SOURCE_DIR}
            -D TIMEOUT=${timeout} -D LONG_TIMEOUT=${long_timeout} -D SERIAL=${vm_serial}
            -D "SMOKE=${ARGN}" -P ${CMAKE_SOURCE_DIR}/cmake/DiscoverVmTests.cmake
        VERBATIM)
    # Not built: one test that says so.
    file(WRITE ${CMAKE_BINARY_DIR}/tests/include_vm_${name}.cmake
        "if(EXISTS [==[${found}]==])\n  include([==[${found}]==])\nelse()\n"
        "  add_test(vm.${name}_NOT_BUILT vm.${name}_NOT_BUILT)\nendif()\n")
    set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES
        ${CMAKE_BINARY_DIR}/tests/include_vm_${name}.cmake)
endfunction()
vm_test(zoo 900 7200 "Bug.*atomicity_account_bug$")
vm_test(rate 900 7200)
vm_test(exact 900 1800)
vm_test(focus 600 600)
vm_test(determinism 900 14400)
vm_test(witness 900 7200)
vm_test(policies 900 14400)
vm_test(model 900 7200)
target_link_libraries(vm_model_test PRIVATE model)
target_link_libraries(vm_policies_test PRIVATE model)
vm_test(containment 1200 3600)
vm_test(input 600 600)
vm_test(starvation 900 1500)
vm_test(time_limit 600 900)
