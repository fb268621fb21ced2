// SPDX-License-Identifier: Apache-2.0
// Computes a sum of rank-one stencils in x, y and z (z_taps > 1): in every plane the passes along x and y of
// separable.cuh on sparse tensor cores, with one window of rows, and along z a transposed filter in fp32.
// Each plane is added to the unfinished sums of the planes of output within its reach. These sums move on by
// one plane as they are added to, so the loop over planes needs no unrolling.
//
// Blocks, warps, lanes. A block marches planes_per_block planes along z. It has warps_x x warps_y warps; each
// has a column of 16 x 16 points. A lane has eight of these points: columns 4q to 4q + 3 of two rows (q =
// lane % 4).
//
// Registers. A lane keeps the unfinished sums of z_taps - 1 planes, the sums along x and y of the last plane,
// and the weights if they are few. Shared memory holds `stages` planes of input with their halo in x and y (a
// stage is one plane of 16 (warps_y + 1) rows), two buffers of results for bulk stores, and the weights
// otherwise.
//
// Barriers. Warps meet at the mbarriers of the ring only (BlockRing; on sm_80 at block barriers). With bulk
// stores the warps side by side along x meet at a named barrier per plane, since one of their threads stores
// for all.
//
// Cost. Terms that share their factor along z are summed before that pass; terms that share their factor
// along x share pass 1. Per 128 outputs: 2 x_rank x_windows + rank instructions m16n8k32 (tf32: twice as
// many, fp32: six times as many), and 4 z_rank z_taps fp32 multiply-adds of 32 lanes.

#include "kernels/cuda/tensor/separable_operands.cuh"
#include "kernels/cuda/tensor/separable_stage.cuh"
#include "kernels/cuda/tensor/separable_stores.cuh"

namespace spsolve::cuda {

/// Marches one warp down the planes of its column of 16 x 16 points.
class ColumnSweep {
 public:
  __device__ ColumnSweep(const SeparableArguments& a, SeparableSharedMemory& shared)
      : a_(a),
        shared_(shared),
        warp_x_(static_cast<int>(threadIdx.x) / 32 % warps_x),
        warp_y_(static_cast<int>(threadIdx.x) / 32 / warps_x),
        g_(static_cast<int>(threadIdx.x) % 32 / 4),
        row_(row_of_result(g_)),
        q_(static_cast<int>(threadIdx.x) % 4),
        output_{a, static_cast<int>(blockIdx.z) * a.planes_per_block,
                static_cast<int>(a.first_row - a.region.begin[1]) +
                    (static_cast<int>(blockIdx.y) * warps_y + warp_y_) * slab,
                static_cast<int>(a.first_column - a.region.begin[2]) +
                    (static_cast<int>(blockIdx.x) * warps_x + warp_x_) * slab},
        planes_(min(output_.in_region(a.region.end[0], 0) - output_.plane, a.planes_per_block)),
        // All neighbours along x must be whole, since they store together.
        whole_(aligned && output_.begin_row() <= 0 && output_.end_row() >= slab &&
               output_.begin_column() <= -warp_x_ * slab &&
               output_.end_column() >= block_columns - warp_x_ * slab) {}

  __device__ void run() {
    const SeparableWeights weights(a_, shared_);
    BlockRing ring(shared_, a_, output_.row_in(a_.in) - warp_y_ * slab + row_margin,
                   output_.column_in(a_.in) - warp_x_ * slab + column_margin,
                   output_.plane_in(a_.in) + plane_margin);
    if constexpr (weights_in_shared) __syncthreads();
    ring.for_each(planes_ + z_taps - 1, [&](int n) {
      float result[8], added[8] = {};
      if (n >= z_taps) read_source(n - z_taps, added);
      step(weights, ring, n, result);
      if (n >= z_taps) write(n - z_taps, result, added);
    });
    float result[8], added[8] = {};
    read_source(planes_ - 1, added);
    along_z(result);
    write(planes_ - 1, result, added);
#if __CUDA_ARCH__ >= 900
    if (bulk_stores && stores()) wait_for_stores_to_read<0>();  // shared memory must outlive the stores
#endif
  }

 private:
  /// Reads plane n. `result` is the plane that plane n - 1 completes: the pass along z of plane n - 1 runs
  /// while tensor cores work on plane n.
  __device__ void step(const SeparableWeights& weights, BlockRing& ring, int n, float (&result)[8]) {
    const Stored* in =
        &shared_.stage[n % stages][warp_y_ * slab][warp_x_ * slab + window_column] + input_of_lane(g_, q_);
    Accumulators sums[4][x_rank];
    static_for<0, x_windows>([&](auto window_) {
      constexpr int window = decltype(window_)::value;
      OperandFragment x[4];
#pragma unroll
      for (int r = 0; r < 4; ++r)
        x[r] = load_window(in + 2 * r * row_elements + slab * window, window < x_paired);
#pragma unroll
      for (int k = 0; k < x_rank; ++k) {
        const auto a = weights.get<false, window>(k);
#pragma unroll
        for (int r = 0; r < 4; ++r) weights.multiply<false>(sums[r][k], a, x[r]);
      }
    });
    ring.release(n);
    along_z(result);
    Fragment along_x[x_rank][2];
#pragma unroll
    for (int k = 0; k < x_rank; ++k)
#pragma unroll
      for (int r = 0; r < 4; ++r)
#pragma unroll
        for (int half = 0; half < 2; ++half)
          to_fragment(along_x[k][half], r, sums[r][k].total(2 * half), sums[r][k].total(2 * half + 1));
    along_y(weights, along_x);
  }

  /// Runs pass 2 (along y) for every factor along z.
  __device__ void along_y(const SeparableWeights& weights, const Fragment (&along_x)[x_rank][2]) {
    static_for<0, z_rank>([&](auto z_) {
      constexpr int z = decltype(z_)::value;
      Accumulators sums[2];
      float out[2][4];
      static_for<0, rank>([&](auto k_) {
        constexpr int k = decltype(k_)::value;
        if constexpr (z_of[k] == z) {
          const auto a = weights.get<true, 0>(k);
          constexpr bool first = k == 0 || z_of[k > 0 ? k - 1 : 0] != z;
          constexpr bool last = k + 1 == rank || z_of[k + 1 < rank ? k + 1 : k] != z;
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            weights.multiply<false>(sums[half], a, operand_of(along_x[x_of[k]][half]));
            end_factor(sums[half], first, last, out[half]);
          }
        }
      });
#pragma unroll
      for (int i = 0; i < 8; ++i) plane_sum_[z][i] = out[i % 4 / 2][i / 4 * 2 + i % 2];
    });
  }

  /// Adds the last plane to the planes of output within reach; `result` is the plane that it completes.
  __device__ void along_z(float (&result)[8]) {
    float last[8] = {};  // begins the sum of the furthest plane
#pragma unroll
    for (int z = 0; z < z_rank; ++z) {
      const float* weight = a_.along_z + z * z_taps;
      const bool moves = z == z_rank - 1;
#pragma unroll
      for (int i = 0; i < 8; ++i) {
        const float value = plane_sum_[z][i];
        (moves ? result : sums_[0])[i] = __fmaf_rn(weight[z_taps - 1], value, sums_[0][i]);
#pragma unroll
        for (int t = 1; t < z_taps - 1; ++t)
          sums_[moves ? t - 1 : t][i] = __fmaf_rn(weight[z_taps - 1 - t], value, sums_[t][i]);
        (moves ? sums_[z_taps - 2] : last)[i] = __fmaf_rn(weight[0], value, last[i]);
      }
    }
  }

  /// Reads the source before the plane is computed. Lanes outside the region read at its edge, which needs no
  /// branch.
  __device__ void read_source(int plane, float (&added)[8]) const {
    if (!with_source || !(staged_parts || whole_)) return;
    const auto within = [](int p, int begin, int end) { return max(begin, min(p, end - 1)); };
    const int column = within(4 * q_, output_.begin_column(), output_.end_column()) & -4;
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      const int row = within(row_ + 8 * upper, output_.begin_row(), output_.end_row());
      load_now(output_.at<const float>(a_.source, plane, row, column), added + 4 * upper);
    }
  }

  /// Writes the results of a plane: columns 4q to 4q + 3 of two rows per lane.
  __device__ void write(int plane, const float (&result)[8], const float (&added)[8]) {
#pragma unroll
    for (int upper = 0; upper < 2; ++upper) {
      const int row = row_ + 8 * upper;
      float value[4];
#pragma unroll
      for (int c = 0; c < 4; ++c) value[c] = result[4 * upper + c];
      if (staged_parts || whole_) {
        if constexpr (with_source)
#pragma unroll
          for (int c = 0; c < 4; ++c) value[c] += source_factor * added[4 * upper + c];
        const ElementVector<Stored, 4> packed = pack_four(value);
        if constexpr (bulk_stores)
          *reinterpret_cast<ElementVector<Stored, 4>*>(out(plane, row, 4 * q_)) = packed;
        else
          *reinterpret_cast<ElementVector<Stored, 4>*>(at<Stored>(a_.out, plane, row)) = packed;
      } else if (row >= output_.begin_row() && row < output_.end_row()) {
        Stored* to = at<Stored>(a_.out, plane, row);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int column = 4 * q_ + c;
          if (column < output_.begin_column() || column >= output_.end_column()) continue;
          if constexpr (with_source) value[c] += source_factor * at<const float>(a_.source, plane, row)[c];
          store(to[c], value[c]);
        }
      }
    }
    if (bulk_stores) store_staged(plane);
  }

  /// Returns the address of the lane's results in a row of a plane.
  template <class T>
  __device__ T* at(const View& view, int plane, int row) const {
    return output_.at<T>(view, plane, row, 4 * q_);
  }

  /// Returns the staging address of a column of the warp.
  __device__ Stored* out(int plane, int row, int column) const {
    return staged(shared_.out[buffer(plane)][warp_x_ * slab / box_columns][row],
                  warp_x_ * slab % box_columns + column, row % 8);
  }

  __device__ int buffer(int plane) const { return plane % 2 * warps_y + warp_y_; }

  /// Returns whether this thread stores for its warp and the neighbours along x.
  __device__ bool stores() const { return warp_x_ == 0 && threadIdx.x % 32 == 0; }

  /// Stores a plane from one of two buffers. The copy engine has read the buffer of the plane before when all
  /// neighbours have passed the barrier. Parts of boxes are copied by the threads of the warp that made them.
  __device__ void store_staged(int plane) const {
#if __CUDA_ARCH__ >= 900
    if (!whole_) {
      __syncwarp();
      return store_part<slab>(output_, plane, 0, slab, 0,
                              [&](int row, int column) { return out(plane, row, column); });
    }
    fence_for_copy_engine();
    if (stores()) wait_for_stores_to_read<0>();
    synchronize_threads<32 * warps_x>(1 + warp_y_);
    if (!stores()) return;
    for (int box = 0; box < boxes; ++box)
      tensor_store(a_.out_map, output_.column_in(a_.out) + box * box_columns, output_.row_in(a_.out),
                   output_.plane_in(a_.out) + plane, shared_.out[buffer(plane)][box]);
    commit_stores();
#endif
  }

  const SeparableArguments& a_;
  SeparableSharedMemory& shared_;
  int warp_x_, warp_y_, g_, row_, q_;
  WarpOutput output_;
  int planes_;
  bool whole_;
  float plane_sum_[z_rank][8]{};  // sums of the last plane along x and y
  float sums_[z_taps - 1][8]{};   // sums of the planes of output to come
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::warps,
                                             spsolve::cuda::blocks_per_multiprocessor)
    separable_planes(const __grid_constant__ spsolve::cuda::SeparableArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  spsolve::cuda::ColumnSweep(a, *reinterpret_cast<spsolve::cuda::SeparableSharedMemory*>(memory)).run();
}
