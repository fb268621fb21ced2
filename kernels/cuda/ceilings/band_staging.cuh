// SPDX-License-Identifier: Apache-2.0
// Applies a 2D stencil in fp16 by bands of strided swapping (SPIDER, section 3.1) or dense bands, with and
// without staging of the input in shared memory, and by dense bands in the order of the swap: the steps of
// SparStencil's figure 7 and SPIDER's figure 12 with the same loop around them. The kernel is made for
// comparisons. No solver takes it, and kernels of the solver always stage.
//
// A block makes 32 rows of 128 outputs. A warp makes four rows: mma.sp.m16n8k32 for each row of the stencil,
// with 16 neighbouring outputs as rows and 8 such tiles as columns; dense bands take two m16n8k16.

#include "constants.cuh"  // kernel_rows, form, staged
#include "kernels/cuda/ceilings/layout_arguments.hpp"
#include "kernels/cuda/ptx/conversions.cuh"
#include "kernels/cuda/ptx/mma.cuh"

namespace spsolve::cuda {

constexpr int band_row_words = (layout_columns + band_outputs) / 2;  // words of the input of a tile
constexpr int band_pitch = skewed(band_row_words);                   // in shared memory
constexpr int band_warps = layout_threads / 32;

/// Returns the words of shared memory of a block: the input of its tile if it is staged, and a row of results
/// for each warp.
constexpr int band_input_words(int kernel_rows, bool staged) {
  return staged ? (band_tile_rows + kernel_rows - 1) * band_pitch : 0;
}

/// Copies the input of a tile to shared memory, 16 bytes at a time.
template <int kernel_rows>
__device__ inline void stage_band(const BandArguments& a, const unsigned short* in, unsigned* shared) {
  constexpr int chunks = band_row_words / 4;
  for (int i = threadIdx.x; i < (band_tile_rows + kernel_rows - 1) * chunks; i += layout_threads)
    *reinterpret_cast<uint4*>(shared + i / chunks * band_pitch + skewed(i % chunks * 4)) =
        *reinterpret_cast<const uint4*>(in + i / chunks * a.in_pitch + i % chunks * 8);
  __syncthreads();
}

/// Returns the first half of one word and the second half of another.
__device__ inline unsigned halves(unsigned first, unsigned second) {
  return (first & 0xffffu) | (second & 0xffff0000u);
}

/// Adds the products of one row of the stencil. word(w) is the word of points 2 w and 2 w + 1 of the window
/// of this lane's tile.
template <BandForm form, int row, class Word>
__device__ inline void add_row(float (&d)[4], const uint4* weights, unsigned metadata, Word&& word) {
  const int q = threadIdx.x % 4;
  unsigned points[4] = {word(q), word(q + 4), word(q + 8), word(q + 12)};
  if constexpr (form != BandForm::dense) {
    // Strided swapping: odd points change places with those 16 further, so two words exchange their halves.
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      const unsigned first = points[i], second = points[i + 2];
      points[i] = halves(first, second);
      points[i + 2] = halves(second, first);
    }
  }
  if constexpr (form == BandForm::sparse) {
    const unsigned operand[4] = {weights[0].x, weights[0].y, weights[0].z, weights[0].w};
    sparse_mma<Element::fp16, 32, row % 2>(d, operand, points, metadata);
  } else {
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const unsigned operand[4] = {weights[half].x, weights[half].y, weights[half].z, weights[half].w};
      const unsigned columns[2] = {points[2 * half], points[2 * half + 1]};
      dense_mma<Element::fp16>(d, operand, columns);
    }
  }
}

/// Calls add_row() for rows `row` to kernel_rows - 1 of the stencil.
template <BandForm form, int kernel_rows, int row, class WordOfRow>
__device__ inline void add_rows(float (&d)[4], const uint4 (&weights)[kernel_rows][2],
                                const unsigned* metadata, WordOfRow&& word) {
  if constexpr (row < kernel_rows) {
    add_row<form, row>(d, weights[row], metadata[row / 2], [&](int w) { return word(row, w); });
    add_rows<form, kernel_rows, row + 1>(d, weights, metadata, word);
  }
}

/// Stores a row of results, which go through shared memory so that each lane writes four neighbours.
__device__ inline void store_band(unsigned short* out, const float (&d)[4], unsigned short* results,
                                  int lane) {
#pragma unroll
  for (int i = 0; i < 4; ++i)  // row lane / 4 + 8 (i / 2) of tile 2 (lane % 4) + i % 2
    results[(2 * (lane % 4) + i % 2) * band_outputs + lane / 4 + 8 * (i / 2)] = fp16_of(d[i]);
  __syncwarp();
  *reinterpret_cast<uint2*>(out + 4 * lane) = *reinterpret_cast<const uint2*>(results + 4 * lane);
  __syncwarp();
}

/// Makes the outputs of a block.
template <int kernel_rows, BandForm form, bool staged>
__device__ inline void sweep_band_tile(const BandArguments& a, unsigned* shared) {
  constexpr bool sparse = form == BandForm::sparse;
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  const long long x = static_cast<long long>(blockIdx.x) * layout_columns;
  const long long y = static_cast<long long>(blockIdx.y) * band_tile_rows;
  const unsigned short* const in = a.in + y * a.in_pitch + x;
  auto* const results = reinterpret_cast<unsigned short*>(shared + band_input_words(kernel_rows, staged)) +
                        warp * layout_columns;
  if constexpr (staged) stage_band<kernel_rows>(a, in, shared);

  uint4 weights[kernel_rows][2];
  unsigned metadata[(kernel_rows + 1) / 2] = {};
#pragma unroll
  for (int r = 0; r < kernel_rows; ++r)
#pragma unroll
    for (int half = 0; half < (sparse ? 1 : 2); ++half)
      weights[r][half] = static_cast<const uint4*>(a.weights)[(r * (sparse ? 1 : 2) + half) * 32 + lane];
  if constexpr (sparse)
#pragma unroll
    for (int pair = 0; pair < (kernel_rows + 1) / 2; ++pair) metadata[pair] = a.metadata[pair * 32 + lane];

  for (int row = warp; row < band_tile_rows; row += band_warps) {
    float d[4] = {};
    add_rows<form, kernel_rows, 0>(d, weights, metadata, [&](int r, int w) {
      const int at = lane / 4 * (band_outputs / 2) + w;
      if constexpr (staged) return shared[(row + r) * band_pitch + skewed(at)];
      return reinterpret_cast<const unsigned*>(in + (row + r) * a.in_pitch)[at];
    });
    store_band(a.out + (y + row) * a.columns + x, d, results, lane);
  }
}

extern "C" __global__ void __launch_bounds__(layout_threads, 2)
    sweep_band(const __grid_constant__ BandArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  sweep_band_tile<constants::kernel_rows, constants::form, constants::staged>(
      a, reinterpret_cast<unsigned*>(memory));
}

/// Writes the input: layout_value() of the place in memory.
extern "C" __global__ void fill_band(const __grid_constant__ BandArguments a) {
  const long long elements = (a.rows + constants::kernel_rows - 1) * a.in_pitch;
  for (long long i = static_cast<long long>(blockIdx.x) * layout_threads + threadIdx.x; i < elements;
       i += static_cast<long long>(gridDim.x) * layout_threads)
    const_cast<unsigned short*>(a.in)[i] = fp16_of(static_cast<float>(layout_value(i)));
}

}  // namespace spsolve::cuda
