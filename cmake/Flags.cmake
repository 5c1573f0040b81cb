# SPDX-License-Identifier: GPL-2.0-only
# Compiler flags of host code, as the interface target pctctl_flags; zoo programs do not use it.

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g")
set(CMAKE_C_FLAGS_DEBUG "-O0 -g")

set(PCTCTL_WARNINGS -Wall -Wextra -Werror)

add_library(pctctl_flags INTERFACE)
target_compile_options(pctctl_flags INTERFACE ${PCTCTL_WARNINGS})
if(PCTCTL_SANITIZE)
    set(flags -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
    target_compile_options(pctctl_flags INTERFACE ${flags})
    target_link_options(pctctl_flags INTERFACE ${flags})
endif()
