// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the shapes and arguments of row_layouts.cuh and band_staging.cuh, and the data that they
// are measured and checked with. Both the host compiler and NVRTC read this file.

#include "kernels/cuda/ceilings/gemm_data.hpp"

namespace spsolve::cuda {

// A block of either kernel makes tiles of this many columns. The columns of a grid are a multiple of it.
constexpr int layout_columns = 128, layout_threads = 256;

// Stencils of row_layouts.cuh have rows of 7 points, so that a row of stencil2row makes 8 outputs, which are
// the columns of an fp64 instruction; its 16 rows are groups of 8 outputs.
constexpr int row_points = 7, row_outputs = row_points + 1, row_groups = layout_columns / row_outputs;
constexpr int row_tile_rows = 16;    // outputs of a block along y
constexpr int most_kernel_rows = 7;  // the most rows of a stencil
constexpr int natural_window =
    16;  // points of a row that a group of outputs reads, two of them with weight 0
// Groups of 8 points lie 12 elements apart in shared memory, so that 4 neighbouring groups are in different
// banks.
constexpr int skewed(int element) { return element + element / 8 * 4; }

/// Names the ways in which row_layouts.cuh brings points to the units that multiply.
enum class RowStep {
  im2row_in_memory,       // CUDA cores; a column of the matrix for every point of the stencil
  stencil2row_in_memory,  // CUDA cores
  stencil2row,            // CUDA cores; the matrices of a tile are in shared memory
  tensor_cores,           // the same matrices, multiplied by dual tessellation
  padded_rows,            // rows of the matrices begin in different banks
  lookup,                 // places by tables; points that a matrix does not hold go to its padding
  natural_from_memory,    // tensor cores; windows in natural order, read from memory
  natural                 // the same, read from shared memory
};

/// Return true if the weights are operands of tensor cores, and if windows have their natural order.
constexpr bool on_tensor_cores(RowStep step) { return step >= RowStep::tensor_cores; }
constexpr bool in_natural_order(RowStep step) { return step >= RowStep::natural_from_memory; }
/// Returns true if a matrix of the whole grid, or a strip of it, is written to memory first.
constexpr bool in_memory(RowStep step) { return step <= RowStep::stencil2row_in_memory; }

/// Returns the elements of a row of the matrices of stencil2row in shared memory: the points of `in_rows`
/// rows, and padding so that the pitch is 4 modulo 8 (spsolve::stencil2row() has the same).
constexpr int stencil2row_pitch(int in_rows, bool padded) {
  const int columns = row_points * in_rows;
  return padded ? (columns + 1 + 3) / 8 * 8 + 4 : columns;
}

/// Holds the arguments of row_layouts.cuh. Output (y, x) is the sum over row r and point i of the stencil of
/// weights[7 r + i] in[y + r][x + i].
struct RowArguments {
  const double* in;         // [rows + kernel rows - 1][in_pitch], and 16 more
  double* out;              // [rows][columns]
  double* matrix;           // im2row: [point of the stencil][outputs of the strip]; stencil2row: A, then B,
                            // [columns / 8][matrix_pitch]
  const double* fragments;  // fragments of tensor cores: [step of 16 columns][lane][4]
  const int* places;        // lookup: places in A, then in B, [point of the input of a tile]
  long long in_pitch, matrix_pitch;
  int rows, columns;          // the shape of the outputs; rows are a multiple of 16
  int first_row, strip_rows;  // rows of outputs whose matrix is in memory
  double weights[most_kernel_rows * row_points];
};

// Outputs of a block of band_staging.cuh along y; rows are a multiple of it.
constexpr int band_tile_rows = 32;
constexpr int band_outputs = 16, band_window = 2 * band_outputs;  // along x, of one tile of an instruction

/// Names how tensor cores take a band of weights: dense, dense with its columns in the order of strided
/// swapping (which shows the cost of swapping points), or 2:4 by strided swapping.
enum class BandForm { dense, swapped, sparse };

/// Holds the arguments of band_staging.cuh: one instruction for each row of the stencil (two unless it is
/// sparse) makes 16 outputs along x of 8 neighbouring tiles. The stencil begins at in[y][x] for output (y,
/// x).
struct BandArguments {
  const unsigned short* in;  // [rows + kernel rows - 1][in_pitch]; in_pitch >= columns + 16, a multiple of 8
  unsigned short* out;       // [rows][columns]
  const void* weights;  // 16 bytes: [row of the stencil][lane], not sparse: [row][half of its window][lane]
  const unsigned* metadata;  // [pair of rows of the stencil][lane]
  long long in_pitch;
  int rows, columns;
};

/// Returns the value of an element of memory, a multiple of 2^-11 in [0, 1), which is exact in fp16.
constexpr double layout_value(long long place) {
  return static_cast<double>(gemm_hash(1, place) >> 21) * 0x1p-11;
}

}  // namespace spsolve::cuda
