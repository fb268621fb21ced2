// SPDX-License-Identifier: Apache-2.0
#include "kernels/sparse/chained_pass.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

Operand chained_pass(const Stencil& factor, int axis, int align, Sparsity sparsity) {
  constexpr std::int64_t outputs = 16, k = 32;
  const Box taps = tap_box(factor);
  const std::int64_t width = taps.extent()[axis];
  if (taps.extent()[axis] != volume(taps.extent()))
    throw std::invalid_argument("chained pass: the stencil is not along one axis");
  const std::int64_t lead = wrap(taps.begin[axis], align);
  const std::int64_t half = std::max(width, (lead + width + outputs) / 2);
  const std::int64_t distance = round_up(half, outputs);  // D

  Index3 tile{1, 1, 1};
  tile[axis] = outputs;
  std::vector<Index3> inputs;
  for (std::int64_t step = 0; step < 2 * distance / k; ++step) {
    for (std::int64_t in_step = 0; in_step < k; ++in_step) {
      // `at` is the position of a half-precision element in its fragment, or of a tf32 element in one of two
      // fragments.
      const bool halves = sparsity == two_of_four;
      const std::int64_t r = halves ? in_step / 8 : in_step / 16 * 2 + in_step % 16 / 8;
      const std::int64_t q = halves ? in_step / 2 % 4 : in_step % 4;
      const std::int64_t h = halves ? in_step % 2 : in_step % 8 / 4;
      Index3 point = taps.begin;
      point[axis] += 16 * step + 8 * (q / 2) + distance * (q % 2) + 2 * r + h - lead;
      inputs.push_back(point);
    }
  }
  return compress(weight_matrix(factor, points_of(box_of(tile)), std::move(inputs)), tile, sparsity);
}

}  // namespace spsolve
