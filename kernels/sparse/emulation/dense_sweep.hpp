// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/operand.hpp"
#include "kernels/sweep.hpp"

namespace spsolve {

/// Applies an fp64 operand on emulated tensor cores. Every output is a chain of fused multiply-adds that
/// starts from the source (or zero) and follows the order of the operand's columns. Tiles start at multiples
/// of the operand's tile in global coordinates.
class DenseSweep : public Sweep {
 public:
  /// The source is multiplied by `source_factor`.
  explicit DenseSweep(const Operand& operand, double source_factor = 1);

  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override;

 private:
  Index3 tile_;
  double source_factor_;
  std::vector<std::vector<Tap>> rows_;  // weights of each point of the tile, x fastest, in column order
};

}  // namespace spsolve
