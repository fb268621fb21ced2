// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch_shape.hpp"

#include <algorithm>

namespace spsolve::cuda {

std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up) {
  std::int64_t best = steps, best_cost = INT64_MAX;
  for (std::int64_t blocks = 1; blocks <= std::min<std::int64_t>(steps, 1024); ++blocks) {
    const std::int64_t length = pieces(steps, blocks);
    const std::int64_t cost = pieces(tiles * pieces(steps, length), resident) * (length + warm_up);
    if (cost < best_cost) best_cost = cost, best = length;
  }
  return best;
}

}  // namespace spsolve::cuda
