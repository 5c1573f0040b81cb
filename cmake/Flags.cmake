# SPDX-License-Identifier: GPL-2.0-only
# Compiler flags of host code, as the interface target pctctl_flags; zoo programs do not use it.

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")

set(PCTCTL_WARNINGS -Wall -Wextra -Werror)

add_library(pctctl_flags INTERFACE)
target_compile_options(pctctl_flags INTERFACE ${PCTCTL_WARNINGS})

# Test programs: they are built more often than run. Half the time of -O2 -g; -g1 is enough for a backtrace.
add_library(pctctl_test_flags INTERFACE)
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
    target_compile_options(pctctl_test_flags INTERFACE -O1 -g1)
endif()

# Unit tests, and what they test: under AddressSanitizer and UndefinedBehaviorSanitizer, and built no other way.
add_library(pctctl_checked_flags INTERFACE)
set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
target_compile_options(pctctl_checked_flags INTERFACE -O0 -g1 ${sanitizers})
target_link_options(pctctl_checked_flags INTERFACE ${sanitizers})
