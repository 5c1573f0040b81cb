// SPDX-License-Identifier: GPL-2.0-only
#include "base/result.h"

#include <system_error>

namespace pctctl {

std::string errno_text(int error) {
    return std::generic_category().message(error);
}

} // namespace pctctl
