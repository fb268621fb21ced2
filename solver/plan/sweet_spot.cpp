// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/sweet_spot.hpp"

#include <algorithm>
#include <cmath>

#include "solver/plan/model.hpp"

namespace spsolve {
namespace {

/// Ratios this close to 1 differ from it only by rounding.
constexpr double rounding = 1e-9;

/// Rates that the plan predicts closer to each other than this are the same to its accuracy
/// (docs/log/plan.md).
constexpr double accuracy_of_the_plan = 0.25;

}  // namespace

Verdict SweetSpot::verdict() const {
  if (scenario == 0) return Verdict::none;
  const bool is_equal = std::abs(speedup - 1) < rounding;
  const bool agrees = is_equal ? std::abs(modelled_speedup - 1) <= accuracy_of_the_plan
                               : (speedup > 1) == (modelled_speedup > 1);
  if (!agrees) return Verdict::contradicted;
  if (is_equal) return Verdict::equal;
  return speedup > 1 ? Verdict::inside : Verdict::outside;
}

std::string_view to_string(Verdict verdict) {
  switch (verdict) {
    case Verdict::equal:
      return "equal";
    case Verdict::outside:
      return "outside";
    case Verdict::inside:
      return "sweet spot";
    case Verdict::contradicted:
      return "contradicted";
    case Verdict::none:
      break;
  }
  return "";
}

double roofline_seconds(const Candidate& candidate) {
  const double bandwidth = candidate.peak / candidate.ridge;
  return std::max(2 * candidate.fma / candidate.peak, candidate.bytes / bandwidth);
}

SweetSpot compare(const Candidate& tensor, const Candidate& scalar) {
  SweetSpot spot;
  spot.scalar_intensity = scalar.intensity();
  spot.scalar_ridge = scalar.ridge;
  const bool scalar_computes = spot.scalar_intensity > spot.scalar_ridge;
  const bool tensor_computes = tensor.intensity() > tensor.ridge;
  spot.scenario = 1 + 2 * scalar_computes + tensor_computes;
  spot.speedup = roofline_seconds(scalar) / roofline_seconds(tensor);
  spot.modelled_speedup = scalar.seconds / tensor.seconds;
  return spot;
}

}  // namespace spsolve
