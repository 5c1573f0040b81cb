# SPDX-License-Identifier: GPL-2.0-only
# pctctl below bin, the VM's parts and its kernel below libexec/pctctl.

set(libexec ${CMAKE_INSTALL_LIBEXECDIR}/pctctl)
install(TARGETS pctctl)
install(PROGRAMS vm/run DESTINATION ${libexec}/vm)
install(TARGETS vm_launch vm_init DESTINATION ${libexec}/vm)
install(DIRECTORY ${PCTCTL_DEPS}/kernel/ DESTINATION ${libexec}/kernel)
if(EXISTS ${PCTCTL_DEPS}/qemu)
    install(DIRECTORY ${PCTCTL_DEPS}/qemu/ DESTINATION ${libexec}/qemu USE_SOURCE_PERMISSIONS)
endif()
