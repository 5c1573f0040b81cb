// SPDX-License-Identifier: GPL-2.0-only
#include "tables.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
    using namespace pctctl::model;
    const char* which = argc > 1 ? argv[1] : "all";
    const double factor = argc > 2 ? std::atof(argv[2]) : 1;
    if (argc > 3 || factor <= 0) {
        std::fprintf(
            stderr, "usage: bench_model [all|edges|subjects|partial-orders [FACTOR OF SAMPLES]]\n");
        return 2;
    }
    const auto wanted = [&](const char* name) {
        return !std::strcmp(which, "all") || !std::strcmp(which, name);
    };
    if (wanted("edges"))
        edge_tables();
    if (wanted("subjects"))
        subject_table(static_cast<std::uint64_t>(1e5 * factor));
    if (wanted("partial-orders"))
        partial_order_tables(static_cast<std::uint64_t>(5e6 * factor));
    return 0;
}
