// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/kernel_functions.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <memory>

#include "pctctl/kernel_needs.h"

namespace pctctl {
namespace {

struct Enumerator {
    const char* type;
    const char* name;
};

constexpr const char* functions[] = {
#define X(name) #name,
    PCT_KERNEL_FUNCTIONS(X)
#undef X
};

constexpr struct {
    const char* either;
    const char* successor;
} alternatives[] = {
#define X(name, successor) {#name, #successor},
    PCT_KERNEL_ALTERNATIVES(X)
#undef X
};

#define X(type, name) {#type, #name},
constexpr Enumerator enumerators[] = {PCT_KERNEL_ENUMERATORS(X)};
constexpr Enumerator flags[] = {PCT_KERNEL_OPS_FLAGS(X)};
#undef X

class KernelTypes {
public:
    explicit KernelTypes(const std::string& file) : types_(nullptr, &btf__free) {
        const libbpf_print_fn_t print =
            libbpf_set_print(nullptr); // of a file that is none of types
        types_.reset(btf__parse(file.c_str(), nullptr));
        libbpf_set_print(print);
    }

    explicit operator bool() const { return types_ != nullptr; }

    bool has(const char* function) const {
        return btf__find_by_name_kind(types_.get(), function, BTF_KIND_FUNC) > 0;
    }

    std::optional<std::uint64_t> value(const Enumerator& wanted) const {
        for (const __u32 kind : {__u32{BTF_KIND_ENUM}, __u32{BTF_KIND_ENUM64}}) {
            const int id = btf__find_by_name_kind(types_.get(), wanted.type, kind);
            if (id <= 0)
                continue;
            const btf_type* type = btf__type_by_id(types_.get(), static_cast<__u32>(id));
            for (int i = 0; i < btf_vlen(type); ++i) {
                const bool wide = kind == BTF_KIND_ENUM64;
                const __u32 name = wide ? btf_enum64(type)[i].name_off : btf_enum(type)[i].name_off;
                if (std::string(btf__name_by_offset(types_.get(), name)) != wanted.name)
                    continue;
                return wide ? btf_enum64_value(btf_enum64(type) + i)
                            : static_cast<std::uint64_t>(btf_enum(type)[i].val);
            }
        }
        return std::nullopt;
    }

private:
    std::unique_ptr<btf, decltype(&btf__free)> types_;
};

} // namespace

std::optional<std::string> missing_in_kernel(const std::string& types) {
    const KernelTypes kernel(types);
    if (!kernel)
        return std::nullopt;
    for (const char* function : functions)
        if (!kernel.has(function))
            return function;
    for (const auto& [either, successor] : alternatives)
        if (!kernel.has(either) && !kernel.has(successor))
            return std::string(either) + " and " + successor;
    for (const Enumerator& enumerator : enumerators)
        if (!kernel.value(enumerator))
            return enumerator.name;
    for (const Enumerator& flag : flags)
        if (!kernel.value(flag))
            return flag.name;
    return std::nullopt;
}

std::optional<std::uint64_t> scheduler_flags(const std::string& types) {
    const KernelTypes kernel(types);
    if (!kernel)
        return std::nullopt;
    std::uint64_t all = 0;
    for (const Enumerator& flag : flags) {
        const std::optional<std::uint64_t> value = kernel.value(flag);
        if (!value)
            return std::nullopt;
        all |= *value;
    }
    return all;
}

} // namespace pctctl
