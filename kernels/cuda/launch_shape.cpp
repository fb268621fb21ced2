// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/launch_shape.hpp"

#include <algorithm>
#include <limits>

namespace spsolve::cuda {

std::int64_t steps_per_block(std::int64_t steps, std::int64_t tiles, std::int64_t resident,
                             std::int64_t warm_up, std::int64_t schedulers) {
  const auto wave_time = [&](std::int64_t blocks) {
    return schedulers ? scheduler_time(static_cast<double>(pieces(blocks, schedulers))) : 1.0;
  };
  std::int64_t best = steps;
  double best_time = std::numeric_limits<double>::infinity();
  for (std::int64_t stretches = 1; stretches <= std::min<std::int64_t>(steps, 1024); ++stretches) {
    const std::int64_t length = pieces(steps, stretches), blocks = tiles * pieces(steps, length);
    const double time = static_cast<double>(pieces(blocks, resident) * (length + warm_up)) *
                        wave_time(std::min(blocks, resident));
    if (time < best_time) best_time = time, best = length;
  }
  return best;
}

}  // namespace spsolve::cuda
