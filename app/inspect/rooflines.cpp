// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/rooflines.hpp"

#include <algorithm>

namespace spsolve {

std::vector<Roofline> rooflines_of(const Plan& plan) {
  std::vector<Roofline> lines;
  for (const Candidate& candidate : plan.candidates) {
    if (candidate.peak <= 0) continue;
    const std::string name = describe(candidate);
    const auto is_its = [&](const Roofline& line) {
      // Depths of a layout may run on different instructions (wgmma.sp, or mma.sp for wide stencils).
      return line.name == name && line.precision == candidate.precision && line.peak == candidate.peak;
    };
    auto found = std::ranges::find_if(lines, is_its);
    if (found == lines.end()) {
      lines.push_back(
          {name, candidate.precision, candidate.peak, candidate.ridge, candidate.spot.scenario > 0, {}});
      found = lines.end() - 1;
    }
    const bool inside = candidate.spot.verdict() == Verdict::inside;
    found->points.push_back(
        {candidate.fuse, candidate.intensity(), 2 * candidate.fma / candidate.seconds, inside});
    if (inside) found->profitable = std::max(found->profitable, candidate.fuse);
  }
  return lines;
}

}  // namespace spsolve
