// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/field.hpp"

namespace spsolve {

/// One correlation with given weights on points from where no ghost point of a wall is within reach: what
/// fused steps are away from walls (docs/design.md). Every point sums the same products in the same order
/// whatever the region, so results do not depend on how the grid is decomposed.
class Sweep {
 public:
  virtual ~Sweep() = default;

  /// Begins what takes time when it is first called with, or without, a source: compiling.
  virtual void prepare(bool /*with_source*/) const {}

  /// Whether data are scaled (data_scale()) by Field::largest() of `in`, that of the whole grid. Then that of
  /// `out` grows to what is written.
  virtual bool scales_data() const { return false; }

  /// out = w * in (+ source, unless null) on `region`, which lies in owned(). `in` holds data on region grown
  /// by the radius of w and finite values on all of allocated(); only `region` of `out` is written. `in` and
  /// `out` have the precision of the sweep, `source` that of its sums (fp64, else fp32).
  virtual void operator()(const Field& in, Field& out, const Box& region, const Field* source) const = 0;
};

}  // namespace spsolve
