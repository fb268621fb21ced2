// SPDX-License-Identifier: Apache-2.0
// Applies a stencil in fp64 in the steps of ConvStencil (PPoPP'24, figure 6): im2row and stencil2row as
// matrices in memory, stencil2row in shared memory on CUDA cores and on tensor cores (dual tessellation),
// padding, lookup tables with dirty bits; and windows in natural order, which replaced stencil2row here. The
// kernel is made for comparisons, and no solver takes it.
//
// A block makes 16 rows of 16 groups of 8 outputs. A thread of CUDA cores makes 8 outputs of a column, a warp
// of tensor cores two rows: m16n8k16 has groups as rows, outputs of a group as columns.

#include "constants.cuh"  // kernel_rows, step
#include "kernels/cuda/ceilings/layout_arguments.hpp"
#include "kernels/cuda/ptx/mma.cuh"

namespace spsolve::cuda {

/// Writes the matrix of a strip of outputs: a column for every point of the stencil.
template <int kernel_rows>
__device__ inline void write_im2row(const RowArguments& a) {
  const long long points = static_cast<long long>(a.strip_rows) * a.columns;
  const long long point = static_cast<long long>(blockIdx.x) * layout_threads + threadIdx.x;
  if (point >= points) return;
  const double* const from = a.in + (a.first_row + point / a.columns) * a.in_pitch + point % a.columns;
#pragma unroll
  for (int r = 0; r < kernel_rows; ++r)
#pragma unroll
    for (int i = 0; i < row_points; ++i)
      a.matrix[(r * row_points + i) * points + point] = from[r * a.in_pitch + i];
}

/// Writes both matrices of stencil2row of the whole grid (equations 5 and 6): row x / 8, column 7 y + x % 8.
template <int kernel_rows>
__device__ inline void write_stencil2row(const RowArguments& a) {
  const long long width = a.columns + row_outputs, groups = a.columns / row_outputs;
  const long long point = static_cast<long long>(blockIdx.x) * layout_threads + threadIdx.x;
  if (point >= width * (a.rows + kernel_rows - 1)) return;
  const long long y = point / width, x = point % width;
  const double value = a.in[y * a.in_pitch + x];
  for (int half = 0; half < 2; ++half) {
    const long long at = x - half * row_points;
    if (at >= 0 && at % row_outputs != row_points && at / row_outputs < groups)
      a.matrix[(half * groups + at / row_outputs) * a.matrix_pitch + row_points * y + at % row_outputs] =
          value;
  }
}

/// Returns output `c` of a group of eight. `left` and `right` are the rows of matrices A and B of the group,
/// from the first row of the stencil on.
template <int kernel_rows>
__device__ inline double sum_of_group(const RowArguments& a, const double* left, const double* right, int c) {
  double sum = 0;
#pragma unroll
  for (int i = 0; i < row_points; ++i) {
    const double* const from = c + i < row_points ? left + c + i : right + c + i - row_points;
#pragma unroll
    for (int r = 0; r < kernel_rows; ++r) sum = fma(a.weights[r * row_points + i], from[r * row_points], sum);
  }
  return sum;
}

/// Sums im2row of a strip: every thread one output.
template <int kernel_rows>
__device__ inline void multiply_im2row(const RowArguments& a) {
  const long long points = static_cast<long long>(a.strip_rows) * a.columns;
  const long long point = static_cast<long long>(blockIdx.x) * layout_threads + threadIdx.x;
  if (point >= points) return;
  double sum = 0;
#pragma unroll
  for (int k = 0; k < kernel_rows * row_points; ++k)
    sum = fma(a.weights[k], a.matrix[k * points + point], sum);
  a.out[static_cast<long long>(a.first_row) * a.columns + point] = sum;
}

/// Brings the points of a tile to the matrices of stencil2row in shared memory, A before B.
template <int kernel_rows, RowStep step>
__device__ inline void fill_stencil2row(const RowArguments& a, const double* in, double* shared) {
  constexpr int in_rows = row_tile_rows + kernel_rows - 1, width = layout_columns + row_points - 1;
  constexpr int pitch = stencil2row_pitch(in_rows, step >= RowStep::padded_rows);
  constexpr int matrix = (row_groups + 1) * pitch;
  for (int point = threadIdx.x; point < in_rows * width; point += layout_threads) {
    const int y = point / width, x = point % width;
    const double value = in[y * a.in_pitch + x];
    if constexpr (step == RowStep::lookup) {
      shared[a.places[point]] = value;
      shared[matrix + a.places[in_rows * width + point]] = value;
    } else {
      const int right = x - row_points;
      if (x % row_outputs != row_points)
        shared[x / row_outputs * pitch + row_points * y + x % row_outputs] = value;
      if (right >= 0 && right % row_outputs != row_points)
        shared[matrix + right / row_outputs * pitch + row_points * y + right % row_outputs] = value;
    }
  }
}

/// Brings the points of a tile to shared memory in their natural order.
template <int kernel_rows>
__device__ inline void fill_natural(const RowArguments& a, const double* in, double* shared) {
  constexpr int in_rows = row_tile_rows + kernel_rows - 1, width = layout_columns + row_outputs;
  for (int point = threadIdx.x; point < in_rows * width; point += layout_threads) {
    const int y = point / width, x = point % width;
    shared[y * skewed(width) + skewed(x)] = in[y * a.in_pitch + x];
  }
}

/// Stores the results of a warp: group lane / 4 (and 8 more), outputs 2 (lane % 4) and the next one.
__device__ inline void store_groups(double* out, const double (&d)[4], int lane) {
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    double* const to = out + (lane / 4 + 8 * half) * row_outputs + 2 * (lane % 4);
    to[0] = d[2 * half];
    to[1] = d[2 * half + 1];
  }
}

/// Multiplies the rows of a tile on tensor cores. place(y, group, column) is the address of an element of A.
template <int steps, class Place>
__device__ inline void multiply_tile(const RowArguments& a, double* out, Place&& place) {
  const int lane = threadIdx.x % 32;
  double weights[steps][4];
#pragma unroll
  for (int s = 0; s < steps; ++s)
#pragma unroll
    for (int i = 0; i < 4; ++i) weights[s][i] = a.fragments[(s * 32 + lane) * 4 + i];
  for (int y = threadIdx.x / 32; y < row_tile_rows; y += layout_threads / 32) {
    double d[4] = {};
#pragma unroll
    for (int s = 0; s < steps; ++s) {
      double points[8];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          points[2 * i + half] = *place(y, lane / 4 + 8 * half, s, lane % 4 + 4 * i);
      dense_mma<4>(d, points, weights[s]);
    }
    store_groups(out + static_cast<long long>(y) * a.columns, d, lane);
  }
}

/// Makes the outputs of a tile.
template <int kernel_rows, RowStep step>
__device__ inline void sweep_tile(const RowArguments& a, double* shared) {
  constexpr int in_rows = row_tile_rows + kernel_rows - 1, taps = kernel_rows * row_points;
  constexpr int pitch = stencil2row_pitch(in_rows, step >= RowStep::padded_rows);
  constexpr int matrix = (row_groups + 1) * pitch;
  const long long x = static_cast<long long>(blockIdx.x) * layout_columns;
  const long long y = static_cast<long long>(blockIdx.y) * row_tile_rows;
  const double* const in = a.in + y * a.in_pitch + x;
  double* const out = a.out + y * a.columns + x;

  if constexpr (step == RowStep::natural)
    fill_natural<kernel_rows>(a, in, shared);
  else if constexpr (!in_natural_order(step) && !in_memory(step))
    fill_stencil2row<kernel_rows, step>(a, in, shared);
  __syncthreads();

  if constexpr (step == RowStep::natural) {
    constexpr int width = skewed(layout_columns + row_outputs);
    multiply_tile<kernel_rows>(a, out, [&](int row, int group, int r, int column) {
      return shared + (row + r) * width + skewed(group * row_outputs + column);
    });
  } else if constexpr (step == RowStep::natural_from_memory) {
    multiply_tile<kernel_rows>(a, out, [&](int row, int group, int r, int column) {
      return in + (row + r) * a.in_pitch + group * row_outputs + column;
    });
  } else if constexpr (on_tensor_cores(step)) {
    multiply_tile<(2 * taps + 15) / 16>(a, out, [&](int row, int group, int s, int column) {
      const int c = 16 * s + column;  // beyond both halves weights are 0 and any point will do
      const int at = c < taps ? c : matrix + (c < 2 * taps ? c - taps : 0);
      return shared + group * pitch + row_points * row + at;
    });
  } else {
    const int column = threadIdx.x % layout_columns, group = column / row_outputs, c = column % row_outputs;
    const double *left = shared + group * pitch, *right = left + matrix;
    if constexpr (step == RowStep::stencil2row_in_memory) {
      left = a.matrix + (x / row_outputs + group) * a.matrix_pitch + row_points * y;
      right = left + a.columns / row_outputs * a.matrix_pitch;
    }
    for (int row = threadIdx.x / layout_columns; row < row_tile_rows; row += layout_threads / layout_columns)
      out[static_cast<long long>(row) * a.columns + column] =
          sum_of_group<kernel_rows>(a, left + row_points * row, right + row_points * row, c);
  }
}

extern "C" __global__ void write_matrix(const __grid_constant__ RowArguments a) {
  if constexpr (constants::step == RowStep::im2row_in_memory)
    write_im2row<constants::kernel_rows>(a);
  else
    write_stencil2row<constants::kernel_rows>(a);
}

extern "C" __global__ void __launch_bounds__(layout_threads, 2)
    sweep_rows(const __grid_constant__ RowArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  if constexpr (constants::step == RowStep::im2row_in_memory)
    multiply_im2row<constants::kernel_rows>(a);
  else
    sweep_tile<constants::kernel_rows, constants::step>(a, reinterpret_cast<double*>(memory));
}

/// Writes the input: layout_value() of the place in memory.
extern "C" __global__ void fill_rows(const __grid_constant__ RowArguments a) {
  const long long elements = (a.rows + constants::kernel_rows - 1) * a.in_pitch + natural_window;
  for (long long i = static_cast<long long>(blockIdx.x) * layout_threads + threadIdx.x; i < elements;
       i += static_cast<long long>(gridDim.x) * layout_threads)
    const_cast<double*>(a.in)[i] = layout_value(i);
}

}  // namespace spsolve::cuda
