// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/domain.hpp"

namespace spsolve::cuda {

/// The largest multiple that is not above a value.
constexpr std::int64_t floor_to(std::int64_t value, std::int64_t multiple) {
  return value - wrap(value, multiple);
}
/// How many pieces cover an extent.
constexpr std::int64_t pieces(std::int64_t extent, std::int64_t piece) {
  return (extent + piece - 1) / piece;
}

/// Steps of a march per block such that all blocks end at about the same time: whole waves of the blocks that
/// are resident at once, each with the steps of its warm-up. `tiles` march `steps` steps.
std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up);

}  // namespace spsolve::cuda
