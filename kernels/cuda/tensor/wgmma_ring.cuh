// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the shared memory of wgmma_sweep.cuh, and the warpgroups that fill it: they convert each
// row of input once and write it in the order that tensor cores need.

#include "constants.cuh"
#include "kernels/cuda/launch/arguments.hpp"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/ptx/tensor_store.cuh"
#include "kernels/cuda/tensor/wgmma_arguments.hpp"
#include "kernels/magnitude.hpp"

namespace spsolve::cuda {

using namespace constants;

constexpr int group_threads = 128, group_warps = 4;
constexpr int converters = 2, multipliers = 2;  // warpgroups
constexpr int quad = wgmma_tile_rows;           // rows of input that go through the ring together (a slot)
constexpr int quads = (window_rows + quad - 1) / quad;  // quads of a tile's window
constexpr int block_columns = x_groups * wgmma_group_columns;
constexpr int element_bytes = pairs ? 2 : sizeof(Stored);  // bytes of an operand
constexpr int terms = pairs ? 2 : 1;                       // terms per number of the field
// A warpgroup executes this many instructions per row of a window.
constexpr int row_steps = element_bytes / 2 * (dense ? 2 : 1);
constexpr int steps = row_steps * window_rows;   // instructions per tile
constexpr int sums = wgmma_n / 2;                // accumulator registers
constexpr bool halves = parts == 2;              // two warpgroups share the work on a tile
constexpr int turns = halves ? 1 : multipliers;  // distance of the tiles of one warpgroup
// The first slots are repeated at the end, so that N never wraps around.
constexpr int slots = ring + y_groups - 1;
constexpr int pitch = wgmma_pitch(parts);
constexpr int row_bytes = wgmma_row_bytes(2 * element_bytes, parts);

/// Holds the operands of the ring: [slot][x group][row][column of 16 bytes][tile], with pitches.
///
/// Tiles are in the order 0, 4, 1, 5, 2, 6, 3, 7, (4, 8). Neighbours in a product, which belong to one lane,
/// are then far apart, and tiles of the lanes of a warp are close together. The right neighbour of a tile
/// lies two places after it, and the first part of the neighbour's window is the second part of the tile's
/// own.
using OperandRing = unsigned char[slots][x_groups][quad][row_bytes];

/// Holds the shared memory of a block.
struct WgmmaSharedMemory {
  alignas(128) OperandRing operands[terms];
  alignas(128) Stored raw[stages][x_groups][quad][box_columns];
  float4 partial_sums[halves ? sums / 4 : 1][group_threads];
  unsigned long long raw_full[stages][x_groups], full[ring], empty[ring];

  __device__ void initialise() {
    for (auto& stage : raw_full)
      for (unsigned long long& barrier : stage) mbarrier_init(&barrier, 1);
    for (unsigned long long& barrier : full) mbarrier_init(&barrier, x_groups);
    for (unsigned long long& barrier : empty) mbarrier_init(&barrier, multipliers * group_warps);
    fence_mbarrier_init();
  }
};
static_assert(sizeof(WgmmaSharedMemory) <= shared_bytes, "the host must ask for this much");

/// Arrives once for a warp, after the work of all its lanes.
__device__ inline void arrive_as_warp(unsigned long long* barrier) {
  __syncwarp();
  if (threadIdx.x % 32 == 0) mbarrier_arrive(barrier);
}

/// Returns lane 0's value in all lanes of a warp. The compiler then knows that it is uniform and computes
/// addresses once for all lanes.
__device__ inline int uniform(int value) { return __shfl_sync(0xffffffffu, value, 0); }

/// Holds two numbers rounded to nearest fp16, and the remainders. Numbers that are too large become the
/// largest fp16 number: memory that no weight applies to may hold them, and zero times infinity would be NaN.
struct HalfPair {
  unsigned bits;
  float rest[2];

  __device__ HalfPair(float low, float high) {
    asm("cvt.rn.satfinite.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(high), "f"(low));
    rest[0] = low - value_of(Half{static_cast<unsigned short>(bits)});
    rest[1] = high - value_of(Half{static_cast<unsigned short>(bits >> 16)});
  }
};

/// Rounds to tf32, to nearest, ties to even.
__device__ inline unsigned tf32(float value) {
  unsigned bits;
  asm("cvt.rn.tf32.f32 %0, %1;" : "=r"(bits) : "f"(value));
  return bits;
}

/// Holds the tiles of a block: groups of tiles from top to bottom.
struct BlockTiles {
  int tiles;
  long long row, column;  // the first output

  __device__ explicit BlockTiles(const WgmmaArguments& a) {
    const int first = blockIdx.y * a.tiles_per_block;
    tiles = min(a.tiles_per_block, a.tiles - first);
    row = a.first_row + static_cast<long long>(first) * y_groups * quad;
    column = a.first_column + static_cast<long long>(blockIdx.x) * block_columns;
  }
};

/// Moves rows of input from global memory into the ring, four rows (a quad) at a time; each warp converts
/// eight tiles. The two warpgroups take turns, so that one loads while the other stores.
class RowConverter {
 public:
  __device__ RowConverter(WgmmaSharedMemory& shared, const WgmmaArguments& a, int turn)
      : shared_(shared),
        map_(a.in_map),
        lead_(aligned ? 0 : a.lead),
        turn_(turn),
        group_(uniform(threadIdx.x % group_threads / 32)),
        lane_(threadIdx.x % 32) {
    if constexpr (pairs) scale_ = data_scale(*a.in.largest).by;
    const BlockTiles block_tiles(a);
    rows_ = (block_tiles.tiles * y_groups + quads - 1 + together - 1) / together * together;
    y_ = static_cast<int>(block_tiles.row + window_begin_row - a.in.begin[0]);
    x_ = static_cast<int>(block_tiles.column + window_begin_column - a.in.begin[2]) - lead_ +
         group_ * wgmma_group_columns;
  }

  __device__ void run() const {
    static_assert(stages % turn_rows == 0, "a warpgroup fills the stages that it empties");
    static_assert(ring % together == 0, "slots of a turn are neighbours");
    if (group_ >= x_groups) return;
    const int first_row = turn_ * together;
    if (lane_ == 0)
      for (int row = first_row; row < min(stages, rows_); row += turn_rows)
        for (int k = 0; k < together; ++k) fetch(row + k, row + k);
    int stage = first_row, slot = first_row;
    unsigned raw_parity = 0, slot_parity = 1;  // all slots are empty at first
    for (int row = first_row; row < rows_; row += turn_rows) {
      FourOperands near[together];
#pragma unroll
      for (int k = 0; k < together; ++k) {
        mbarrier_wait(&shared_.raw_full[stage + k][group_], raw_parity);
        near[k] = operands(four(stage + k, 0));
      }
#pragma unroll
      for (int first = 0; first < tiles; first += batch) {
        Four columns[together][batch];
#pragma unroll
        for (int i = 0; i < together * batch; ++i)
          columns[i / batch][i % batch] = four(stage + i / batch, first + i % batch + 1);
#pragma unroll
        for (int k = 0; k < together; ++k) {
          if (first == 0) mbarrier_wait(&shared_.empty[slot + k], slot_parity);
#pragma unroll
          for (int i = 0; i < batch; ++i) {
            const FourOperands far = operands(columns[k][i]);
            write(slot + k, first + i, near[k], far);
            near[k] = far;
          }
        }
      }
      fence_for_copy_engine();
      __syncwarp();
      // Everything that the warp read from the stages has been stored by now. Loads that still wait in a
      // queue could be overtaken by the next copy.
      if (lane_ == 0)
        for (int k = 0; k < together; ++k) {
          mbarrier_arrive(&shared_.full[slot + k]);
          if (row + k + stages < rows_) fetch(row + k + stages, stage + k);
        }
      if ((stage += turn_rows) >= stages) stage -= stages, raw_parity ^= 1;
      if ((slot += turn_rows) >= ring) slot -= ring, slot_parity ^= 1;
    }
  }

 private:
  using Four = ElementVector<Stored, 4>;  // four neighbouring points
  struct FourOperands {                   // operands of four neighbouring points
    unsigned word[terms][element_bytes];
  };

  // A lane has one of the four rows, a quarter of the columns of a tile, and half of the tiles.
  static constexpr int tiles = wgmma_group_tiles / 2 + parts - 1;
  static constexpr int batch = together > 1 && !aligned ? 1 : tiles;  // as many tiles as registers hold
  static constexpr int turn_rows = converters * together;
  __device__ int part() const { return lane_ % 4; }
  __device__ int row() const { return lane_ / 4 % quad; }
  __device__ int half() const { return lane_ / 16; }

  /// Starts the copy of the warp's part of four rows.
  __device__ void fetch(int row, int stage) const {
    mbarrier_expect(&shared_.raw_full[stage][group_], sizeof shared_.raw[stage][group_]);
    tensor_copy(shared_.raw[stage][group_], map_, x_, 0, y_ + quad * row, &shared_.raw_full[stage][group_]);
  }

  __device__ Four four(int stage, int tile) const {
    const Stored* const from =
        &shared_.raw[stage][group_][row()]
                    [(half() * (wgmma_group_tiles / 2) + tile) * wgmma_tile_columns + 4 * part()];
    if constexpr (aligned) return *reinterpret_cast<const Four*>(from);
    return {from[lead_], from[lead_ + 1], from[lead_ + 2], from[lead_ + 3]};
  }

  __device__ FourOperands operands(const Four& four) const {
    FourOperands of;
    if constexpr (pairs) {
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const HalfPair first(scale_ * value_of(four.element[2 * i]),
                             scale_ * value_of(four.element[2 * i + 1]));
        of.word[0][i] = first.bits;
        of.word[1][i] = HalfPair(term_scale * first.rest[0], term_scale * first.rest[1]).bits;
      }
    } else if constexpr (element_bytes == 2) {
      const uint2 bits = *reinterpret_cast<const uint2*>(&four);
      of.word[0][0] = bits.x;
      of.word[0][1] = bits.y;
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i) of.word[0][i] = tf32(value_of(four.element[i]));
    }
    return of;
  }

  /// Writes columns c, c + 1, ... c + 3 of a tile's window and the columns 16 further.
  __device__ void write(int slot, int tile, const FourOperands& near, const FourOperands& far) const {
    constexpr int columns = element_bytes / 2;
#pragma unroll
    for (int k = 0; k < terms * columns; ++k) {
      const int term = k / columns, i = k % columns;
      OperandRing& operands = shared_.operands[term];
      unsigned char* const place =
          &operands[slot][group_][row()][(columns * part() + i) * pitch + 16 * half()] + 32 * tile;
      const unsigned *const a = near.word[term] + 2 * i, *const b = far.word[term] + 2 * i;
      const uint4 bits{a[0], b[0], a[1], b[1]};
      *reinterpret_cast<uint4*>(place) = bits;
      if constexpr (y_groups > 1)
        if (slot < y_groups - 1) *reinterpret_cast<uint4*>(place + ring * sizeof operands[0]) = bits;
    }
  }

  WgmmaSharedMemory& shared_;
  const TensorMap& map_;
  int lead_;
  float scale_;  // scale of data that become pairs
  int turn_, group_, lane_;
  int rows_;   // quads to convert, in turns of `together`
  int y_, x_;  // first point that the warp reads, relative to memory
};

}  // namespace spsolve::cuda
