// SPDX-License-Identifier: Apache-2.0
// Computes C = A B with A in 2:4 form, to measure what the sparse tensor cores of sm_90a reach when fed from
// memory (after a worklog on sparse GEMM for Hopper).
//
// A block has one producer and two consumer warpgroups; each consumer computes 64 of the 128 rows of a tile.
// Operands and prepacked metadata are separate pipelines with mbarriers of their own. The blocks of a cluster
// share the tile of B, which each of them multicasts in part.
//
// A stage of a block is 128 x 256 outputs by 64 k (fp16) or 128 k (e4m3): 40 KiB and 1 or 2 KiB of metadata
// for 256 (512) kFMA of 2:4 work.

#include "constants.cuh"  // is_e4m3, cluster_blocks, wgmma
#include "kernels/cuda/ceilings/gemm_arguments.hpp"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/wgmma.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr int element_bytes = is_e4m3 ? 1 : 2;
constexpr int stage_k = gemm_b_bytes / element_bytes;
constexpr int group_lanes = 128;
constexpr int metadata_words = is_e4m3 ? 2 : 1;  // per lane and stage; fp16 selects halves of one word
constexpr int steps = 2;                         // instructions per stage, 64 bytes of B each

struct Stage {
  alignas(1024) unsigned char b[gemm_tile_n * gemm_b_bytes];
  alignas(1024) unsigned char a[gemm_tile_m * gemm_a_bytes];
};

struct Shared {
  Stage stages[gemm_stages];
  alignas(128) unsigned metadata[2][gemm_chunk][2][metadata_words][group_lanes];
  unsigned long long full[gemm_stages], empty[gemm_stages], metadata_full[2], metadata_empty[2];
};

/// A position in a pipeline and the parity of its barriers.
template <int count>
struct PipelinePosition {
  int index = 0;
  unsigned parity = 0;
  __device__ void next() {
    if (++index == count) index = 0, parity ^= 1;
  }
};

struct SparseGemm {
  const GemmArguments& arguments;
  Shared& shared;

  /// Calls visit(first row, first column) for the tiles of this block. Rows vary fastest, so that concurrent
  /// blocks share few columns of B.
  template <class Visit>
  __device__ void for_each_tile(Visit&& visit) const {
    const int tiles_m = arguments.m / (gemm_tile_m * cluster_blocks), tiles_n = arguments.n / gemm_tile_n;
    for (int tile = blockIdx.x / cluster_blocks; tile < tiles_m * tiles_n; tile += gridDim.x / cluster_blocks)
      visit((tile % tiles_m * cluster_blocks + static_cast<int>(cluster_rank())) * gemm_tile_m,
            tile / tiles_m * gemm_tile_n);
  }
  __device__ int stages_of_k() const { return arguments.k / stage_k; }

  __device__ void load() const {
    constexpr int part = gemm_tile_n / cluster_blocks;  // columns of B that this block fetches for all
    constexpr unsigned metadata_bytes = sizeof(Shared::metadata) / 2;
    const int rank = cluster_rank();
    PipelinePosition<gemm_stages> turn{0, 1};  // all stages are empty at first
    PipelinePosition<2> metadata_turn{0, 1};
    for_each_tile([&](int row, int column) {
      const unsigned* const metadata =
          arguments.metadata + static_cast<long long>(row / gemm_tile_m) * stages_of_k() *
                                   (metadata_bytes / gemm_chunk / sizeof(unsigned));
      for (int k = 0; k < stages_of_k(); ++k, turn.next()) {
        if (k % gemm_chunk == 0) {
          unsigned long long* full = &shared.metadata_full[metadata_turn.index];
          mbarrier_wait(&shared.metadata_empty[metadata_turn.index], metadata_turn.parity);
          mbarrier_expect(full, metadata_bytes);
          bulk_copy(shared.metadata[metadata_turn.index],
                    metadata + k / gemm_chunk * (metadata_bytes / sizeof(unsigned)), metadata_bytes, full);
          metadata_turn.next();
        }
        Stage& stage = shared.stages[turn.index];
        unsigned long long* full = &shared.full[turn.index];
        mbarrier_wait(&shared.empty[turn.index], turn.parity);
        mbarrier_expect(full, sizeof(Stage::a) + sizeof(Stage::b));
        tensor_copy(stage.a, arguments.a, k * gemm_a_bytes / 2, row, 0, full);
        tensor_copy(stage.b + rank * part * gemm_b_bytes, arguments.b, k * gemm_b_bytes / 2,
                    column + rank * part, 0, full, (1 << cluster_blocks) - 1);
      }
    });
  }

  /// Tells every block of the cluster that this warp has read the stage.
  __device__ void release(int stage) const {
    if (threadIdx.x % 32 < cluster_blocks) mbarrier_arrive_in(&shared.empty[stage], threadIdx.x % 32);
  }

  /// Loads the metadata of a chunk into registers. They must not change while instructions read them, so it
  /// is called when all instructions are done.
  __device__ void load_metadata(unsigned (&metadata)[gemm_chunk][metadata_words], PipelinePosition<2>& turn,
                                int group, int lane) const {
    mbarrier_wait(&shared.metadata_full[turn.index], turn.parity);
#pragma unroll
    for (int i = 0; i < gemm_chunk; ++i)
#pragma unroll
      for (int word = 0; word < metadata_words; ++word)
        metadata[i][word] = shared.metadata[turn.index][i][group][word][lane];
    __syncwarp();
    if (lane % 32 == 0) mbarrier_arrive_in(&shared.metadata_empty[turn.index], cluster_rank());
    turn.next();
  }

  __device__ void multiply_and_store() const {
    const int group = threadIdx.x / group_lanes - 1, lane = threadIdx.x % group_lanes;
    float d[128];
    PipelinePosition<gemm_stages> turn;
    PipelinePosition<2> metadata_turn;
    for_each_tile([&](int row, int column) {
      for (int first = 0; first < stages_of_k(); first += gemm_chunk) {
        unsigned metadata[gemm_chunk][metadata_words];
        load_metadata(metadata, metadata_turn, group, lane);
        int before = 0;
#pragma unroll
        for (int i = 0; i < gemm_chunk; ++i, turn.next()) {
          mbarrier_wait(&shared.full[turn.index], turn.parity);
          multiply(d, shared.stages[turn.index], metadata[i], group, first + i > 0);
          if (i > 0) {
            wgmma_wait<1>();  // the stage before is done while this one runs
            release(before);
          }
          before = turn.index;
        }
        wgmma_wait<0>();
        release(before);
      }
      store(d, row + group * (gemm_tile_m / 2), column, lane);
    });
  }

  __device__ static void multiply(float (&d)[128], const Stage& stage,
                                  const unsigned (&metadata)[metadata_words], int group, bool add) {
    const unsigned long long a =
        wgmma_descriptor(stage.a + group * (gemm_tile_m / 2) * gemm_a_bytes, gemm_a_bytes);
    const unsigned long long b = wgmma_descriptor(stage.b, gemm_b_bytes);
    wgmma_fence();
    wgmma<0>(d, a, b, metadata[0], add);
    wgmma<is_e4m3 ? 0 : 1>(d, a + gemm_a_bytes / steps / 16, b + gemm_b_bytes / steps / 16,
                           metadata[metadata_words - 1], true);
    wgmma_commit();
  }

  __device__ void store(const float (&d)[128], int row, int column, int lane) const {
    row += lane / 32 * 16 + lane % 32 / 4;
    column += lane % 4 * 2;
    float* const c = arguments.c + static_cast<long long>(row) * arguments.n + column;
#pragma unroll
    for (int i = 0; i < 128; i += 2)
      *reinterpret_cast<float2*>(c + static_cast<long long>(i / 2 % 2 * 8) * arguments.n + i / 4 * 8) =
          make_float2(d[i], d[i + 1]);
  }
};

extern "C" __global__ __cluster_dims__(cluster_blocks)
    __launch_bounds__(gemm_threads, 1) void sparse_gemm(const __grid_constant__ GemmArguments arguments) {
  extern __shared__ __align__(1024) unsigned char memory[];
  const SparseGemm gemm{arguments, *reinterpret_cast<Shared*>(memory)};
  if (threadIdx.x == 0) {
    constexpr int consumer_warps = 2 * group_lanes / 32;
    for (int stage = 0; stage < gemm_stages; ++stage) {
      mbarrier_init(&gemm.shared.full[stage], 1);
      mbarrier_init(&gemm.shared.empty[stage], consumer_warps * cluster_blocks);
    }
    for (int index = 0; index < 2; ++index) {
      mbarrier_init(&gemm.shared.metadata_full[index], 1);
      mbarrier_init(&gemm.shared.metadata_empty[index], consumer_warps);
    }
    fence_mbarrier_init();
  }
  cluster_synchronize();
  if (threadIdx.x < group_lanes) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) gemm.load();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
    gemm.multiply_and_store();
  }
  __syncwarp();
  cluster_synchronize();  // no block exits while another still writes to it
}

/// Writes random operands and their metadata; see gemm_arguments.hpp.
extern "C" __global__ void fill(const __grid_constant__ GemmArguments arguments) {
  const long long first = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
  const long long threads = static_cast<long long>(gridDim.x) * blockDim.x;
  const auto set = [&](void* data, long long i, unsigned bits) {
    if constexpr (is_e4m3)
      static_cast<unsigned char*>(data)[i] = bits;
    else
      static_cast<unsigned short*>(data)[i] = bits;
  };
  for (long long i = first; i < static_cast<long long>(arguments.m) * arguments.k / 2; i += threads)
    set(arguments.a_data, i, gemm_element(is_e4m3, arguments.exact, gemm_hash(0, i)));
  for (long long i = first; i < static_cast<long long>(arguments.n) * arguments.k; i += threads)
    set(arguments.b_data, i, gemm_element(is_e4m3, arguments.exact, gemm_hash(1, i)));

  const long long stage_words = 2ll * metadata_words * group_lanes, groups = arguments.k / 4;
  const long long words = arguments.m / gemm_tile_m * (arguments.k / stage_k) * stage_words;
  for (long long i = first; i < words; i += threads) {
    const int lane = i % group_lanes, word = i / group_lanes % metadata_words,
              half = i / group_lanes / metadata_words % 2;
    const long long stage = i / stage_words, k = stage % (arguments.k / stage_k) * stage_k;
    const long long row = stage / (arguments.k / stage_k) * gemm_tile_m + half * (gemm_tile_m / 2) +
                          lane / 32 * 16 + lane % 32 / 4;
    unsigned bits = 0;
    for (int j = 0; j < 8; ++j) {
      // fp16: four groups of row g in the low half and of row g + 8 in the high half; e4m3: eight groups of
      // one row.
      const long long m = row + 8 * (is_e4m3 ? lane % 2 : j / 4);
      const long long group =
          is_e4m3 ? k / 4 + word * 16 + lane / 2 % 2 * 8 + j : k / 4 + lane % 4 * 4 + j % 4;
      bits |= gemm_pattern(m * groups + group) << 4 * j;
    }
    arguments.metadata[i] = bits;
  }
}

}  // namespace spsolve::cuda
