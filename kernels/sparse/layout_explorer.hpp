// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "kernels/sparse/mma_shape.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Holds the device rates in the model of SparStencil equations 6 to 8. They are measured, not copied from a
/// data sheet.
struct TensorRates {
  double mma_per_second;           // f N_tcu / CPI_tcu, for the instruction in question, whole device
  double global_bytes_per_second;  // bw_G
  double shared_bytes_per_second;  // bw_S
};

/// Describes one candidate (r1, r2, r3) of the layout search.
struct LayoutCandidate {
  Index3 tile;          // {r3, r2, r1}
  std::int64_t m;       // outputs of a tile
  std::int64_t window;  // k' of equation 9 before the matching: every point of the window
  std::int64_t k;       // used points + zero columns
  std::int64_t zero_columns;
  double density;                 // non-zero weights / multiplications executed
  std::int64_t mma_count;         // equation 9 with k
  std::int64_t narrow_mma_count;  // the same by instructions of half their k, such as m16n8k16 for fp16
  double compute_seconds;         // equation 7
  double memory_seconds;          // equations 8 and 10
  double seconds;                 // equation 6
  int march_instructions;  // instructions of the widest k per 16 outputs and 8 tiles, or 0 if no kernel
                           // marches with this tile
  bool is_taken;           // kernels and the emulation take this tile: marching_tile()
};

/// Returns the tile {z, y, x} that kernels march with, and that the emulation takes, on a grid of `shape`
/// points (slice_sparse() searches for it).
Index3 marching_tile(const Stencil& stencil, const Index3& shape, Precision element);

/// Returns every tile {r3, r2, r1} of at most max_outputs outputs on the axes of the grid, ordered by the
/// time in the model, fastest first (SparStencil equation 11). Tiles of equal time are ordered by their
/// instructions: where memory binds, the model makes no other difference between them. `shape` is the grid in
/// points. Data are read and written once in precision `storage`. This model multiplies all input of a tile
/// at once. Kernels march instead, and only few of the tiles suit a march. Each candidate says whether its
/// tile does, and how many instructions the march takes.
std::vector<LayoutCandidate> explore_layouts(const Stencil& stencil, const Index3& shape, const MmaShape& mma,
                                             Precision storage, const TensorRates& rates,
                                             int max_outputs = mma_rows);

/// Returns the tile of at most 16 outputs whose morphed operand takes the fewest instructions if all input is
/// multiplied at once, or the first of several such tiles. SparStencil's search finds this tile where
/// instructions bind. Benchmarks compare it with marching_tile(). Matching is slow, so it is skipped for
/// tiles whose lower bound (the number of used points) already exceeds the best.
Index3 cheapest_tile(const Stencil& stencil, const Index3& shape, const MmaShape& mma);

}  // namespace spsolve
