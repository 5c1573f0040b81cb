# SPDX-License-Identifier: GPL-2.0-only
# The VM's launcher (host side) and init (guest side, static: it is alone in the initramfs).

set(vm_dir ${CMAKE_BINARY_DIR}/vm)
file(GLOB launch_sources CONFIGURE_DEPENDS vm/host/*.cc)
add_executable(vm_launch ${launch_sources})
target_link_libraries(vm_launch PRIVATE pctctl_flags CLI11::CLI11)
target_include_directories(vm_launch PRIVATE ${CMAKE_SOURCE_DIR}/vm ${CMAKE_BINARY_DIR}/rooms/base)
set_target_properties(vm_launch PROPERTIES OUTPUT_NAME launch RUNTIME_OUTPUT_DIRECTORY ${vm_dir})

file(GLOB init_sources CONFIGURE_DEPENDS vm/guest/*.cc)
add_executable(vm_init ${init_sources})
target_compile_options(vm_init PRIVATE ${PCTCTL_WARNINGS})
target_include_directories(vm_init PRIVATE ${CMAKE_SOURCE_DIR}/vm ${CMAKE_BINARY_DIR}/rooms/base)
target_link_options(vm_init PRIVATE -static)
set_target_properties(vm_init PROPERTIES OUTPUT_NAME init RUNTIME_OUTPUT_DIRECTORY ${vm_dir})
add_custom_target(vm DEPENDS vm_launch vm_init)
