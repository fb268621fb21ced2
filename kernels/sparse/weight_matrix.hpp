// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "kernels/box.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds a stencil as the M x K weight matrix A' of one tile of outputs, before its columns are ordered for
/// the hardware: u'[origin + outputs[m]] = sum_k value(m, k) u[origin + inputs[k]].
struct WeightMatrix {
  std::vector<Index3> outputs;  // row m: output point, relative to the tile's origin
  std::vector<Index3> inputs;   // column k: input point, relative to the tile's origin
  std::vector<double> values;   // M x K, row-major

  std::size_t rows() const { return outputs.size(); }
  std::size_t columns() const { return inputs.size(); }
  double& value(std::size_t m, std::size_t k) { return values[m * columns() + k]; }
  double value(std::size_t m, std::size_t k) const { return values[m * columns() + k]; }
};

/// Returns the smallest box that holds every tap's offset.
Box tap_box(const Stencil& stencil);

/// Returns the box of input points that a tile of outputs, starting at the origin, reaches with all offsets
/// of the tap box.
Box window_of(const Stencil& stencil, const Index3& tile);

/// Returns all points of a box, x fastest.
std::vector<Index3> points_of(const Box& box);

/// Returns the weight matrix of any rows and columns; no point may be in two columns. Throws
/// std::invalid_argument if an output needs an input that no column holds.
WeightMatrix weight_matrix(const Stencil& stencil, std::vector<Index3> outputs, std::vector<Index3> inputs);

/// Performs stencil flattening and duplicates crush (SparStencil section 3.1): a tile of r3 x r2 x r1 outputs
/// {z, y, x} against its window of (k3 + r3 - 1)(k2 + r2 - 1)(k1 + r1 - 1) inputs, each once. Both are in
/// x-fastest order, so the matrix is a staircase of staircases. k is the extent of tap_box(), so one-sided
/// stencils pay for no empty side.
WeightMatrix crush(const Stencil& stencil, const Index3& tile);

/// Removes columns without weights (the corners of a star's window). Runs of `run` columns are kept or
/// removed together.
WeightMatrix without_zero_columns(const WeightMatrix& matrix, int run = 1);

/// Marks a zero column in an order of columns. It names the input point of `column`, so that loading it is
/// harmless.
constexpr int zero_column(int column) { return ~column; }

/// Returns the columns in the given order (permutation invariant transformation, SparStencil equation 5).
WeightMatrix order_columns(const WeightMatrix& matrix, const std::vector<int>& order);

}  // namespace spsolve
