// SPDX-License-Identifier: Apache-2.0
#include "kernels/calibration.hpp"

#include <algorithm>
#include <string_view>

namespace spsolve {

const Calibration& shipped_calibration() {
  static const Calibration shipped = [] {
    Calibration calibration{};
    for (const Coefficient& coefficient : coefficients()) coefficient.in(calibration) = coefficient.shipped;
    return calibration;
  }();
  return shipped;
}

bool is_fixed(const Coefficient& coefficient) {
  constexpr std::string_view groups[] = {"scheduler.",  "tiles.",     "single_steps.", "small_grids.",
                                         "star_tiles.", "box_tiles.", "fused_steps.",  "exchange."};
  return std::ranges::any_of(
      groups, [&](std::string_view group) { return std::string_view(coefficient.name).starts_with(group); });
}

}  // namespace spsolve
