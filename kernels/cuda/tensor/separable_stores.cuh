// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the stores of separable.cuh and separable_planes.cuh through shared memory: whole boxes by
// the copy engine, parts of boxes by the threads of a warp.

#include "kernels/cuda/tensor/separable_operands.cuh"

namespace spsolve::cuda {

/// Converts four results to the format of the output.
__device__ inline ElementVector<Stored, 4> pack_four(const float (&value)[4]) {
  union {
    ElementVector<Stored, 4> packed;
    unsigned pair[2];
  };
  if constexpr (sizeof(Stored) == 2) {
    pair[0] = pack_pair(value[0], value[1]);
    pair[1] = pack_pair(value[2], value[3]);
  } else {
#pragma unroll
    for (int c = 0; c < 4; ++c) store(packed.element[c], value[c]);
  }
  return packed;
}

/// Returns where a column of a box lies in its row in shared memory; `row_of_8` is row % 8.
__device__ inline Stored* staged(Stored* row, int column, int row_of_8) {
  const int bytes = column * static_cast<int>(sizeof(Stored));
  // The copy engine expects 16-byte chunks permuted by address bits 7 and up (swizzling).
  const int exchange = box_bytes == 128 ? row_of_8 : box_bytes == 64 ? row_of_8 / 2 : 0;
  return reinterpret_cast<Stored*>(reinterpret_cast<char*>(row) + ((bytes / 16) ^ exchange) * 16 +
                                   bytes % 16);
}

/// Copies the part of `rows` rows and `columns` columns that lies in the region; from(row, column) returns
/// the address in shared memory. A lane stores 16 bytes at once where all of them are written.
template <int columns, class From>
__device__ void store_part(const WarpOutput& output, int plane, int first_row, int rows, int first_column,
                           From&& from) {
  constexpr int chunk = 16 / sizeof(Stored), lanes = columns / chunk;  // per row
  static_assert(32 % lanes == 0);
  const int lane = static_cast<int>(threadIdx.x) % 32, column = first_column + lane % lanes * chunk;
  const bool whole = column >= output.begin_column() && column + chunk <= output.end_column();
  for (int row = first_row + lane / lanes; row < first_row + rows; row += 32 / lanes) {
    if (row < output.begin_row() || row >= output.end_row()) continue;
    Stored* const to = output.at<Stored>(output.a.out, plane, row, column);
    const Stored* const results = from(row, column);
    if (whole)
      *reinterpret_cast<uint4*>(to) = *reinterpret_cast<const uint4*>(results);
    else
      for (int c = 0; c < chunk; ++c)
        if (column + c >= output.begin_column() && column + c < output.end_column()) to[c] = results[c];
  }
}

}  // namespace spsolve::cuda
