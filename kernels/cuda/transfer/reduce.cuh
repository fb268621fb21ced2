// SPDX-License-Identifier: Apache-2.0
// Computes the extremes of a field, and its sums in exact pieces, whose bits do not depend on how points are
// divided among threads. In the same pass, every stride-th point along each axis is kept in the type of a
// file.
//
// A warp takes reduce_columns points of a row at a time, so that loads are contiguous whatever the shape of
// the block of the grid. The threads of a block combine their results in shared memory with a barrier per
// halving; the host combines the blocks.
//
// Cost per point: one load of the field and, for its changes, one load of the field before. In fp64 the
// kernel is bound by memory bandwidth.

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/transfer/reduce_arguments.hpp"
#include "kernels/magnitude.hpp"

namespace spsolve::cuda {

using constants::Kept;
using constants::Stored;
using constants::stride;
using Value = decltype(value_of(Stored()));
constexpr Value largest_value = sizeof(Value) == sizeof(double) ? largest_double : 0x1.fffffep+127;
constexpr int warp = 32;

/// Keeps the sampled points among `columns` points of a row of the field, from `begin` on.
__device__ inline void keep(const SampleBlock& sample, long long plane, long long row, long long begin,
                            int columns, const Stored* points) {
  const long long z = plane - sample.skipped[0], y = row - sample.skipped[1], x = begin - sample.skipped[2];
  if (!sample.data || z % stride || y % stride) return;
  Kept* const kept =
      static_cast<Kept*>(sample.data) + z / stride * sample.plane_stride + y / stride * sample.row_stride;
  const long long end = (x + columns + stride - 1) / stride;
  for (long long k = (x + stride - 1) / stride + threadIdx.x % warp; k < end; k += warp)
    store(kept[k], value_of(points[k * stride - x]));
}

/// Calls visit(point number in C order, value, value before) for the points of this thread, and keeps the
/// sampled points. Without a field before, the value is passed twice.
template <class Visit>
__device__ inline void for_each_point(const ReduceArguments& a, const Visit& visit) {
  constexpr int warps = reduce_threads / warp;
  const long long pieces_of_row = (a.columns + reduce_columns - 1) / reduce_columns;
  const long long pieces = a.planes * a.rows * pieces_of_row;
  const int lane = threadIdx.x % warp;
  const bool with_before = a.before.data;
  for (long long piece = blockIdx.x * static_cast<long long>(warps) + threadIdx.x / warp; piece < pieces;
       piece += static_cast<long long>(gridDim.x) * warps) {
    const long long row = piece / pieces_of_row;
    const long long begin = (piece - row * pieces_of_row) * reduce_columns;
    const long long rest = a.columns - begin;
    const int columns = rest < reduce_columns ? static_cast<int>(rest) : reduce_columns;
    const long long plane = row / a.rows, row_of_plane = row - plane * a.rows;
    const auto at = [&](const StoredBlock& block) {
      return static_cast<const Stored*>(block.data) + plane * block.plane_stride +
             row_of_plane * block.row_stride + begin;
    };
    const Stored *now = at(a.now), *before = at(a.before);
#pragma unroll 8
    for (int x = lane; x < columns; x += warp) {
      const Value value = value_of(now[x]);
      visit(row * a.columns + begin + x, value, with_before ? value_of(before[x]) : value);
    }
    // This loop is separate, because in the loop above loads would wait for these stores. The points are in
    // the cache.
    keep(a.sample, plane, row_of_plane, begin, columns, now);
  }
}

/// Combines the results of a block's threads and writes the block's result.
template <class Result>
__device__ inline void combine_block(const Result& own, const ReduceArguments& a) {
  __shared__ Result results[reduce_threads];
  const int thread = threadIdx.x;
  results[thread] = own;
  for (int half = reduce_threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (thread < half) results[thread] = combined(results[thread], results[thread + half]);
  }
  if (thread == 0) static_cast<Result*>(a.results)[blockIdx.x] = results[0];
}

}  // namespace spsolve::cuda

using namespace spsolve;
using cuda::ReduceArguments;

extern "C" __global__ void __launch_bounds__(cuda::reduce_threads) extremes(const ReduceArguments a) {
  using cuda::Value;
  Value least = cuda::largest_value, greatest = -cuda::largest_value;
  double largest_change = 0;
  long long first_not_finite = no_point;
  cuda::for_each_point(a, [&](long long point, Value value, Value before) {
    least = value < least ? value : least;
    greatest = greatest < value ? value : greatest;
    if (a.before.data)  // conversions and differences in double cost more than all the rest
      largest_change = fmax(largest_change, fabs(static_cast<double>(value) - before));
    if (value - value != 0 && point < first_not_finite) first_not_finite = point;
  });
  cuda::combine_block(Extremes{least, greatest, largest_change, first_not_finite}, a);
}

extern "C" __global__ void __launch_bounds__(cuda::reduce_threads) sums(const ReduceArguments a) {
  Sums own{};
  cuda::for_each_point(a, [&](long long, double value, double before) {
    own = combined(own, summands(value, value - before, a.scales));
  });
  cuda::combine_block(own, a);
}

/// Raises the single result to the largest magnitude.
extern "C" __global__ void __launch_bounds__(cuda::reduce_threads) largest(const ReduceArguments a) {
  int own = 0;
  cuda::for_each_point(a, [&](long long, float value, float) { own = max(own, magnitude(value)); });
  own = __reduce_max_sync(0xffffffffu, own);
  int* const all = static_cast<int*>(a.results);
  if (threadIdx.x % cuda::warp == 0 && own > *static_cast<volatile int*>(all)) atomicMax(all, own);
}
