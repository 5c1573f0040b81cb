// SPDX-License-Identifier: GPL-2.0-only
// Tables that `make bench-model` prints, in Markdown.
#pragma once

#include <cstdint>

namespace pctctl::model {

void partial_order_tables(std::uint64_t samples);
void subject_table(std::uint64_t samples);
void edge_tables();

} // namespace pctctl::model
