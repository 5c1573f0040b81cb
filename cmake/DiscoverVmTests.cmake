# SPDX-License-Identifier: GPL-2.0-only
# cmake -D... -P: asks a test program, here on the host, for its tests and writes a file for ctest that runs each
# of them by name in a guest of the pool. See VmTests.cmake, which passes
#   NAME EXECUTABLE OUTPUT RUN (vm/run) POOL DIRECTORY TIMEOUT LONG_TIMEOUT SERIAL SMOKE (a regular expression)

set(script "")

# Tests of one variant: "vm", or "vm_long" with all of what the other one takes samples of.
function(discover variant timeout labels)
    set(environment)
    if(variant STREQUAL vm_long)
        set(environment ${CMAKE_COMMAND} -E env PCTCTL_LONG_TESTS=1)
    endif()
    execute_process(COMMAND ${environment} ${EXECUTABLE} --gtest_list_tests
        OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
    string(REGEX REPLACE "  # [^\n]*" "" listing "${listing}") # values of parameters
    string(REPLACE "\n" ";" listing "${listing}")
    set(in_guest)
    if(environment)
        set(in_guest env PCTCTL_LONG_TESTS=1)
    endif()
    math(EXPR kill "${timeout} + 300") # the command's own limit first; it may have to wait for a guest
    set(suite "")
    foreach(line IN LISTS listing)
        if(line MATCHES "^([A-Za-z0-9_/]+)\\.$")
            set(suite ${CMAKE_MATCH_1})
        elseif(line MATCHES "^  ([A-Za-z0-9_/]+)$")
            set(test ${suite}.${CMAKE_MATCH_1})
            set(name ${variant}.${NAME}.${test})
            string(REPLACE ";" " " command "${in_guest};[==[${EXECUTABLE}]==]")
            string(APPEND script
                "add_test([==[${name}]==] [==[${RUN}]==] --in [==[${POOL}]==] --timeout ${timeout} -- "
                "${command} --gtest_brief=0 [==[--gtest_filter=${test}]==])\n")
            set(more "")
            if(SERIAL)
                string(APPEND more " RUN_SERIAL ON")
            endif()
            set(marks ${labels})
            if(SMOKE AND variant STREQUAL vm AND test MATCHES "${SMOKE}")
                list(APPEND marks smoke)
            endif()
            # The console: the kernel is quiet unless something goes wrong. A name that no test has would
            # be a success for GoogleTest.
            string(APPEND script
                "set_tests_properties([==[${name}]==] PROPERTIES LABELS [==[${marks}]==] TIMEOUT ${kill}"
                " FIXTURES_REQUIRED guests WORKING_DIRECTORY [==[${DIRECTORY}]==]"
                " ENVIRONMENT PCTCTL_VM_CONSOLE=1 SKIP_REGULAR_EXPRESSION [==[\\[  SKIPPED \\]]==]"
                " FAIL_REGULAR_EXPRESSION [==[0 tests from 0 test suites ran]==]${more})\n")
        endif()
    endforeach()
    set(script "${script}" PARENT_SCOPE)
endfunction()

discover(vm ${TIMEOUT} vm)
discover(vm_long ${LONG_TIMEOUT} "vm;long")
file(WRITE ${OUTPUT} "${script}")
