// SPDX-License-Identifier: GPL-2.0-only
// Which accelerator to use. That /dev/kvm can be opened proves little: in nested or trimmed-down
// virtualisation the guest kernel may hang or QEMU abort. So KVM is tried by booting this very
// kernel with it, and the outcome remembered per kernel, QEMU and processor.
#pragma once

#include <string>

#include "machine.h"

namespace vm {

class AcceleratorChoice {
public:
    AcceleratorChoice(const std::string& qemu, const std::string& kernel_image);

    bool try_kvm() const { return try_kvm_; } // false: TCG right away
    bool forced() const { return forced_; }   // by PCTCTL_VM_ACCEL=kvm|tcg|tcg-parallel
    Accelerator emulation() const { return emulation_; }
    void remember(Accelerator verdict) const; // best effort: without a cache it is only slower

private:
    std::string directory_;
    std::string file_;
    Accelerator emulation_ = Accelerator::kTcg;
    bool known_ = false;
    bool try_kvm_ = false;
    bool forced_ = false;
};

} // namespace vm
