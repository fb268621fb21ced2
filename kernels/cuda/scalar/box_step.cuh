// SPDX-License-Identifier: Apache-2.0
// This kernel takes a dense step: one time step of a stencil of many taps, in 2D and 3D, too many for the
// registers of a march. The loops go over all weights of the stencil's bounding box.
//
// Blocks, warps, lanes. A block computes own_planes (1 or 2) planes of one tile. A warp has lanes_x lanes
// along x, its other lanes are rows. A thread computes 64 bytes of columns of two neighbouring rows, whose
// sums share what is read.
//
// Registers hold the sums and a window of one row. Shared memory holds one plane of the tile's input as
// operands (one stage, no prefetch) and all weights. Each plane of input has a block barrier before and one
// after its copy, and one more where ghost points are written into the tile.
//
// Cost per point: one fused multiply-add per tap, in the order of march.cuh, and one wavefront of shared
// memory per 12 to 16 of them (fp64: 4 to 5). The kernel is bound by the issue slots of a multiprocessor.

#include "kernels/cuda/scalar/tile_io.cuh"

extern __shared__ __align__(16) unsigned char memory[];

namespace spsolve::cuda {

/// Takes the step of one thread block.
class BoxStep {
 public:
  __device__ explicit BoxStep(const ScalarArguments& a)
      : a_(a),
        thread_row_(static_cast<int>(threadIdx.x) / lanes_x),
        slow_(a.region.begin[slow_axis] + static_cast<long long>(blockIdx.z) * own_planes),
        row_(a.region.begin[tile_axis] + static_cast<long long>(blockIdx.y) * rows),
        column_(a.first_column + static_cast<long long>(blockIdx.x) * columns),
        input_(a, row_, column_, memory) {}

  __device__ void run() {
    if constexpr (constants::with_source)
      for_each_row([&](const RowResults& results, auto& sums) { results.read_source(sums); });
    hold_weights();
    // If the last plane lies beyond the region, the planes that only it would read need not exist.
    const int there = static_cast<int>(min(static_cast<long long>(planes + own_planes - 1),
                                           a_.region.end[slow_axis] + 2 * slow_radius - slow_));
    for (int n = 0; n < there; ++n) {
      if (n > 0) __syncthreads();
      input_.hold(input_.tile(), slow_ + n - slow_radius);
      wait_for_copies<0>();
      __syncthreads();
      input_.complete(input_.tile(), slow_ + n - slow_radius);
      add_plane(n);
    }
    for_each_row([](const RowResults& results, const auto& sums) { results.write(sums); });
  }

 private:
  static constexpr int planes = 2 * slow_radius + 1, tap_rows = 2 * row_radius + 1,
                       own_planes = constants::own_planes;
  static constexpr int lanes_x = constants::lanes_x;
  static constexpr int chunk = 16 / sizeof(Compute), own_columns = 4 * chunk;  // columns of a thread
  static constexpr int columns = lanes_x * own_columns, rows = 2 * block_threads / lanes_x;
  // 16 bytes of padding follow each 64 bytes, so that the lanes that read together find their 16 bytes in
  // different banks.
  using OperandInput = TileInput<false, 1, rows, columns, own_columns>;
  static constexpr int margin = OperandInput::margin, window_columns = own_columns + 2 * margin;

  /// Adds plane n of the held planes to the sums. The two rows of a thread share all rows that they read
  /// except the first and the last.
  __device__ void add_plane(int n) {
    const Compute* from = input_.tile() + 2 * thread_row_ * OperandInput::pitch +
                          static_cast<int>(threadIdx.x) % lanes_x * (own_columns + chunk);
    add_row<true, false>(from, n, 0);
#pragma unroll 1
    for (int row = 1; row <= 2 * row_radius; ++row) add_row<true, true>(from += OperandInput::pitch, n, row);
    add_row<false, true>(from + OperandInput::pitch, n, 2 * row_radius + 1);
  }

  /// Adds one row of input, to the first row of results, the second one, or both.
  template <bool first, bool second>
  __device__ void add_row(const Compute* from, int n, int row) {
    Compute window[window_columns];
#pragma unroll
    for (int k = 0; k < window_columns; k += chunk) {
      const auto loaded =
          *reinterpret_cast<const ElementVector<Compute, chunk>*>(from + OperandInput::padded(k));
#pragma unroll
      for (int i = 0; i < chunk; ++i) window[k + i] = loaded.element[i];
    }
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane) {
      if (own_planes > 1 && (n < plane || n - plane >= planes)) continue;
      const Compute* const weights = weights_of(n - plane, row);
#pragma unroll
      for (int k = 0; k <= 2 * column_radius; k += chunk) {
        ElementVector<Compute, chunk> of_first, of_second;
        if constexpr (first) of_first = *reinterpret_cast<const ElementVector<Compute, chunk>*>(weights + k);
        if constexpr (second)
          of_second = *reinterpret_cast<const ElementVector<Compute, chunk>*>(weights - weight_pitch + k);
#pragma unroll
        for (int i = 0; i < chunk && k + i <= 2 * column_radius; ++i) {
          const Compute* const points = window + margin - column_radius + k + i;
          if constexpr (first) add_tap(sums_[plane][0], of_first.element[i], points);
          if constexpr (second) add_tap(sums_[plane][1], of_second.element[i], points);
        }
      }
    }
  }

  /// Adds one tap to the sums; weights of zero are no taps and are skipped.
  static __device__ void add_tap(Compute (&sums)[own_columns], Compute weight, const Compute* points) {
    if (!constants::all_taps && weight == Compute(0)) return;
#pragma unroll
    for (int c = 0; c < own_columns; ++c) sums[c] = fused(weight, points[c], sums[c]);
  }

  // Weights lie in shared memory too, where one read brings several of them. From constant memory ptxas reads
  // one at a time, per thread or per warp, depending on unrelated lines of code.
  static constexpr int weight_pitch = constants::weight_pitch;
  static_assert(OperandInput::bytes + planes * tap_rows * weight_pitch * static_cast<int>(sizeof(Compute)) <=
                    constants::shared_bytes,
                "the host must ask for this much");
  static __device__ Compute* weights_of(int plane, int row) {
    return reinterpret_cast<Compute*>(memory + OperandInput::bytes) + (plane * tap_rows + row) * weight_pitch;
  }
  static __device__ void hold_weights() {
    for (int k = threadIdx.x * chunk; k < planes * tap_rows * weight_pitch; k += block_threads * chunk)
      copy_16_bytes(weights_of(0, 0) + k, constants::weights + k);
    commit_copies();
  }

  template <class Body>
  __device__ void for_each_row(Body&& body) {
    const long long column = column_ + static_cast<int>(threadIdx.x) % lanes_x * own_columns;
#pragma unroll
    for (int plane = 0; plane < own_planes; ++plane)
#pragma unroll
      for (int row = 0; row < 2; ++row)
        body(RowResults{a_, slow_ + plane, row_ + 2 * thread_row_ + row, column}, sums_[plane][row]);
  }

  const ScalarArguments& a_;
  int thread_row_;
  long long slow_, row_, column_;  // the block's first result
  OperandInput input_;
  Compute sums_[own_planes][2][own_columns]{};
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::constants::warps,
                                             spsolve::cuda::constants::blocks_per_multiprocessor)
    box_step(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  spsolve::cuda::BoxStep(a).run();
}
