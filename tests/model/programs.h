// SPDX-License-Identifier: GPL-2.0-only
// Programs from the papers, and families of programs with bugs of known depth.
#pragma once

#include "program.h"

namespace pctctl::model {

// POS (CAV 2018), Fig. 2: threads A and B, objects x, y, w, z. The bug is one total order.
Program pos_running_example();

} // namespace pctctl::model
