// SPDX-License-Identifier: GPL-2.0-only
#include "plan/depth.h"

#include <bit>

#include <spdlog/fmt/fmt.h>

#include "pctctl/random.h"

namespace pctctl {

unsigned draw_depth(const RunSeed& seed) {
    if (seed.k == 0)
        return 1;
    // With uniform bits, the first 1 comes behind i zeros with probability 2^-(i+1).
    switch (std::countr_zero(pct_random(seed.stream, PCT_RAND_DEPTH, 0))) {
    case 0:
        return 2;
    case 1:
        return 1;
    case 2:
        return 3;
    case 3:
        return 4;
    default:
        return kDeepestDrawn;
    }
}

std::string depth_text(unsigned depth) {
    return depth == kDepthAuto ? "auto" : fmt::format("{}", depth);
}

} // namespace pctctl
