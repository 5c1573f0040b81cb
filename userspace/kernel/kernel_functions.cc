// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/kernel_functions.h"

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include <iterator>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <unordered_set>

#include "pctctl/kernel_needs.h"

namespace pctctl {
namespace {

struct Enumerator {
    const char* type;
    const char* name;
};

constexpr const char* kFunctions[] = {
#define X(name) #name,
    PCT_KERNEL_FUNCTIONS(X)
#undef X
};

constexpr struct {
    const char* either;
    const char* successor;
} kAlternatives[] = {
#define X(name, successor) {#name, #successor},
    PCT_KERNEL_ALTERNATIVES(X)
#undef X
};

#define X(type, name) {#type, #name},
constexpr Enumerator kEnumerators[] = {PCT_KERNEL_ENUMERATORS(X)};
constexpr Enumerator kFlags[] = {PCT_KERNEL_OPS_FLAGS(X)};
#undef X

// Answers from one pass over the kernel's 150,000 types: libbpf's search by name is a pass for each
// name, which took a fifth of a campaign's start.
class KernelTypes {
public:
    explicit KernelTypes(const std::string& file) : types_(nullptr, &btf__free) {
        const libbpf_print_fn_t print =
            libbpf_set_print(nullptr); // of a file that is none of types
        types_.reset(btf__parse(file.c_str(), nullptr));
        libbpf_set_print(print);
        if (types_)
            collect();
    }

    explicit operator bool() const { return types_ != nullptr; }

    bool has(const char* function) const { return found_.contains(function); }

    std::optional<std::uint64_t> value(const Enumerator& wanted) const {
        const auto type = values_.find(wanted.type);
        if (type == values_.end())
            return std::nullopt;
        const auto value = type->second.find(wanted.name);
        return value == type->second.end() ? std::nullopt : std::optional(value->second);
    }

private:
    void collect() {
        std::unordered_set<std::string_view> names(std::begin(kFunctions), std::end(kFunctions));
        for (const auto& [either, successor] : kAlternatives)
            names.insert({either, successor});
        for (const Enumerator& enumerator : kEnumerators)
            values_[enumerator.type];
        for (const Enumerator& flag : kFlags)
            values_[flag.type];
        for (__u32 id = 1; id < btf__type_cnt(types_.get()); ++id) {
            const btf_type* type = btf__type_by_id(types_.get(), id);
            if (btf_is_func(type)) {
                if (const auto name = names.find(name_at(type->name_off)); name != names.end())
                    found_.insert(*name);
            } else if (btf_is_any_enum(type) && type->name_off > 0) {
                if (const auto values = values_.find(name_at(type->name_off));
                    values != values_.end())
                    collect_values(type, values->second);
            }
        }
    }

    using Values = std::unordered_map<std::string_view, std::uint64_t>;

    void collect_values(const btf_type* type, Values& values) {
        for (int i = 0; i < btf_vlen(type); ++i) {
            if (btf_is_enum64(type))
                values.emplace(name_at(btf_enum64(type)[i].name_off),
                               btf_enum64_value(btf_enum64(type) + i));
            else
                values.emplace(name_at(btf_enum(type)[i].name_off),
                               static_cast<std::uint64_t>(btf_enum(type)[i].val));
        }
    }

    std::string_view name_at(__u32 offset) const {
        return btf__name_by_offset(types_.get(), offset);
    }

    std::unique_ptr<btf, decltype(&btf__free)> types_; // has the names that the maps refer to
    std::unordered_set<std::string_view> found_;
    std::unordered_map<std::string_view, Values> values_; // by type
};

std::optional<std::string> first_missing(const KernelTypes& kernel) {
    for (const char* function : kFunctions)
        if (!kernel.has(function))
            return function;
    for (const auto& [either, successor] : kAlternatives)
        if (!kernel.has(either) && !kernel.has(successor))
            return std::string(either) + " and " + successor;
    for (const Enumerator& enumerator : kEnumerators)
        if (!kernel.value(enumerator))
            return enumerator.name;
    for (const Enumerator& flag : kFlags)
        if (!kernel.value(flag))
            return flag.name;
    return std::nullopt;
}

std::optional<std::uint64_t> all_flags(const KernelTypes& kernel) {
    std::uint64_t all = 0;
    for (const Enumerator& flag : kFlags) {
        const std::optional<std::uint64_t> value = kernel.value(flag);
        if (!value)
            return std::nullopt;
        all |= *value;
    }
    return all;
}

} // namespace

KernelSupport read_kernel_support(const std::string& types) {
    const KernelTypes kernel(types);
    if (!kernel)
        return {};
    return {first_missing(kernel), all_flags(kernel)};
}

} // namespace pctctl
