// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace spsolve {

/// How a problem is advanced: chosen by the plan, carried out by a backend. Results depend on it only within
/// the precision that the problem promises.
struct Method {
  int fuse = 1;                 // time steps per launch
  std::string unit = "scalar";  // scalar, tensor, sparse-tensor
  std::string layout = "none";  // of the weights on tensor cores: strided-swap, morph, dual-tessellation,
                                // separable
  double dropped = 0;           // separable: the share of sum |w^fuse| that terms left out may have

  /// The scalar unit.
  Method(int steps_per_launch = 1) : fuse(steps_per_launch) {}
  Method(int steps_per_launch, std::string unit_name, std::string layout_name, double dropped_share = 0)
      : fuse(steps_per_launch),
        unit(std::move(unit_name)),
        layout(std::move(layout_name)),
        dropped(dropped_share) {}

  bool fused_weights() const { return unit != "scalar"; }
  /// Whether halos must come from their owners before every launch: points of other blocks that fused weights
  /// compute may be rounded otherwise than there, since they lie at other places of tiles.
  bool exchanges_in_every_launch() const { return fused_weights(); }
};

}  // namespace spsolve
