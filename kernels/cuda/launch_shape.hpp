// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {

/// Steps of a march per block such that all blocks end at about the same time: whole waves of the blocks that
/// are resident at once, each with the steps of its warm-up. `tiles` march `steps` steps.
std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up);

}  // namespace spsolve::cuda
