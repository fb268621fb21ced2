// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/field.hpp"

namespace spsolve {

/// Applies one correlation with given weights to points that read no ghost point of a wall. Fused steps away
/// from walls are such a correlation (docs/internals/numerics.md). Every point sums the same products in the
/// same order whatever the region, so results do not depend on the decomposition.
class Sweep {
 public:
  virtual ~Sweep() = default;

  /// Starts the compilation that the first call with, or without, a source would otherwise wait for.
  virtual void prepare(bool /*with_source*/) const {}

  /// Returns true if the sweep scales data (data_scale()) by Field::magnitude_bound() of `in`, which must
  /// hold the bound of the whole grid. The sweep then raises the bound of `out` to the magnitudes that it
  /// writes.
  virtual bool scales_data() const { return false; }

  /// Computes out = w * in (+ source, unless null) on `region`, which lies in owned(). `in` holds data on
  /// region grown by the radius of w, and finite values on all of allocated(). Only `region` of `out` is
  /// written. `in` and `out` have the precision of the sweep; `source` has the precision of the sweep's sums
  /// (fp64, else fp32). `source` may be `out` itself, because every point reads its source before it is
  /// written.
  virtual void operator()(const Field& in, Field& out, const Box& region, const Field* source) const = 0;
};

}  // namespace spsolve
