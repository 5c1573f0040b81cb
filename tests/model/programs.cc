// SPDX-License-Identifier: GPL-2.0-only
#include "programs.h"

namespace pctctl::model {

Program pos_running_example() {
    constexpr Object x = 1, y = 2, w = 3, z = 4;
    Program p{.name = "POS Fig. 2"};
    p.threads = {
        {access(x), access(y), release(w), access(z)},                       // A1 .. A4
        {access(x), access(x), access(y), acquire(w), access(y), access(z)}, // B1 .. B6
    };
    // B1 A1 B2 B3 A2 A3 B4 B5 B6 A4
    p.bug = [order = Schedule{1, 0, 1, 1, 0, 0, 1, 1, 1, 0}](const Schedule& s, const State&) {
        return s == order;
    };
    return p;
}

} // namespace pctctl::model
