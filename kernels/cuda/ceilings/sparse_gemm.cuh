// SPDX-License-Identifier: Apache-2.0
// Computes C = A B with A in 2:4 form and C in fp16, to measure what the sparse tensor cores of sm_90a reach
// when fed from memory (after a worklog on sparse GEMM for Hopper). GemmDesign (gemm_design.hpp) lists the
// switches.
//
// Specialised blocks have one producer and two consumer warpgroups; each consumer computes 64 rows of a tile
// of 128 x 256. Other blocks have one warpgroup and tiles of 64 x 256. Stages are a ring in shared memory
// with two mbarriers each: full (copies have arrived) and empty (all warps of the cluster have read it). The
// blocks of a cluster share the columns of B, and each of them copies a part of these to all.
//
// Metadata must not change while instructions read them: wgmma.sp reads its register late. So overlapping
// stages need the metadata of several stages in registers at once.
//
// A wide stage of a specialised block is 40 KiB and 1 (fp16) or 2 KiB of metadata, for 256 (512) kFMA of 2:4
// work. Tensor cores then read 72 KiB and the copy engine writes 40 KiB of shared memory.

#include "constants.cuh"  // is_e4m3, the members of GemmDesign, wgmma
#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/ptx/tensor_store.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr int group_lanes = 128;
constexpr int consumers = specialised ? 2 : 1;
constexpr int tile_rows = consumers * gemm_group_rows;
constexpr int steps = b_bytes / 64;  // instructions per stage
constexpr int stage_columns = b_bytes / (is_e4m3 ? 1 : 2);
constexpr int words = stage_columns / gemm_word_columns;  // metadata of a lane; two fp16 steps share a word
constexpr int piece_words = 2 * words * group_lanes;      // metadata of 128 rows and a stage
constexpr int consumer_warps = consumers * group_lanes / 32;
static_assert(words >= 1, "a stage has whole words of metadata");
static_assert(!overlap || metadata_apart, "metadata of several stages are there at once");

/// Holds the operands of a stage, in rows of b_bytes and a_bytes as the copy engine swizzles them.
struct Stage {
  alignas(1024) unsigned char b[gemm_columns * b_bytes];
  alignas(1024) unsigned char a[tile_rows * a_bytes];
};

// Metadata have one slot for each stage of the ring, or two slots for several stages each.
constexpr int metadata_slots = metadata_apart ? 2 : metadata_with_operands ? ring : 1;
constexpr int metadata_words = metadata_apart           ? gemm_chunk * piece_words
                               : metadata_with_operands ? piece_words
                                                        : 1;

/// Holds the shared memory of a block: the ring of stages, metadata, and mbarriers for both.
struct Shared {
  Stage stages[ring];
  alignas(128) unsigned metadata[metadata_slots][metadata_words];
  unsigned long long full[ring], empty[ring], metadata_full[2], metadata_empty[2];
};
static_assert(sizeof(Shared) <= shared_bytes, "the host must ask for this much");

/// Holds a position in a pipeline and the parity of its barriers.
template <int count>
struct PipelinePosition {
  int index = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++index == count) index = 0, parity ^= 1;
  }
};

/// Holds what the warpgroups of a block share.
class GemmBlock {
 public:
  __device__ GemmBlock(const GemmArguments& arguments, Shared& shared) : a_(arguments), shared_(shared) {}

 protected:
  /// Calls visit(first row, first column) for the tiles of this block. Rows vary fastest, so that concurrent
  /// blocks share few columns of B.
  template <class Visit>
  __device__ void for_each_tile(Visit&& visit) const {
    constexpr int rows = tile_rows * cluster_blocks;
    const int tiles_m = (a_.m + rows - 1) / rows, tiles_n = (a_.n + gemm_columns - 1) / gemm_columns;
    for (int tile = blockIdx.x / cluster_blocks; tile < tiles_m * tiles_n; tile += gridDim.x / cluster_blocks)
      visit(tile % tiles_m * rows + rank() * tile_rows, tile / tiles_m * gemm_columns);
  }

  /// Returns the rank of the block in its cluster.
  __device__ static int rank() { return cluster_blocks > 1 ? static_cast<int>(cluster_rank()) : 0; }

  /// Returns the metadata of a stage of 128 rows.
  __device__ const unsigned* metadata(int row, int stage) const {
    return a_.metadata + (static_cast<long long>(row / gemm_metadata_rows) * a_.stages + stage) * piece_words;
  }

  /// Starts the copies of a stage of k into a slot of the ring.
  __device__ void copy(int slot, int row, int column, int k) const {
    constexpr int part = gemm_columns / cluster_blocks;  // columns of B that this block copies for all
    constexpr unsigned bytes = sizeof(Stage::a) + sizeof(Stage::b),
                       metadata_bytes = metadata_with_operands ? sizeof shared_.metadata[0] : 0;
    Stage& stage = shared_.stages[slot];
    unsigned long long* const full = &shared_.full[slot];
    mbarrier_expect(full, bytes + metadata_bytes);
    tensor_copy(stage.a, a_.a, k * a_bytes / 2, row, 0, full);
    unsigned char* const b = stage.b + rank() * part * b_bytes;
    if constexpr (cluster_blocks > 1)
      tensor_copy(b, a_.b, k * b_bytes / 2, column + rank() * part, 0, full, (1 << cluster_blocks) - 1);
    else
      tensor_copy(b, a_.b, k * b_bytes / 2, column, 0, full);
    if constexpr (metadata_with_operands)
      bulk_copy(shared_.metadata[slot], metadata(row, k), metadata_bytes, full);
  }

  const GemmArguments& a_;
  Shared& shared_;
};

/// Copies operands for the consumers of its block; one thread runs it.
class Producer : GemmBlock {
 public:
  using GemmBlock::GemmBlock;

  __device__ void run() const {
    PipelinePosition<ring> turn{0, 1};  // all slots are empty at first
    PipelinePosition<2> metadata_turn{0, 1};
    for_each_tile([&](int row, int column) {
      for (int k = 0; k < a_.stages; ++k, turn.next()) {
        if constexpr (metadata_apart) {
          if (k % gemm_chunk == 0) copy_metadata(metadata_turn, row, k);
        }
        mbarrier_wait(&shared_.empty[turn.index], turn.parity);
        copy(turn.index, row, column, k);
      }
      if constexpr (copied_results) {  // two slots for results, one for each consumer
        for (int slot = 0; slot < consumers; ++slot, turn.next()) {
          mbarrier_wait(&shared_.empty[turn.index], turn.parity);
          mbarrier_arrive(&shared_.full[turn.index]);
        }
      }
    });
  }

 private:
  __device__ void copy_metadata(PipelinePosition<2>& turn, int row, int k) const {
    constexpr unsigned bytes = gemm_chunk * piece_words * sizeof(unsigned);
    unsigned long long* const full = &shared_.metadata_full[turn.index];
    mbarrier_wait(&shared_.metadata_empty[turn.index], turn.parity);
    mbarrier_expect(full, bytes);
    bulk_copy(shared_.metadata[turn.index], metadata(row, k), bytes, full);
    turn.next();
  }
};

/// Multiplies 64 rows of each tile; one warpgroup runs it.
class Consumer : GemmBlock {
 public:
  __device__ Consumer(const GemmArguments& arguments, Shared& shared, int group)
      : GemmBlock(arguments, shared), group_(group), lane_(threadIdx.x % group_lanes) {}

  __device__ void run() {
    float d[128];
    for_each_tile([&](int row, int column) {
      for (int first = 0; first < a_.stages; first += gemm_chunk) {
        unsigned metadata[gemm_chunk][words];
        if constexpr (metadata_apart) load_metadata(metadata);
        multiply_chunk(d, metadata, row, column, first);
      }
      if constexpr (copied_results)
        store_by_copy(d, row + group_ * gemm_group_rows, column);
      else
        store(d, row + group_ * gemm_group_rows, column);
    });
    if constexpr (copied_results) finish_store();
  }

 private:
  __device__ void multiply_chunk(float (&d)[128], unsigned (&metadata)[gemm_chunk][words], int row,
                                 int column, int first) {
    int before = turn_.index;  // slot of the stage before; without early release, of the first stage
#pragma unroll
    for (int i = 0; i < gemm_chunk; ++i, turn_.next()) {
      if constexpr (!specialised) {
        if (threadIdx.x == 0) copy(turn_.index, row, column, first + i);
      }
      if constexpr (!metadata_apart && !metadata_with_operands)
        load_stage(metadata[i], this->metadata(row, first + i), row);
      mbarrier_wait(&shared_.full[turn_.index], turn_.parity);
      if constexpr (metadata_with_operands) load_stage(metadata[i], shared_.metadata[turn_.index], row);
      multiply(d, shared_.stages[turn_.index], metadata[i], first + i > 0);
      if (copied_results && i == 0) finish_store();  // the last stage of the chunk may need the slot
      if constexpr (!overlap) {
        wgmma_wait<0>();
        release(turn_.index);
      } else if constexpr (early_release) {
        if (i > 0) {
          wgmma_wait<1>();  // the stage before is done while this one runs
          release(before);
        }
        before = turn_.index;
      }
    }
    if constexpr (overlap) {
      wgmma_wait<0>();
      for (int i = early_release ? gemm_chunk - 1 : 0; i < gemm_chunk; ++i) {
        release(before);
        before = before + 1 == ring ? 0 : before + 1;
      }
    }
  }

  __device__ void multiply(float (&d)[128], const Stage& stage, const unsigned (&metadata)[words],
                           bool add) const {
    const unsigned long long a = wgmma_descriptor(stage.a + group_ * gemm_group_rows * a_bytes, a_bytes);
    const unsigned long long b = wgmma_descriptor(stage.b, b_bytes);
    wgmma_fence();
    wgmma<0>(d, a, b, metadata[0], add);
    if constexpr (steps == 2)
      wgmma<is_e4m3 ? 0 : 1>(d, a + a_bytes / steps / 16, b + b_bytes / steps / 16, metadata[words - 1],
                             true);
    wgmma_commit();
  }

  /// Loads the metadata of a stage from where its 128 rows lie.
  __device__ void load_stage(unsigned (&metadata)[words], const unsigned* from, int row) const {
    const int half = (row / gemm_group_rows + group_) % 2;
#pragma unroll
    for (int word = 0; word < words; ++word)
      metadata[word] = from[(half * words + word) * group_lanes + lane_];
  }

  /// Loads the metadata of a chunk. It is called when all instructions are done.
  __device__ void load_metadata(unsigned (&metadata)[gemm_chunk][words]) {
    mbarrier_wait(&shared_.metadata_full[metadata_turn_.index], metadata_turn_.parity);
#pragma unroll
    for (int i = 0; i < gemm_chunk; ++i)
      load_stage(metadata[i], shared_.metadata[metadata_turn_.index] + i * piece_words, 0);
    __syncwarp();
    if (lane_ % 32 == 0) mbarrier_arrive(&shared_.metadata_empty[metadata_turn_.index]);
    metadata_turn_.next();
  }

  /// Tells every block of the cluster that this warp has read the slot.
  __device__ void release(int slot) const {
    if constexpr (!specialised)
      __syncthreads();
    else if constexpr (cluster_blocks > 1) {
      if (threadIdx.x % 32 < cluster_blocks) mbarrier_arrive_in(&shared_.empty[slot], threadIdx.x % 32);
    } else {
      if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared_.empty[slot]);
    }
  }

  /// Writes results to memory from registers. Rows are padded to an even number of columns.
  __device__ void store(const float (&d)[128], int row, int column) const {
    row += lane_ / 32 * 16 + lane_ % 32 / 4;
    column += lane_ % 4 * 2;
    unsigned* const results = static_cast<unsigned*>(a_.results);
#pragma unroll
    for (int i = 0; i < 128; i += 2) {
      const int y = row + i / 2 % 2 * 8, x = column + i / 4 * 8;
      if (y < a_.m && x < a_.n) results[(y * a_.pitch + x) / 2] = packed(d[i], d[i + 1]);
    }
  }

  /// Writes results to a slot of the ring, from which the copy engine takes them while the next tile is
  /// multiplied. Each consumer has one slot and waits for both, so that the arrivals of both count for the
  /// turn of results.
  __device__ void store_by_copy(const float (&d)[128], int row, int column) {
    int own = 0;
    for (int group = 0; group < consumers; ++group, turn_.next()) {
      mbarrier_wait(&shared_.full[turn_.index], turn_.parity);
      if (group == group_)
        own = turn_.index;
      else
        release(turn_.index);
    }
    unsigned char* const boxes = shared_.stages[own].b;
    constexpr int row_bytes = 2 * gemm_box_columns, box_bytes = gemm_group_rows * row_bytes;
    unsigned char* const first = boxes + (lane_ / 32 * 16 + lane_ % 32 / 4) * row_bytes + lane_ % 4 * 4;
#pragma unroll
    for (int i = 0; i < 128; i += 2) {
      const int eight = i / 4;                       // columns 8 eight to 8 eight + 7
      const int chunk = eight % 8 ^ lane_ % 32 / 4;  // swizzled as the copy engine reads rows of 128 bytes
      *reinterpret_cast<unsigned*>(first + eight / 8 * box_bytes + i / 2 % 2 * 8 * row_bytes + chunk * 16) =
          packed(d[i], d[i + 1]);
    }
    fence_for_copy_engine();
    synchronize_threads<group_lanes>(1 + group_);
    if (lane_ == 0) {
      for (int box = 0; box < gemm_columns / gemm_box_columns; ++box)
        tensor_store(a_.c, column + box * gemm_box_columns, row, 0, boxes + box * box_bytes);
      commit_stores();
    }
    if (lane_ < 32)
      storing_ = own;
    else
      release(own);
  }

  /// Gives back the slot of results that the copy engine has read.
  __device__ void finish_store() {
    if (storing_ < 0) return;
    if (lane_ == 0) wait_for_stores_to_read<0>();
    __syncwarp();
    release(storing_);
    storing_ = -1;
  }

  __device__ static unsigned packed(float first, float second) {
    unsigned bits;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(bits) : "f"(second), "f"(first));
    return bits;
  }

  const int group_, lane_;
  PipelinePosition<ring> turn_;
  PipelinePosition<2> metadata_turn_;
  int storing_ = -1;  // slot of results that the copy engine may still read; first warp only
};

/// Initialises the mbarriers. One thread calls it.
__device__ inline void initialise(Shared& shared) {
  for (int slot = 0; slot < ring; ++slot) {
    mbarrier_init(&shared.full[slot], 1);
    mbarrier_init(&shared.empty[slot], consumer_warps * cluster_blocks);
  }
  for (int index = 0; index < 2; ++index) {
    mbarrier_init(&shared.metadata_full[index], 1);
    mbarrier_init(&shared.metadata_empty[index], consumer_warps);
  }
  fence_mbarrier_init();
}

/// Waits for all threads of the cluster, or of the block if it has no cluster.
__device__ inline void synchronize_blocks() {
  if constexpr (cluster_blocks > 1)
    cluster_synchronize();
  else
    __syncthreads();
}

extern "C" __global__ __cluster_dims__(cluster_blocks)
    __launch_bounds__(specialised ? 3 * group_lanes : group_lanes,
                      1) void sparse_gemm(const __grid_constant__ GemmArguments arguments) {
  extern __shared__ __align__(1024) unsigned char memory[];
  Shared& shared = *reinterpret_cast<Shared*>(memory);
  if (threadIdx.x == 0) initialise(shared);
  synchronize_blocks();
  if constexpr (!specialised) {
    Consumer(arguments, shared, 0).run();
  } else {
    if (threadIdx.x < group_lanes) {
      asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
      if (threadIdx.x == 0) Producer(arguments, shared).run();
    } else {
      asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
      Consumer(arguments, shared, threadIdx.x / group_lanes - 1).run();
    }
    __syncwarp();
    synchronize_blocks();  // no block exits while another still writes to it
  }
}

}  // namespace spsolve::cuda
