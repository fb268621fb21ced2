// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "kernels/unit_kind.hpp"

namespace spsolve {

/// Describes how a problem is advanced: chosen by the plan, carried out by a backend. Results depend on it
/// only within the precision that the problem promises.
struct Method {
  int fuse = 1;  // time steps per launch
  UnitKind unit = UnitKind::scalar;
  std::optional<Layout> layout;  // the layout of weights on tensor cores; none for the scalar unit
  double dropped = 0;            // separable: the share of sum |w^fuse| that terms left out may have
  bool strided = false;          // launches of `fuse` steps are strides of a two-level equation (StridedUnit)

  /// Makes a method of the scalar unit.
  Method(int steps_per_launch = 1) : fuse(steps_per_launch) {}
  Method(int steps_per_launch, UnitKind unit_kind, std::optional<Layout> weights_layout,
         double dropped_share = 0)
      : fuse(steps_per_launch), unit(unit_kind), layout(weights_layout), dropped(dropped_share) {}

  /// Returns true if launches of `fuse` steps are sweeps with the weights of all these steps.
  bool fused_weights() const { return unit != UnitKind::scalar || strided; }
  /// Returns true if halos must come from their owners before every launch. Fused weights may round points of
  /// other blocks differently from their owners, because the points lie at other positions in tiles.
  bool exchanges_in_every_launch() const { return fused_weights(); }
};

/// Returns the names of unit and layout: "scalar", "sparse-tensor strided-swap", "scalar strides".
inline std::string describe(const Method& method) {
  std::string text{to_string(method.unit)};
  if (method.layout) text.append(" ").append(to_string(*method.layout));
  if (method.strided) text += " strides";
  return text;
}

}  // namespace spsolve
