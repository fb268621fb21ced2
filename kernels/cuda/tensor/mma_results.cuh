// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the results of mma_sweep.cuh: which points the sums of a lane belong to, and how they are
// written.

#include "kernels/cuda/ptx/mma.cuh"
#include "kernels/cuda/tensor/mma_stage.cuh"

namespace spsolve::cuda {

/// Holds the positions of the four results of a product that belong to a lane: two outputs in each of two
/// neighbouring tiles. Transposed 16-bit results are two pairs of neighbours in one tile instead, and fp64
/// results one pair in each of two tiles.
template <bool transposed>
struct ResultPositions {
  long long offset[m_blocks][2];  // in elements, from the first tile of the warp
  int plane[m_blocks][2];
  unsigned inside[m_blocks][blocks];  // a bit per result: its row and column lie in the region

  static constexpr int step = transposed || wide ? 1 : tile[2];  // columns between the first two results

  __device__ void locate(const View& view, const Region& region, const long long (&origin)[3], int lane) {
    const int g = lane / 4, q = lane % 4;
#pragma unroll
    for (int b = 0; b < m_blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = outputs_per_block * b + (wide ? 2 * q : 8 * half + (transposed ? 2 * q : g));
        const int column = (wide ? g + 8 * half : transposed ? g : 2 * q) * tile[2];
        const int p0 = outputs[row][0], p1 = outputs[row][1], p2 = outputs[row][2] + column;
        plane[b][half] = p0;
        offset[b][half] = p0 * view.stride[0] + p1 * view.stride[1] + p2;
#pragma unroll
        for (int j = 0; j < blocks; ++j) {
          if (half == 0) inside[b][j] = 0;
          const long long y = origin[1] + p1 + j / blocks_x * tile[1],
                          x = origin[2] + p2 + j % blocks_x * tiles_columns;
          const bool row_inside = outputs[row][1] >= 0 && y >= region.begin[1] && y < region.end[1];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (row_inside && x + i * step >= region.begin[2] && x + i * step < region.end[2])
              inside[b][j] |= 1u << (2 * half + i);
        }
      }
    }
  }
};

/// Writes the chunks of output of a warp, one after the other along the march.
template <class Stored>
class ResultWriter {
 public:
  /// `origin` is the first point of the warp's first tile.
  __device__ ResultWriter(const MmaArguments& a, const long long (&origin)[3]) : a_(a), plane_(origin[0]) {
    const int lane = threadIdx.x % 32;
    positions_.locate(a.out, a.region, origin, lane);
    out_ = first_point<Stored>(a.out, origin);
    if constexpr (with_source) {
      source_positions_.locate(a.source, a.region, origin, lane);
      source_ = first_point<Compute>(a.source, origin);
    }
  }

  /// Writes the sums of a chunk of output that lie in the region.
  __device__ void store(const Compute (&sums)[m_blocks][blocks][4]) const {
#pragma unroll
    for (int block = 0; block < m_blocks; ++block)
#pragma unroll
      for (int j = 0; j < blocks; ++j) {
        Compute value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) value[i] = sums[block][j][i];
        if constexpr (!wide)
#pragma unroll
          for (int i = 0; i < 4; ++i) value[i] *= a_.unscale;
        if constexpr (with_source) {
          const Compute* from = source_ + block_offset(a_.source, j);
          const unsigned inside = inside_planes(source_positions_, block, j);
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if (inside >> i & 1)
              value[i] += Compute(source_factor) *
                          from[source_positions_.offset[block][i / 2] + i % 2 * source_positions_.step];
        }
        write(out_ + block_offset(a_.out, j), block, inside_planes(positions_, block, j), value);
      }
  }

  __device__ void next_chunk() {
    plane_ += tile[0];
    out_ += tile[0] * a_.out.stride[0];
    if constexpr (with_source) source_ += tile[0] * a_.source.stride[0];
  }

 private:
  template <class Element>
  __device__ static Element* first_point(const View& view, const long long (&origin)[3]) {
    return static_cast<Element*>(view.data) + (origin[0] - view.begin[0]) * view.stride[0] +
           (origin[1] - view.begin[1]) * view.stride[1] + (origin[2] - view.begin[2]);
  }

  __device__ static long long block_offset(const View& view, int j) {
    return j / blocks_x * tile[1] * view.stride[1] + j % blocks_x * tiles_columns;
  }

  template <bool transposed>
  __device__ unsigned inside_planes(const ResultPositions<transposed>& positions, int block, int j) const {
    unsigned inside = positions.inside[block][j];
    if constexpr (tile[0] == 1) return inside;  // the march ends with the region
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long p = plane_ + positions.plane[block][half];
      if (p < a_.region.begin[0] || p >= a_.region.end[0]) inside &= ~(3u << (2 * half));
    }
    return inside;
  }

  __device__ void write(Stored* to, int block, unsigned inside, const Compute (&value)[4]) const {
    if constexpr (sizeof(Stored) == 2) {
      unsigned pair[2];  // pairs of neighbours along x
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Stored low, high;
        spsolve::cuda::store(low, value[2 * half]);
        spsolve::cuda::store(high, value[2 * half + 1]);
        pair[half] = transpose(low.bits | high.bits << 16);
      }
      if (aligned && inside == 15) {
        if constexpr (four_together) {
          *reinterpret_cast<uint2*>(to + positions_.offset[block][0]) = {pair[0], pair[1]};
        } else {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            *reinterpret_cast<unsigned*>(to + positions_.offset[block][half]) = pair[half];
        }
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (inside >> i & 1)
            to[positions_.offset[block][i / 2] + i % 2].bits =
                static_cast<unsigned short>(pair[i / 2] >> (16 * (i % 2)));
      }
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Stored* first = to + positions_.offset[block][half];
        if constexpr (wide && aligned) {
          if ((inside >> (2 * half) & 3) == 3) {
            *reinterpret_cast<double2*>(first) = {value[2 * half], value[2 * half + 1]};
            continue;
          }
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (inside >> (2 * half + i) & 1)
            spsolve::cuda::store(first[i * positions_.step], value[2 * half + i]);
      }
    }
  }

  const MmaArguments& a_;
  long long plane_;  // first plane of the next chunk
  ResultPositions<sizeof(Stored) == 2> positions_;
  ResultPositions<false> source_positions_;
  Stored* out_;
  const Compute* source_ = nullptr;
};

}  // namespace spsolve::cuda
