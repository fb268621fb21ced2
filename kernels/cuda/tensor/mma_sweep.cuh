// SPDX-License-Identifier: Apache-2.0
// Computes one correlation on tensor cores, sparse or dense. A product multiplies weights (A, 16 outputs of a
// tile) by input points (B, eight tiles side by side along x). In fp64 it multiplies input points (A, 16
// tiles) by weights (B, 8 outputs).
//
// Blocks and warps. A block marches its columns and rows along the slowest axis in chunks of tile[0] planes.
// Its warps_x x warps_y warps share these columns and rows; a warp has blocks_x x blocks_y groups of tiles,
// one group per instruction. A chunk of input is read from shared memory once and serves every chunk of
// output within reach, each with its own slice of the weights (kernels/sparse/sliced_operand.hpp).
//
// Accumulators. If the code that is unrolled over the slices is short, the march rotates (group == 0): there
// is one accumulator per slice, and every chunk of input completes one chunk of output. Otherwise a block
// makes `group` chunks of output with one accumulator each, from all input that they reach, in a loop of any
// length; neighbouring blocks along the march then read their halo again. Both orders add in the same
// sequence.
//
// Registers hold the accumulators, the fragment of points in use, and the weights where they fit. Shared
// memory holds `stages` stages of chunks_per_stage chunks of input with their halo, otherwise the weights (or
// they stay in global memory), and offsets of points if the loop over steps is not unrolled.
//
// Barriers. Each stage has an mbarrier for its copies (sm_80: cp.async groups) and one block barrier, after
// which the stage before may be overwritten.
//
// Cost. Per 128 outputs and chunk: slices x steps instructions, and 4 x steps reads of 32 lanes from shared
// memory (twice 16 bits where the two points of a pair do not lie together). Input is read from global memory
// once, the halo of a block again by its neighbours; output is written once.

#include "kernels/cuda/tensor/mma_operands.cuh"
#include "kernels/cuda/tensor/mma_results.cuh"

namespace spsolve::cuda {

constexpr bool rotating = group == 0;
constexpr bool load_early = rotating && unrolled && terms == 1 && !wide;  // there are registers for it
constexpr int held = rotating ? slices : group;                           // chunks of output in registers

/// Maps the chunk of output that a chunk of input serves as its k-th to a slot of the sums and a slice of the
/// weights. Rotation is the mapping at chunk u of a turn of a march that rotates.
template <int u>
struct Rotation {
  __device__ static constexpr int slot(int k) { return (u - k + chunks_per_loop) % held; }
  __device__ static constexpr int slice(int k) { return k; }
  __device__ static constexpr bool uses(int k, int step) { return !unrolled || used[k][step]; }
};
/// Group is the mapping at any chunk of a march in groups.
struct Group {
  int chunk;
  __device__ static constexpr int slot(int k) { return k; }
  __device__ int slice(int k) const { return chunk - k; }
  __device__ bool uses(int k, int step) const { return group_uses[chunk][step] >> k & 1; }
};

/// Marches one warp through its tiles.
class WarpMarch {
 public:
  /// `block` and `warp` are where their first tiles begin.
  __device__ WarpMarch(MmaSharedMemory& shared, const MmaArguments& a, const long long (&block)[3],
                       const long long (&warp)[3])
      : chunks_(static_cast<int>(min(a.chunks_per_block, a.chunks - blockIdx.z * a.chunks_per_block))),
        ring_(shared, a, block, (chunks_ + slices - 1 + chunks_per_stage - 1) / chunks_per_stage),
        points_(shared, static_cast<int>((warp[1] - block[1]) * box_pitch + warp[2] - block[2]) + a.lead),
        results_(a, warp) {
    constexpr int ahead = stages > 1 ? stages - 1 : 1;  // a block whose ring has one stage has no other input
    for (int stage = 0; stage < ahead; ++stage) ring_.fetch();
  }

  __device__ void run(const MmaWeights& weights) {
    const int chunks_in = chunks_ + slices - 1;
    const Stored* points = nullptr;
    if constexpr (rotating) {
      for (int begin = 0; begin < chunks_in; begin += chunks_per_loop)
        static_for<0, chunks_per_loop>([&](auto u) {
          if (begin + u.value >= chunks_in) return;
          if constexpr (u.value % chunks_per_stage == 0) points = next_stage();
          this->template rotate<u.value>(weights, points + u.value % chunks_per_stage * chunk_elements);
          if (begin + u.value < slices - 1) return;
          results_.store(sums_[(u.value + 1) % held]);
          results_.next_chunk();
        });
    } else {
      static_for<0, held>([&](auto k) { this->clear(k.value); });
#pragma unroll 1
      for (int chunk = 0; chunk < chunks_in; ++chunk) {
        points = chunk % chunks_per_stage == 0 ? next_stage() : points + chunk_elements;
        gather(weights, points, {chunk});
      }
      static_for<0, held>([&](auto k) {
        if (k.value >= chunks_) return;
        results_.store(sums_[k.value]);
        results_.next_chunk();
      });
    }
  }

 private:
  __device__ const Stored* next_stage() {
    const Stored* points = ring_.wait();
    ring_.fetch();
    return points;
  }

  __device__ void clear(int slot) {
#pragma unroll
    for (int block = 0; block < m_blocks; ++block)
#pragma unroll
      for (int j = 0; j < blocks; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums_[slot][block][j][i] = 0;
  }

  /// Adds the contributions of the chunk at `points` to every chunk of output within reach. The points of the
  /// next chunk's first step, if that chunk has arrived, are loaded before results are written.
  template <int u>
  __device__ void rotate(const MmaWeights& weights, const Stored* points) {
    constexpr int whole = step_registers[0], tail = step_registers[steps - 1];
    clear(u % held);
    if (!load_early || u % chunks_per_stage == 0) points_.template load_step<whole>(points, 0, first_b_);
    multiply_step<whole>(weights, first_b_, Rotation<u>{}, 0);
    load_and_multiply_steps<1, whole>(weights, points, Rotation<u>{});
    if constexpr (steps > 1) load_and_multiply<tail>(weights, points, Rotation<u>{}, steps - 1);
    if (load_early && (u + 1) % chunks_per_stage != 0)
      points_.template load_step<whole>(points + chunk_elements, 0, first_b_);
  }

  /// Adds the contributions of a chunk to the chunks of a group.
  __device__ void gather(const MmaWeights& weights, const Stored* points, const Group& reach) {
    load_and_multiply_steps<0, step_registers[0]>(weights, points, reach);
    load_and_multiply<step_registers[steps - 1]>(weights, points, reach, steps - 1);
  }

  /// Runs all steps of n registers from `first` on, except the last.
  template <int first, int n, class Reach>
  __device__ void load_and_multiply_steps(const MmaWeights& weights, const Stored* points,
                                          const Reach& reach) {
    if constexpr (unrolled) {
#pragma unroll
      for (int step = first; step < steps - 1; ++step) load_and_multiply<n>(weights, points, reach, step);
    } else {
#pragma unroll 1
      for (int step = first; step < steps - 1; ++step) load_and_multiply<n>(weights, points, reach, step);
    }
  }

  template <int n, class Reach>
  __device__ void load_and_multiply(const MmaWeights& weights, const Stored* points, const Reach& reach,
                                    int step) {
    Word b[blocks][terms][b_words<n>];
    points_.template load_step<n>(points, step, b);
    multiply_step<n>(weights, b, reach, step);
  }

  /// Multiplies one step of n registers of B for all chunks of output.
  template <int n, class Reach>
  __device__ void multiply_step(const MmaWeights& weights, const Word (&b)[blocks][terms][b_words<n>],
                                const Reach& reach, int step) {
    constexpr int a_registers = wide || sparse ? n : 4;
#pragma unroll
    for (int block = 0; block < m_blocks; ++block) {
      const unsigned metadata = weights.metadata(block, step);
#pragma unroll
      for (int k = 0; k < held; ++k) {
        if (!reach.uses(k, step)) continue;
        Word a[terms][a_registers];
#pragma unroll
        for (int term = 0; term < terms; ++term) weights.load(term, reach.slice(k), block, step, a[term]);
#pragma unroll
        for (int j = 0; j < blocks; ++j)
          multiply_add<n, a_registers>(sums_[reach.slot(k)][block][j], a, b[j], metadata);
      }
    }
  }

  int chunks_;  // chunks of output of this block
  StageRing ring_;
  PointFragments<Stored> points_;
  ResultWriter<Stored> results_;
  Compute sums_[held][m_blocks][blocks][4];
  Word first_b_[blocks][terms][b_words<step_registers[0]>];
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::threads, spsolve::cuda::blocks_per_multiprocessor)
    mma_sweep(const __grid_constant__ spsolve::cuda::MmaArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  using namespace spsolve::cuda;
  auto& shared = *reinterpret_cast<MmaSharedMemory*>(memory);
  const int number = threadIdx.x / 32;
  const long long block[3] = {a.tile_begin[0] + blockIdx.z * a.chunks_per_block * tile[0],
                              a.tile_begin[1] + blockIdx.y * static_cast<long long>(block_rows),
                              a.tile_begin[2] + blockIdx.x * static_cast<long long>(block_columns)};
  const long long warp[3] = {block[0], block[1] + number / warps_x * blocks_y * tile[1],
                             block[2] + number % warps_x * blocks_x * tiles_columns};
  WarpMarch sweep(shared, a, block, warp);
  sweep.run(MmaWeights(shared, a));
}
