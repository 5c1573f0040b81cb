// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/kernel_functions.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <memory>

namespace pctctl {

std::optional<std::string> missing_kernel_function(const std::string& types) {
    const libbpf_print_fn_t print = libbpf_set_print(nullptr); // no complaint about a bad file
    const std::unique_ptr<btf, decltype(&btf__free)> kernel(btf__parse(types.c_str(), nullptr),
                                                            &btf__free);
    libbpf_set_print(print);
    if (!kernel)
        return std::nullopt;
    for (const char* name : {"scx_bpf_dsq_insert_vtime", "scx_bpf_dsq_move", "scx_bpf_dsq_peek",
                             "bpf_preempt_disable", "bpf_local_irq_save"})
        if (btf__find_by_name_kind(kernel.get(), name, BTF_KIND_FUNC) < 0)
            return name;
    return std::nullopt;
}

} // namespace pctctl
