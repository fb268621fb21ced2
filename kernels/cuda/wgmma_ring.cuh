// SPDX-License-Identifier: Apache-2.0
#pragma once

// Shared memory of wgmma_sweep.cuh, and the warpgroup that fills it: rows of input, each converted once, in
// the order that tensor cores want them.

#include "arguments.hpp"
#include "async_copy.cuh"
#include "constants.cuh"
#include "precision.cuh"
#include "tensor_store.cuh"
#include "wgmma_arguments.hpp"

namespace spsolve::cuda {

using namespace constants;

constexpr int group_threads = 128, group_warps = 4;
constexpr int converters = 2;                           // warpgroups
constexpr int quad = wgmma_tile_rows;                   // rows of input that go through the ring together
constexpr int quads = (window_rows + quad - 1) / quad;  // of a tile's window
constexpr int block_columns = x_groups * wgmma_group_columns;
constexpr int sums = wgmma_n / 2;       // registers
constexpr int steps = 2 * window_rows;  // instructions of a warpgroup per tile
constexpr int chains = split ? 2 : 1;   // sums of a tile: tensor cores cut off, so long chains would drift
constexpr int turns = split ? 1 : 2;    // tiles from one of a warpgroup to its next
constexpr int slots = ring + y_groups - 1;  // the first are repeated at the end, so that N never wraps

/// The ring of one operand: [slot][x group][row][column of 16 bytes][tile], with pitches.
template <int row_bytes>
struct Ring {
  alignas(128) unsigned char row[slots][x_groups][quad][row_bytes];
};

struct SharedMemory {
  Ring<tf32_row_bytes> leading;
  Ring<split ? bf16_row_bytes : 16> data, rest;  // bf16: of the data, and of what tf32 leaves of them
  alignas(128) float raw[stages][x_groups][quad][wgmma_box_columns];
  float4 corrections[split ? sums / 4 : 1][group_threads];
  unsigned long long raw_full[stages], full[ring], empty[ring], corrections_full, corrections_empty;

  __device__ void initialise() {
    for (unsigned long long& barrier : raw_full) mbarrier_init(&barrier, 1);
    for (unsigned long long& barrier : full) mbarrier_init(&barrier, group_warps);
    for (unsigned long long& barrier : empty) mbarrier_init(&barrier, 2 * group_warps);
    mbarrier_init(&corrections_full, group_warps);
    mbarrier_init(&corrections_empty, group_warps);
    fence_mbarrier_init();
  }
};
static_assert(sizeof(SharedMemory) <= shared_bytes, "the host must ask for this much");

__device__ inline void wait(unsigned long long* barrier, unsigned parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

/// One arrival for a warp, after what all its lanes have done.
__device__ inline void arrive_as_warp(unsigned long long* barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) mbarrier_arrive(barrier);
}

__device__ inline unsigned bf16_pair(float low, float high) {
  unsigned pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Rounded to nearest, ties to even.
__device__ inline float tf32(float value) {
  unsigned bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return __uint_as_float(bits);
}

/// The tiles of a block, groups of them from top to bottom.
struct Strip {
  int tiles;
  long long row, column;  // of the first output

  __device__ explicit Strip(const WgmmaArguments& a) {
    const int first = blockIdx.y * a.tiles_per_block;
    tiles = min(a.tiles_per_block, a.tiles - first);
    row = a.first_row + static_cast<long long>(first) * y_groups * quad;
    column = a.first_column + static_cast<long long>(blockIdx.x) * block_columns;
  }
};

/// Rows of input, four by four, from global memory into the ring. Warpgroups take turns, so that one loads
/// while another stores.
class RowConverter {
 public:
  __device__ RowConverter(SharedMemory& shared, const WgmmaArguments& a)
      : shared_(shared),
        a_(a),
        strip_(a),
        turn_(threadIdx.x / group_threads),
        row_(threadIdx.x % group_threads / 32),
        lane_(threadIdx.x % 32) {}

  __device__ void run() const {
    static_assert(stages % converters == 0, "a warpgroup fills the stages that it empties");
    const int groups = strip_.tiles * y_groups + quads - 1;
    const bool fetches = threadIdx.x % group_threads == 0;
    if (fetches)
      for (int group = turn_; group < min(stages, groups); group += converters) fetch(group, group);
    int stage = turn_, slot = turn_;
    unsigned raw_parity = 0, slot_parity = 1;  // everything is empty at first
    for (int group = turn_; group < groups; group += converters) {
      wait(&shared_.raw_full[stage], raw_parity);
#pragma unroll
      for (int first = 0; first < x_groups; first += batch) {
        float4 near[batch], far[batch];
#pragma unroll
        for (int x = first; x < first + batch && x < x_groups; ++x) {
          const int column = lane_ / 4 * wgmma_tile_columns + lane_ % 4 * 4;
          near[x - first] = raw(stage, x, column);
          far[x - first] = raw(stage, x, column + wgmma_tile_columns);
        }
        if (first + batch >= x_groups) {
          asm volatile("bar.sync %0, 128;" ::"r"(1 + turn_) : "memory");  // all have read the stage
          if (fetches && group + stages < groups) fetch(group + stages, stage);
        }
        if (first == 0) wait(&shared_.empty[slot], slot_parity);
#pragma unroll
        for (int x = first; x < first + batch && x < x_groups; ++x)
          convert(slot, x, near[x - first], far[x - first]);
      }
      fence_for_copy_engine();
      arrive_as_warp(&shared_.full[slot]);
      if ((stage += converters) >= stages) stage -= stages, raw_parity ^= 1;
      if ((slot += converters) >= ring) slot -= ring, slot_parity ^= 1;
    }
  }

 private:
  static constexpr int batch = 2;  // x groups whose data registers hold

  /// Asks for the rows of a group.
  __device__ void fetch(int group, int stage) const {
    mbarrier_expect(&shared_.raw_full[stage], sizeof shared_.raw[stage]);
    const int y = static_cast<int>(strip_.row + window_begin_row - a_.in.begin[0]) + quad * group,
              x = static_cast<int>(strip_.column + window_begin_column - a_.lead - a_.in.begin[2]);
#pragma unroll
    for (int i = 0; i < x_groups; ++i)
      tensor_copy(shared_.raw[stage][i], a_.in_map, x + i * wgmma_group_columns, 0, y,
                  &shared_.raw_full[stage]);
  }

  /// Four neighbours of the warp's row.
  __device__ float4 raw(int stage, int x, int column) const {
    const float* from = &shared_.raw[stage][x][row_][column];
    if constexpr (aligned) return *reinterpret_cast<const float4*>(from);
    from += a_.lead;
    return {from[0], from[1], from[2], from[3]};
  }

  /// Of eight tiles of the warp's row: `near` are columns c, c + 1, ... c + 3 of the window of the lane's
  /// tile, `far` those 16 further.
  __device__ void convert(int slot, int x, const float4& near, const float4& far) const {
    const int tile = lane_ / 4, part = lane_ % 4;
    const float4 near_lead = leading(near), far_lead = leading(far);
    write(shared_.leading, slot, x, 2 * part * tf32_pitch + 16 * tile,
          {__float_as_uint(near_lead.x), __float_as_uint(far_lead.x), __float_as_uint(near_lead.y),
           __float_as_uint(far_lead.y)});
    write(shared_.leading, slot, x, (2 * part + 1) * tf32_pitch + 16 * tile,
          {__float_as_uint(near_lead.z), __float_as_uint(far_lead.z), __float_as_uint(near_lead.w),
           __float_as_uint(far_lead.w)});
    if constexpr (split) {
      write(shared_.data, slot, x, part * bf16_pitch + 16 * tile,
            {bf16_pair(near.x, near.y), bf16_pair(far.x, far.y), bf16_pair(near.z, near.w),
             bf16_pair(far.z, far.w)});
      write(shared_.rest, slot, x, part * bf16_pitch + 16 * tile,
            {bf16_pair(near.x - near_lead.x, near.y - near_lead.y),
             bf16_pair(far.x - far_lead.x, far.y - far_lead.y),
             bf16_pair(near.z - near_lead.z, near.w - near_lead.w),
             bf16_pair(far.z - far_lead.z, far.w - far_lead.w)});
    }
  }

  __device__ static float4 leading(const float4& v) { return {tf32(v.x), tf32(v.y), tf32(v.z), tf32(v.w)}; }

  template <int row_bytes>
  __device__ void write(Ring<row_bytes>& to, int slot, int x, int offset, const uint4& bits) const {
    *reinterpret_cast<uint4*>(&to.row[slot][x][row_][offset]) = bits;
    if (slot < y_groups - 1) *reinterpret_cast<uint4*>(&to.row[slot + ring][x][row_][offset]) = bits;
  }

  SharedMemory& shared_;
  const WgmmaArguments& a_;
  const Strip strip_;
  int turn_, row_, lane_;
};

}  // namespace spsolve::cuda
