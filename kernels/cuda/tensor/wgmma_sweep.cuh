// SPDX-License-Identifier: Apache-2.0
// Computes one 2D correlation on the sparse tensor cores of sm_90a (wgmma.sp), or in 16 bits on dense ones
// (wgmma) with the same operand and its zeros. Weights (A, 4 x 16 outputs) stay in registers; points (B, a
// row of 32 columns per 16 outputs) come from shared memory.
//
// Blocks and warpgroups. A block marches down its columns; its four warpgroups have two roles. Two of them
// convert rows of input, each row once, and write them to a ring in the order that tensor cores need: columns
// 16 apart lie side by side, so that no output takes both of a pair (kernels/sparse/windowed_operand.hpp).
// The other two multiply and take turns with tiles; for stencils of more than 16 columns, each of them has
// one of the two parts of every tile. A tile is 4 x 16 outputs; an instruction takes x_groups * y_groups
// groups of eight tiles.
//
// Registers of a multiplying thread hold the weights and the accumulators; of a converting thread, four
// points per tile of a batch. Shared memory holds raw stages (four rows of input as stored), the ring of
// operands, and partial sums if two warpgroups share a tile.
//
// Barriers. After the start there are only mbarriers: raw_full (copies have arrived), full and empty (slots
// of the ring, warp by warp). Two warps that share a tile also meet at named barriers (SumBarrier).
//
// fp32 data, scaled by the largest magnitude on the whole grid, and weights are pairs of fp16 terms: w x = w1
// x1 + w2 x1 + w1 x2, which leaves out w2 x2 and the remainders that two terms do not represent. Second terms
// are multiplied by term_scale; add() undoes that.
//
// Cost per output of a stencil of 15 rows: 1152 flop of 2:4 work, in fp32 three times that. Shared-memory
// bytes in 16 bits (tf32; fp32): 18 (36; 54) of B, 4 (8; 8) of converted rows written, 5 (10; 10) of raw
// rows.

#include "kernels/cuda/ptx/wgmma.cuh"
#include "kernels/cuda/tensor/wgmma_ring.cuh"

namespace spsolve::cuda {

/// Returns the descriptor of a K-major operand without swizzling: core matrices of 8 tiles x 16 bytes, rows
/// `row_bytes` long.
__device__ inline unsigned long long plain_descriptor(const void* first) {
  const unsigned long long address = shared_address(first);
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(pitch >> 4) << 16 |
         static_cast<unsigned long long>(quad * row_bytes >> 4) << 32;
}

/// Names the part of windows that a warpgroup multiplies: the first or the second.
enum class WindowPart { first, second };

/// Lists the named barriers between a warp that has one part of a tile and the warp that adds both: sums have
/// been written, and sums have been read.
enum SumBarrier { sums_there = 1, sums_taken = sums_there + group_warps };
/// Waits at a named barrier of two warps, or arrives there without waiting.
__device__ inline void synchronize(int barrier) {
  asm volatile("bar.sync %0, 64;" ::"r"(barrier) : "memory");
}
__device__ inline void arrive(int barrier) { asm volatile("bar.arrive %0, 64;" ::"r"(barrier) : "memory"); }

/// Multiplies the tiles of a block in one of its multiplying warpgroups.
class TileMultiplier {
 public:
  __device__ TileMultiplier(WgmmaSharedMemory& shared, const WgmmaArguments& a)
      : shared_(shared),
        a_(a),
        block_tiles_(a),
        thread_(threadIdx.x % group_threads),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {
    if constexpr (pairs) data_unscale_ = data_scale(*a.in.largest).inverse;
  }

  /// Processes the tiles of the warpgroup: all of them, or every other one.
  template <WindowPart part>
  __device__ void run(int first_tile) {
    load_weights<part>();
    const unsigned long long operand = plain_descriptor(
        // The second part of a window is the first part of the right neighbour's.
        shared_.operands[0][0][0][0] + (part == WindowPart::second ? 2 * 16 : 0));
    for (int group = 0; group < first_tile * y_groups; ++group) release(group);
    int slot = first_tile * y_groups, waited = 0, waited_slot = 0;
    unsigned waited_parity = 0;
    for (int tile = first_tile; tile < block_tiles_.tiles; tile += turns) {
      if constexpr (with_source && part == WindowPart::first) fetch_source(tile);
      static_for<0, quads>([&](auto q) {
        while (waited < tile * y_groups + q.value + y_groups) {
          mbarrier_wait(&shared_.full[waited_slot], waited_parity);
          ++waited;
          if (++waited_slot == ring) waited_slot = 0, waited_parity ^= 1;
        }
        const int here = slot + q.value < ring ? slot + q.value : slot + q.value - ring;
        const unsigned long long offset = static_cast<unsigned>(here * (x_groups * quad * row_bytes / 16));
        multiply_rows<q.value>(operand + offset);
        if constexpr (q.value > 0 && q.value - 1 < turns * y_groups) {
          if constexpr (!pairs) wgmma_wait<1>();  // pairs wait after each row
          release(slot + q.value - 1);
        }
      });
      wgmma_wait<0>();
      if constexpr (pairs) add<window_rows - 1>(second_sums_, 1 / term_scale);
      for (int q = min(quads - 1, turns * y_groups); q < turns * y_groups; ++q) release(slot + q);
      slot += turns * y_groups;
      if (slot >= ring) slot -= ring;
      if constexpr (part != WindowPart::first) {
        hand_over(tile);
      } else {
        if constexpr (halves) take_over(tile);
        store(tile);
        // The sums have been read, not only requested.
        if (halves && tile + 1 < block_tiles_.tiles) arrive(sums_taken + warp_);
      }
    }
    if constexpr (pairs) {
      const int largest = __reduce_max_sync(0xffffffffu, largest_);
      if (lane_ == 0) atomicMax(a_.out.largest, largest);
    }
  }

 private:
  /// Adds the products of the q-th four rows of the window, after those of the rows before.
  template <int q>
  __device__ void multiply_rows(unsigned long long operand) {
    constexpr int step_columns = 2 * element_bytes / row_steps;  // columns of 16 bytes
    constexpr int first = quad * q, last = first + quad < window_rows ? first + quad : window_rows;
    if constexpr (pairs) {
      static_for<first, last>(
          [&](auto row) { multiply_pairs<row.value>(operand + (row.value - first) * (row_bytes / 16)); });
    } else {
      wgmma_fence();
      static_for<first, last>([&](auto r) {
        constexpr int row = decltype(r)::value;
        const unsigned long long b = operand + (row - first) * (row_bytes / 16);
        multiply<0>(sums_, weights_[row_steps * row], b, metadata_, row != 0);
        if constexpr (row_steps == 2)
          multiply<1>(sums_, weights_[row_steps * row + 1], b + step_columns * pitch / 16, metadata_, true);
      });
      wgmma_commit();
    }
  }

  /// Multiplies one row of a window as pairs. Sums of first terms have accumulators of their own per row, in
  /// which tensor cores lose nothing (paired_weights()). They are added here, rounded to nearest, while the
  /// products of first by second terms run.
  template <int row>
  __device__ void multiply_pairs(unsigned long long first_terms) {
    const unsigned long long second_terms = first_terms + sizeof(OperandRing) / 16;
    constexpr int set = row % weight_sets;
    // The variable second_sums_ starts with this row.
    constexpr bool begins = row == 0 || is_shared(row) || is_shared(row - 1);
    wgmma_fence();
    multiply<0>(row_sums_, weights_[set], first_terms, metadata_, false);
    wgmma_commit();
    if constexpr (begins && row > 0) {
      wgmma_wait<1>();
      add<row - 1>(second_sums_, 1 / term_scale);
      wgmma_fence();
    }
    multiply<0>(second_sums_, weights_[weight_sets + set], first_terms, metadata_, !begins);
    multiply<0>(second_sums_, weights_[set], second_terms, metadata_, true);
    wgmma_commit();
    wgmma_wait<1>();
    if constexpr (row == 0 && sets_are_shared) {  // otherwise copies would need registers that are not there
#pragma unroll
      for (float& sum : sums_) sum = 0;
    }
    add<row, row == 0 && !sets_are_shared>(row_sums_);
  }
  template <int row, bool is_first = false>
  __device__ void add(const float (&more)[sums], float factor = 1) {
    const bool ours = !is_shared(row) || has_weights(row);
#pragma unroll
    for (int i = 0; i < sums; ++i) {
      const float own = ours ? more[i] : 0;
      sums_[i] = is_first ? own : fmaf(factor, own, sums_[i]);
    }
  }

  // A warp has one of the four rows of outputs, so it has weights for tap_rows rows of the window. For pairs,
  // registers hold no more sets of weights than that. The first rows, which not all warps use, then share
  // their sets with the last rows, and a warp skips the sums of rows that it does not use.
  static constexpr int tap_rows = window_rows - (quad - 1);
  static constexpr bool sets_are_shared = pairs && window_rows > 16;
  static constexpr int weight_sets = sets_are_shared ? tap_rows : steps;
  static constexpr bool is_shared(int row) { return sets_are_shared && (row < quad - 1 || row >= tap_rows); }
  __device__ bool has_weights(int row) const {
    return row < tap_rows ? warp_ <= row : warp_ > row - tap_rows;
  }

  template <WindowPart part>
  __device__ void load_weights() {
    constexpr int first_operand = part == WindowPart::first ? 0 : 1;
#pragma unroll
    for (int k = 0; k < terms * weight_sets; ++k) {
      const int term = k / weight_sets, set = k % weight_sets;
      const int row = !is_shared(set) || has_weights(set) ? set : set + tap_rows;
      const uint4 bits = static_cast<const uint4*>(
          a_.weights)[((first_operand + term) * steps + row) * group_threads + thread_];
      weights_[k][0] = bits.x;
      weights_[k][1] = bits.y;
      weights_[k][2] = bits.z;
      weights_[k][3] = bits.w;
    }
    metadata_ = a_.metadata[thread_];
  }

  /// Prefetches the source of this warp's rows while their tile is multiplied.
  __device__ void fetch_source(int tile) const {
    constexpr int line = 32, lines = block_columns / line;  // lines of 128 bytes
    for (int i = lane_; i < y_groups * lines; i += 32) {
      const long long y = block_tiles_.row + (static_cast<long long>(tile) * y_groups + i / lines) * quad +
                          warp_,
                      x = block_tiles_.column + i % lines * line;
      if (y >= a_.region.begin[0] && y < a_.region.end[0] && x >= a_.region.begin[2] && x < a_.region.end[2])
        prefetch(first_of<const float>(a_.source, y, x));
    }
  }

  /// Declares that this warp has read a slot.
  __device__ void release(int slot) const {
    arrive_as_warp(&shared_.empty[slot < ring ? slot : slot - ring]);
  }

  /// Hands the sums of a tile to the other warpgroup, after it has read those of the tile before.
  __device__ void hand_over(int tile) const {
    if (tile > 0) synchronize(sums_taken + warp_);
#pragma unroll
    for (int i = 0; i < sums / 4; ++i)
      shared_.partial_sums[i][thread_] = {sums_[4 * i], sums_[4 * i + 1], sums_[4 * i + 2], sums_[4 * i + 3]};
    arrive(sums_there + warp_);
  }

  /// Adds the sums that the other warpgroup handed over.
  __device__ void take_over(int tile) {
    synchronize(sums_there + warp_);
#pragma unroll
    for (int i = 0; i < sums / 4; ++i) {
      const float4 four = shared_.partial_sums[i][thread_];
      const float more[4] = {four.x, four.y, four.z, four.w};
#pragma unroll
      for (int k = 0; k < 4; ++k) sums_[4 * i + k] += more[k];
    }
  }

  /// Writes the sums of a tile that lie in the region. Registers 4 i + e and 4 i + 2 + e of lane 4 g + q are
  /// columns 2 g and 2 g + 1 of tile q + 4 e of group i, in the row of the warp.
  __device__ void store(int tile) {
    const long long y = block_tiles_.row + static_cast<long long>(tile) * y_groups * quad + warp_,
                    x = block_tiles_.column + lane_ % 4 * wgmma_tile_columns + lane_ / 4 * 2;
    const bool whole = y >= a_.region.begin[0] && y + (y_groups - 1) * quad < a_.region.end[0] &&
                       block_tiles_.column >= a_.region.begin[2] &&
                       block_tiles_.column + block_columns <= a_.region.end[2];
    if (whole && aligned)
      write<true>(y, x);
    else
      write<false>(y, x);
  }

  /// Writes from row y and column x on.
  template <bool whole>
  __device__ void write(long long y, long long x) {
    Stored* const to = first_of<Stored>(a_.out, y, x);
    const float* const from = with_source ? first_of<float>(a_.source, y, x) : nullptr;
    const int top = static_cast<int>(a_.region.begin[0] - y), bottom = static_cast<int>(a_.region.end[0] - y),
              left = static_cast<int>(a_.region.begin[2] - x), right = static_cast<int>(a_.region.end[2] - x);
#pragma unroll
    for (int i = 0; i < sums / 2; ++i) {
      const int group = i / 2, e = i % 2, row = group / x_groups * quad,
                column = group % x_groups * wgmma_group_columns + e * wgmma_group_columns / 2;
      const bool row_inside = whole || (row >= top && row < bottom);
      ElementVector<Stored, 2> pair;
      bool inside[2];
#pragma unroll
      for (int k = 0; k < 2; ++k)
        inside[k] = whole || (row_inside && column + k >= left && column + k < right);
      ElementVector<float, 2> added{};
      if constexpr (with_source) added = pair_of(from + row * a_.source.stride[0] + column, inside);
#pragma unroll
      for (int k = 0; k < 2; ++k) {
        float value = sums_[4 * group + 2 * k + e];
        if constexpr (element_bytes == 2) value *= a_.unscale;
        if constexpr (pairs) value *= data_unscale_;
        if constexpr (with_source) value += source_factor * added.element[k];
        if constexpr (pairs) {
          if (inside[k]) largest_ = max(largest_, magnitude(value));
        }
        spsolve::cuda::store(pair.element[k], value);
      }
      Stored* const first = to + row * a_.out.stride[0] + column;
      if (aligned && inside[0] && inside[1]) {
        *reinterpret_cast<ElementVector<Stored, 2>*>(first) = pair;
      } else {
        if (inside[0]) first[0] = pair.element[0];
        if (inside[1]) first[1] = pair.element[1];
      }
    }
  }

  /// Returns two neighbours of the source; entries that are not `inside` are zero.
  __device__ static ElementVector<float, 2> pair_of(const float* from, const bool (&inside)[2]) {
    if (aligned && inside[0] && inside[1]) return *reinterpret_cast<const ElementVector<float, 2>*>(from);
    return {inside[0] ? from[0] : 0, inside[1] ? from[1] : 0};
  }

  template <class Element>
  __device__ static Element* first_of(const View& view, long long y, long long x) {
    return static_cast<Element*>(view.data) + (y - view.begin[0]) * view.stride[0] + (x - view.begin[2]);
  }

  WgmmaSharedMemory& shared_;
  const WgmmaArguments& a_;
  const BlockTiles block_tiles_;
  int thread_, warp_, lane_;  // within the warpgroup
  unsigned weights_[terms * weight_sets][4];
  unsigned metadata_;
  float data_unscale_;                                     // for pairs
  int largest_ = 0;                                        // largest magnitude of results
  float sums_[sums], row_sums_[sums], second_sums_[sums];  // the last two for pairs only
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::wgmma_threads, 1)
    wgmma_sweep(const __grid_constant__ spsolve::cuda::WgmmaArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  using namespace spsolve::cuda;
  WgmmaSharedMemory& shared = *reinterpret_cast<WgmmaSharedMemory*>(memory);
  if (threadIdx.x == 0) shared.initialise();
  __syncthreads();
  const int warpgroup = uniform(threadIdx.x / group_threads);
  if (warpgroup < converters) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 48;");
    RowConverter(shared, a, warpgroup).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
    const int group = warpgroup - converters;
    if (!halves || group == 0)
      TileMultiplier(shared, a).run<WindowPart::first>(group);
    else
      TileMultiplier(shared, a).run<WindowPart::second>(0);
  }
}
