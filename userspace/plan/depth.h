// SPDX-License-Identifier: GPL-2.0-only
// --depth auto: the depth of a run when the user does not give one.
//
// d = 1, 2, 3, 4, 5 with probability 1/4, 1/2, 1/8, 1/16, 1/16. That is the geometric distribution
// 2^-d, with 1 and 2 exchanged, and 5 has what is left. Whatever the depth of a bug is, a campaign
// needs no more than 16 times the runs it would need if it knew. That is little beside PCT's bound,
// which falls by a factor of k from depth to depth. Depth 1 can do with fewer runs than 2, since
// its bound 1/n does not fall with k. Depths beyond 5 have bounds that no campaign can bring
// near 1.
#pragma once

#include <string>

#include "plan/run_plan.h"

namespace pctctl {

// Stands in place of a depth: draw one for each run.
inline constexpr unsigned kDepthAuto = 0;
// The largest depth that is drawn.
inline constexpr unsigned kDeepestDrawn = 5;

// The depth of the run with this seed, a function of the stream. 1 if k is not known yet, because
// then the run has no change points.
unsigned draw_depth(const RunSeed& seed);

// "3", "auto".
std::string depth_text(unsigned depth);

} // namespace pctctl
