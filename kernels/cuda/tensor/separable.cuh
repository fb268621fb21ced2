// SPDX-License-Identifier: Apache-2.0
// Computes a sum of rank-one stencils in x and y as two chained passes on sparse tensor cores: along x from
// shared memory, then along y in registers.
//
// Blocks, warps, lanes. A block has warps_x warps side by side along x and marches a strip of rows down y;
// strips begin at multiples of 16 rows, blockIdx.z is the plane. A warp has `groups` groups of 16 columns. In
// the results, a lane (g = lane / 4, q = lane % 4) has columns 4q to 4q + 3 of two of 16 rows.
//
// Pass 1 is D1^T = U X^T (M = 16 outputs along x, N = 8 rows). A window of 32 inputs holds one 16-byte chunk
// (two for fp32) per lane, so no shuffle is needed. Pass 2 is out = V D1 (M = 16 outputs along y, N = 8
// columns). Rows are assigned to N such that the accumulators of pass 1, rounded to operands, are the B
// fragments of pass 2; see kernels/sparse/chained_pass.hpp.
//
// Fragment n of 16 + 16 rows holds slab n (16 rows) in lanes with even q and slab n + windows in lanes with
// odd q. Where a window begins in the odd half of one step's fragment, its slabs are the odd lanes of that
// fragment and the even lanes of the next one; the same weights are used with the metadata of the other pair
// of lanes. So every value of D1 is computed once per strip.
//
// Registers. A lane keeps the fragments of the rows of the last step (32 y_windows rows of its columns), and
// the weights if they are few. Shared memory holds `stages` stages of input, a staging buffer for bulk
// stores, the source if it is staged, and the weights otherwise. A stage is 32 y_windows rows of the block's
// columns with their halo in x.
//
// Barriers. Warps meet at the mbarriers of the ring only (BlockRing; on sm_80 at block barriers). A warp
// waits for its source at an mbarrier of its own.
//
// Cost. Per 128 outputs: x_rank * x_windows + rank * y_windows instructions m16n8k32 (tf32: twice as many
// m16n8k16, fp32 results: three times that). With fp32 storage, operands are rounded to tf32. For fp32
// results, data and weights are split into two tf32 terms each, and all products but that of the two smaller
// terms are summed; no range is lost, since tf32 has the exponents of fp32.
//
// Memory: one read and one write per point, and the halo (mostly from L2). The source of a step comes to
// shared memory while the step is computed. The kernel is limited by memory up to about rank 3 (fp16) or 1
// (fp32), beyond that by the power that tensor cores take.

#include "kernels/cuda/tensor/separable_operands.cuh"
#include "kernels/cuda/tensor/separable_stage.cuh"
#include "kernels/cuda/tensor/separable_stores.cuh"

namespace spsolve::cuda {

/// Marches one warp down its columns of a strip.
class StripSweep {
 public:
  __device__ StripSweep(const SeparableArguments& a, SeparableSharedMemory& shared)
      : a_(a),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / 32),
        g_(static_cast<int>(threadIdx.x) % 32 / 4),
        row_(row_of_result(g_)),
        q_(static_cast<int>(threadIdx.x) % 4),
        output_{
            a, static_cast<int>(blockIdx.z),
            static_cast<int>(a.first_row - a.region.begin[1] +
                             static_cast<long long>(blockIdx.y) * (block_rows * a.steps_per_strip + slab)),
            static_cast<int>(a.first_column - a.region.begin[2] +
                             static_cast<long long>(blockIdx.x) * block_columns) +
                warp_ * warp_columns},
        simple_(aligned && output_.begin_column() <= 0 && output_.end_column() >= warp_columns) {}

  __device__ void run() {
    const SeparableWeights weights(a_, shared_);
    BlockRing ring(shared_, a_, output_.row_in(a_.in) + row_margin,
                   output_.column_in(a_.in) - warp_ * warp_columns + column_margin, output_.plane_in(a_.in));
    if constexpr (weights_in_shared) __syncthreads();
    const int needed =
        output_.end_row() <= slab ? 0 : (output_.end_row() - slab + block_rows - 1) / block_rows;
    const int last = needed < a_.steps_per_strip ? needed : a_.steps_per_strip;
    const bool idle = output_.end_column() <= 0 || output_.begin_column() >= warp_columns;
#if __CUDA_ARCH__ >= 900
    if (idle) {  // no column of this warp is written; a loop of its own keeps no rows in registers
      ring.for_each(last + 1, [&](int n) { ring.release(n); });
      return;
    }
#endif
    fetch_source(0);
    ring.for_each(last + 1, [&](int n) {
      if (idle) return;
      if constexpr (staged_parts)
        step<true>(weights, ring, n);
      else if (simple_ && whole(first_completed(n), block_rows))
        step<true>(weights, ring, n);
      else
        step<false>(weights, ring, n);
      if (n < last) fetch_source(n + 1);
    });
    if constexpr (bulk_stores) wait_for_staging();  // shared memory must outlive the stores
  }

 private:
  /// Returns the first row that step n completes. All rows here are relative to the strip.
  static __device__ int first_completed(int n) { return (n - 1) * block_rows + slab; }

  /// Reads block n of the input and writes the rows that it completes. A `simple` step has no branches: all
  /// of these rows are written, or shared memory takes those that are not.
  template <bool simple>
  __device__ void step(const SeparableWeights& weights, BlockRing& ring, int n) {
    const int first_row = first_completed(n);
    const Stored* rows =
        &shared_.stage[n % stages][0][warp_ * warp_columns + window_column] + input_of_lane(g_, q_);
    static_for<0, groups / groups_at_once>([&](auto part_) {
      constexpr int first = decltype(part_)::value * groups_at_once;
      Fragment next[groups_at_once][x_rank][y_windows][2];
      along_x(weights, rows + first * slab, next);
      if constexpr (first + groups_at_once == groups) ring.release(n);
      if constexpr (first == 0 && bulk_stores) wait_for_staging();
      if constexpr (first == 0) wait_for_source(n);
      static_for<0, groups_at_once>([&](auto group_) {
        constexpr int group = first + decltype(group_)::value;
        const auto& fresh = next[group - first];
        float out[2 * y_windows][2][4];
        along_y(weights, before_[group], fresh, out);
#pragma unroll
        for (int i = 0; i < 2 * y_windows; ++i) write<simple, group>(first_row, i, out[i]);
#pragma unroll
        for (int k = 0; k < x_rank; ++k)
#pragma unroll
          for (int m = 0; m < y_windows; ++m)
            for (int half = 0; half < 2; ++half) before_[group][k][m][half] = fresh[k][m][half];
      });
    });
    if constexpr (bulk_stores && simple) store_staged(first_row);
  }

  /// Runs pass 1: computes the fragments of 32 * y_windows new rows for some groups of 16 columns.
  __device__ void along_x(const SeparableWeights& weights, const Stored* in,
                          Fragment (&next)[groups_at_once][x_rank][y_windows][2]) const {
    // If weights come from shared memory, several rows share one read of them.
    constexpr int rows_at_once = weights_in_shared && !tf32 ? 4 : 1;
    constexpr int windows = x_windows + groups_at_once - 1;  // neighbouring groups share all but one
    // These are the windows whose second slab has weights; in the others odd lanes read what their neighbours
    // read.
    constexpr int paired = x_paired + groups_at_once - 1;
    static_for<0, y_windows>([&](auto m_) {
      constexpr int m = decltype(m_)::value;
      static_for<0, 4 / rows_at_once>([&](auto part_) {
        constexpr int first = decltype(part_)::value * rows_at_once;
        OperandFragment x[rows_at_once][windows];
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r)
#pragma unroll
          for (int window = 0; window < windows; ++window)
            x[r][window] = load_window(in + (m * slab + 2 * (first + r)) * row_elements + slab * window,
                                       window < paired);
#pragma unroll
        for (int k = 0; k < x_rank; ++k) {
          Accumulators sums[rows_at_once][groups_at_once];
          static_for<0, x_windows>([&](auto window_) {
            constexpr int window = decltype(window_)::value;
            const auto a = weights.get<false, window>(k);
#pragma unroll
            for (int r = 0; r < rows_at_once; ++r)
#pragma unroll
              for (int group = 0; group < groups_at_once; ++group)
                weights.multiply<false>(sums[r][group], a, x[r][group + window]);
          });
#pragma unroll
          for (int r = 0; r < rows_at_once; ++r)
#pragma unroll
            for (int group = 0; group < groups_at_once; ++group)
#pragma unroll
              for (int half = 0; half < 2; ++half)
                to_fragment(next[group][k][m][half], first + r, sums[r][group].total(2 * half),
                            sums[r][group].total(2 * half + 1));
        }
      });
    });
  }

  /// Runs pass 2: computes 32 * y_windows rows of 16 columns, 16 rows at a time. The first window of the i-th
  /// 16 rows lies i + 1 slabs after the first window of the last step's fragments.
  __device__ void along_y(const SeparableWeights& weights, const Fragment (&before)[x_rank][y_windows][2],
                          const Fragment (&next)[x_rank][y_windows][2],
                          float (&out)[2 * y_windows][2][4]) const {
    Accumulators sums[2 * y_windows][2];
#pragma unroll
    for (int k = 0; k < rank; ++k) {
      static_for<0, y_windows>([&](auto m_) {
        constexpr int m = decltype(m_)::value;
        const auto a = weights.get<true, m>(k);
        static_for<0, 2 * y_windows>([&](auto i_) {
          constexpr int i = decltype(i_)::value, n = i + 1 + m, at = n % y_windows;
          constexpr bool joined = n / y_windows == 1;
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const Fragment b = joined ? join_slabs(before[x_of[k]][at][half], next[x_of[k]][at][half])
                               : n < y_windows ? before[x_of[k]][at][half]
                                               : next[x_of[k]][at][half];
            weights.multiply<joined>(sums[i][half], a, operand_of(b));
          }
        });
      });
#pragma unroll
      for (int i = 0; i < 2 * y_windows; ++i)
#pragma unroll
        for (int half = 0; half < 2; ++half) end_factor(sums[i][half], k == 0, k == rank - 1, out[i][half]);
    }
  }

  /// Returns the first row of the strip that is written.
  __device__ int first_written() const { return max(output_.begin_row(), 0); }

  /// Returns whether `rows` rows from `row` on are all written.
  __device__ bool whole(int row, int rows) const {
    return row >= first_written() && row + rows <= output_.end_row();
  }

  /// Writes the results of 16 rows of one group; a lane has columns 4q to 4q + 3 of two rows.
  template <bool simple, int group>
  __device__ void write(int first_row, int i, const float (&sums)[2][4]) {
    const int first = first_row + slab * i;
    if (simple || (simple_ && whole(first, slab))) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const ElementVector<Stored, 4> packed = results(sums, upper, first_row, slab * i, slab * group);
        if constexpr (bulk_stores && simple) {
          constexpr int box = group * slab / box_columns, column = group * slab % box_columns;
          Stored* const rows = shared_.out[warp_][box][slab * i + row_ + 8 * upper];
          *reinterpret_cast<ElementVector<Stored, 4>*>(staged(rows, column + 4 * q_, row_)) = packed;
        } else {
          *reinterpret_cast<ElementVector<Stored, 4>*>(
              at<Stored>(a_.out, first + row_ + 8 * upper, slab * group)) = packed;
        }
      }
    } else {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const int row = first + row_ + 8 * upper;
        if (row < first_written() || row >= output_.end_row()) continue;
        Stored* to = at<Stored>(a_.out, row, slab * group);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int column = slab * group + 4 * q_ + c;
          if (column < output_.begin_column() || column >= output_.end_column()) continue;
          float value = scaled(sums[c / 2][2 * upper + c % 2]);
          if constexpr (with_source)
            value += source_factor * at<const float>(a_.source, row, slab * group)[c];
          store(to[c], value);
        }
      }
    }
  }

  /// Undoes the scaling of fp16 factors.
  __device__ float scaled(float sum) const { return element == Element::fp16 ? sum * a_.scale : sum; }

  /// Returns the lane's four results in one of its rows, which is one of the 16 rows from `row` of the step
  /// on.
  __device__ ElementVector<Stored, 4> results(const float (&sums)[2][4], int upper, int first_row, int row,
                                              int column) const {
    float value[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) value[c] = scaled(sums[c / 2][2 * upper + c % 2]);
    if constexpr (with_source) {
      row += row_ + 8 * upper;
      const float* const from = staged_source ? &shared_.source[warp_][row][column + 4 * q_]
                                              : at<const float>(a_.source, first_row + row, column);
      const auto added = *reinterpret_cast<const ElementVector<float, 4>*>(from);
#pragma unroll
      for (int c = 0; c < 4; ++c) value[c] += source_factor * added.element[c];
    }
    return pack_four(value);
  }

  /// Returns the address of the lane's results in a row of the strip, at a column of the warp.
  template <class T>
  __device__ T* at(const View& view, int row, int column) const {
    return output_.at<T>(view, 0, row, column + 4 * q_);
  }

  /// Fetches the source of the rows that step n completes, when the source of step n - 1 has been read. The
  /// source goes to shared memory, or, if the warp writes whole rows, is prefetched line by line to the L2
  /// cache.
  __device__ void fetch_source(int n) const {
    if (!with_source || !(staged_source || simple_)) return;
    const int first_row = first_completed(n), lane = static_cast<int>(threadIdx.x) % 32;
    if constexpr (staged_source) {
#if __CUDA_ARCH__ >= 900
      const View& source = a_.source;
      __syncwarp();
      if (lane != 0) return;
      mbarrier_expect(&shared_.source_full[warp_], sizeof shared_.source[0]);
      tensor_copy(shared_.source[warp_], a_.source_map, output_.column_in(source),
                  output_.row_in(source) + first_row, output_.plane_in(source), &shared_.source_full[warp_]);
#endif
    } else {
      for (int row = first_row + lane; row < first_row + block_rows; row += 32) {
        if (row < first_written() || row >= output_.end_row()) continue;
#pragma unroll
        for (int column = 0; column < warp_columns; column += 32)
          prefetch(at<const float>(a_.source, row, column));
      }
    }
  }

  __device__ void wait_for_source(int n) const {
#if __CUDA_ARCH__ >= 900
    if (staged_source) mbarrier_wait(&shared_.source_full[warp_], n & 1);
#endif
  }

  __device__ void wait_for_staging() const {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) wait_for_stores_to_read<0>();
    __syncwarp();
#endif
  }

  /// Writes the staged rows. The copy engine stores from the first whole row and column on and leaves out
  /// what lies beyond the last row and the last whole 16 bytes; threads copy the rest.
  __device__ void store_staged(int first_row) const {
#if __CUDA_ARCH__ >= 900
    const auto box = [&](int row, int column) { return shared_.out[warp_][column / box_columns][row]; };
    const auto from = [&](int row, int column) {
      return staged(box(row - first_row, column), column % box_columns, row % 8);
    };
    fence_for_copy_engine();
    __syncwarp();
    if (output_.begin_column() > 0 || first_row < first_written()) {
      const int first = max(first_row, 0);
      store_part<warp_columns>(output_, 0, first, first_row + block_rows - first, 0, from);
      return;
    }
    constexpr int chunk = 16 / sizeof(Stored);
    const int end = output_.end_column(), last = end - end % chunk;
    if (last < end && last < warp_columns) store_part<chunk>(output_, 0, first_row, block_rows, last, from);
    if (threadIdx.x % 32 != 0) return;
    for (int column = 0; column < warp_columns && column < last; column += box_columns)
      tensor_store(a_.out_map, output_.column_in(a_.out) + column, output_.row_in(a_.out) + first_row,
                   output_.plane_in(a_.out), box(0, column));
    commit_stores();
#endif
  }

  const SeparableArguments& a_;
  SeparableSharedMemory& shared_;
  int warp_, g_, row_, q_;
  WarpOutput output_;
  bool simple_;  // all columns of the warp are written and aligned to 16 bytes
  Fragment before_[groups][x_rank][y_windows][2]{};
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::warps,
                                             spsolve::cuda::blocks_per_multiprocessor)
    separable(const __grid_constant__ spsolve::cuda::SeparableArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  spsolve::cuda::StripSweep(a, *reinterpret_cast<spsolve::cuda::SeparableSharedMemory*>(memory)).run();
}
