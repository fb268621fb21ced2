// SPDX-License-Identifier: Apache-2.0
// One correlation on tensor cores, sparse or dense: weights (A, 16 outputs of a tile) times input points (B,
// eight tiles side by side along x); in fp64 input points (A, 16 tiles) times weights (B, 8 outputs). A block
// marches its columns and rows along the slowest axis in chunks of tile[0] planes; a chunk of input is read
// from shared memory once and serves every chunk of output within reach, each by its own slice of the
// weights, in accumulators that rotate (kernels/sparse/sliced_operand.hpp).
//
// Per 128 outputs and chunk: slices x steps instructions, and 4 x steps reads of 32 lanes from shared memory
// (2 x 16 bits where points of a pair do not lie together). Input is read from global memory once, the halo
// of a block again by its neighbours; output is written once.

#include "arguments.hpp"
#include "async_copy.cuh"
#include "constants.cuh"
#include "mma.cuh"
#include "mma_arguments.hpp"
#include "precision.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr bool wide = sizeof(Stored) == 8;                        // fp64
constexpr bool paired_words = element != Element::tf32 && !wide;  // words of B are two elements
constexpr int elements_per_word = paired_words ? 2 : 1;
using Sum = Compute;
template <bool, class A, class B>
struct Choose {
  using Type = A;
};
template <class A, class B>
struct Choose<false, A, B> {
  using Type = B;
};
using Word = Choose<wide, double, unsigned>::Type;

constexpr bool load_early = unrolled && terms == 1 && !wide;  // registers allow

constexpr int threads = 32 * warps_x * warps_y;
constexpr int blocks = blocks_x * blocks_y;  // of a warp, each of the tiles of an instruction
constexpr int tiles_columns = (wide ? 16 : 8) * tile[2], outputs_per_block = wide ? 8 : 16;
constexpr int block_columns = warps_x * blocks_x * tiles_columns, block_rows = warps_y * blocks_y * tile[1];
constexpr int chunk_elements = tile[0] * box_rows * box_pitch;
constexpr int stage_lines = chunks_per_stage * tile[0] * box_rows;
constexpr int stage_elements =
    (chunks_per_stage * chunk_elements * (int)sizeof(Stored) + 127) / 128 * 128 / (int)sizeof(Stored);
/// Words of n registers of points: in fp64 of two tiles.
template <int n>
constexpr int b_words = wide ? 2 * n : n;
constexpr int slots = terms * slices * m_blocks * steps;  // of A
constexpr int slot_parts = wide ? 2 : 1;                  // 16 bytes each

struct SharedMemory {
  alignas(128) Stored stage[stages][stage_elements];
  uint4 weights[weights_in_registers ? 1 : slots * slot_parts * 32];
  unsigned metadata[weights_in_registers || !sparse ? 1 : m_blocks * steps * 32];
  int offsets[unrolled ? 1 : elements_per_word * registers * 4];
  unsigned long long full[stages];
};
static_assert(sizeof(SharedMemory) == shared_bytes, "the host must ask for this much");

/// Stages of input on their way to shared memory; what lies outside the memory of the input is zero.
class StageRing {
 public:
  __device__ StageRing(SharedMemory& shared, const MmaArguments& a, const long long (&begin)[3])
      : shared_(shared), a_(a) {
    for (int axis = 0; axis < 2; ++axis) begin_[axis] = static_cast<int>(begin[axis] - a.in.begin[axis]);
    begin_[2] = static_cast<int>((begin[2] - a.in.begin[2]) / per_eight);
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) mbarrier_init(&shared_.full[stage], 1);
      fence_mbarrier_init();
    }
    __syncthreads();
#endif
  }

  __device__ void fetch() {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      constexpr int bytes = chunks_per_stage * chunk_elements * sizeof(Stored);
      mbarrier_expect(&shared_.full[fetch_], bytes);
      // A whole stage at once, or rows in pieces.
      constexpr int columns = box_pitch / copies_per_row, lines = copies_per_row > 1 ? stage_lines : 1;
#pragma unroll 1
      for (int line = 0; line < lines; ++line)
#pragma unroll
        for (int i = 0; i < copies_per_row; ++i)
          tensor_copy(&shared_.stage[fetch_][line * box_pitch + i * columns], a_.in_map,
                      begin_[2] + i * (columns / per_eight), begin_[1] + line % box_rows,
                      begin_[0] + line / box_rows, &shared_.full[fetch_]);
    }
#else
    constexpr int elements = 16 / sizeof(Stored), chunks = box_pitch / elements;
    for (int i = threadIdx.x; i < stage_lines * chunks; i += threads) {
      const int line = i / chunks;
      const long long z = begin_[0] + line / box_rows, y = begin_[1] + line % box_rows,
                      x = begin_[2] * static_cast<long long>(per_eight) + i % chunks * elements;
      const bool inside = z >= 0 && z < a_.in.end[0] - a_.in.begin[0] && y >= 0 &&
                          y < a_.in.end[1] - a_.in.begin[1] && x >= 0 && x < a_.in.end[2] - a_.in.begin[2];
      const Stored* from = static_cast<const Stored*>(a_.in.data);
      if (inside) from += z * a_.in.stride[0] + y * a_.in.stride[1] + x;
      copy_16_bytes_or_zero(&shared_.stage[fetch_][i * elements], from, inside);
    }
#endif
    begin_[0] += chunks_per_stage * tile[0];
    fetch_ = fetch_ + 1 == stages ? 0 : fetch_ + 1;
  }

  /// The next stage once it has arrived, after all threads have left the one before.
  __device__ const Stored* wait() {
    const int stage = wait_;
#if __CUDA_ARCH__ >= 900
    while (!mbarrier_try_wait(&shared_.full[stage], parity_)) {
    }
    if (stage + 1 == stages) parity_ ^= 1;
#else
    commit_copies();
    wait_for_copies<stages - 1>();
#endif
    __syncthreads();
    wait_ = stage + 1 == stages ? 0 : stage + 1;
    return shared_.stage[stage];
  }

  /// Ends the group of copies of a prologue's stage (sm_80).
  __device__ void commit() {
#if __CUDA_ARCH__ < 900
    commit_copies();
#endif
  }

 private:
  SharedMemory& shared_;
  const MmaArguments& a_;
  static constexpr int per_eight = 8 / sizeof(Stored);  // elements; the copy engine counts 8 bytes
  int begin_[3];  // of the next stage, relative to the memory of the input; columns in 8 bytes
  int fetch_ = 0, wait_ = 0;
  unsigned parity_ = 0;
};

/// Splits a number, or two, into bf16 terms, each the rounding of what those before leave over.
template <class Word, int n>
__device__ inline void split(float low, float high, Word (&term)[n]) {
#pragma unroll
  for (int i = 0; i < n; ++i) {
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(term[i]) : "f"(high), "f"(low));
    low -= __uint_as_float(term[i] << 16);
    high -= __uint_as_float(term[i] & 0xffff0000u);
  }
}

/// Reads shared memory now, every time: kept in registers, all weights would not fit.
__device__ inline uint4 load_again(const uint4* shared) {
  uint4 value;
  asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
               : "r"(shared_address(shared)));
  return value;
}

/// Of which points the four results are that a lane holds of a product: two outputs of two neighbouring
/// tiles; where 16-bit results are transposed, two pairs of neighbours of one tile; in fp64 one pair of two
/// tiles.
template <bool transposed>
struct Places {
  long long offset[m_blocks][2];  // elements from the first tile of the warp
  int plane[m_blocks][2];
  unsigned inside[m_blocks][blocks];  // of the region, one bit for each result, but for planes

  static constexpr int step = transposed || wide ? 1 : tile[2];  // between the first two results

  __device__ void locate(const View& view, const Region& region, const long long (&origin)[3], int lane) {
    const int g = lane / 4, q = lane % 4;
#pragma unroll
    for (int b = 0; b < m_blocks; ++b) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int row = outputs_per_block * b + (wide ? 2 * q : 8 * half + (transposed ? 2 * q : g));
        const int column = (wide ? g + 8 * half : transposed ? g : 2 * q) * tile[2];
        const int p0 = outputs[row][0], p1 = outputs[row][1], p2 = outputs[row][2] + column;
        plane[b][half] = p0;
        offset[b][half] = p0 * view.stride[0] + p1 * view.stride[1] + p2;
#pragma unroll
        for (int j = 0; j < blocks; ++j) {
          if (half == 0) inside[b][j] = 0;
          const long long y = origin[1] + p1 + j / blocks_x * tile[1],
                          x = origin[2] + p2 + j % blocks_x * tiles_columns;
          const bool row_inside = outputs[row][1] >= 0 && y >= region.begin[1] && y < region.end[1];
#pragma unroll
          for (int i = 0; i < 2; ++i)
            if (row_inside && x + i * step >= region.begin[2] && x + i * step < region.end[2])
              inside[b][j] |= 1u << (2 * half + i);
        }
      }
    }
  }
};

template <class Stored>
class MmaSweep {
 public:
  __device__ MmaSweep(SharedMemory& shared, const MmaArguments& a)
      : shared_(shared), a_(a), lane_(threadIdx.x % 32), warp_(threadIdx.x / 32) {
    const long long first_chunk = blockIdx.z * a.chunks_per_block;
    chunks_ = static_cast<int>(min(a.chunks_per_block, a.chunks - first_chunk));
    const long long block[3] = {a.tile_begin[0] + first_chunk * tile[0],
                                a.tile_begin[1] + blockIdx.y * static_cast<long long>(block_rows),
                                a.tile_begin[2] + blockIdx.x * static_cast<long long>(block_columns)};
    for (int axis = 0; axis < 3; ++axis) box_[axis] = block[axis] + window[axis];
    box_[2] -= a.lead;
    const int row = warp_ / warps_x * blocks_y * tile[1], column = warp_ % warps_x * blocks_x * tiles_columns;
    const long long origin[3] = {block[0], block[1] + row, block[2] + column};
    plane_ = origin[0];
    places_.locate(a.out, a.region, origin, lane_);
    if constexpr (with_source) source_places_.locate(a.source, a.region, origin, lane_);
    out_ = static_cast<Stored*>(a.out.data) + (origin[0] - a.out.begin[0]) * a.out.stride[0] +
           (origin[1] - a.out.begin[1]) * a.out.stride[1] + (origin[2] - a.out.begin[2]);
    if constexpr (with_source)
      source_ = static_cast<const Compute*>(a.source.data) +
                (origin[0] - a.source.begin[0]) * a.source.stride[0] +
                (origin[1] - a.source.begin[1]) * a.source.stride[1] + (origin[2] - a.source.begin[2]);
    first_tile_ = row * box_pitch + column + a.lead + lane_ / 4 * tile[2];
    if constexpr (unrolled)
#pragma unroll
      for (int c = 0; c < classes; ++c) base_[c] = first_tile_ + lane_offset(c);
  }

  __device__ void run() {
    StageRing ring(shared_, a_, box_);
    const int chunks_in = chunks_ + slices - 1,
              stage_count = (chunks_in + chunks_per_stage - 1) / chunks_per_stage;
    constexpr int ahead = stages > 1 ? stages - 1 : 1;  // with one, a block has one stage in all
    for (int stage = 0; stage < ahead; ++stage) {
      if (stage < stage_count) ring.fetch();
      ring.commit();
    }
    load_weights();
    int fetched = ahead;
    const Stored* points = nullptr;
    for (int begin = 0; begin < chunks_in; begin += chunks_per_loop)
      static_for<0, chunks_per_loop>([&](auto u) {
        const int chunk = begin + u.value, done = chunk - (slices - 1);
        if (chunk >= chunks_in) return;
        if constexpr (u.value % chunks_per_stage == 0) {
          points = ring.wait();
          if (fetched++ < stage_count) ring.fetch();
        }
        this->template multiply<u.value>(points + u.value % chunks_per_stage * chunk_elements);
        if (done < 0) return;
        this->template store<(u.value + 1) % slices>();
        plane_ += tile[0];
        out_ += tile[0] * a_.out.stride[0];
        if constexpr (with_source) source_ += tile[0] * a_.source.stride[0];
      });
  }

 private:
  /// Weights and metadata from global memory to registers, or to shared memory.
  __device__ void load_weights() {
    const auto* from = static_cast<const uint4*>(a_.weights);
    if constexpr (weights_in_registers) {
#pragma unroll
      for (int slot = 0; slot < slots; ++slot)
#pragma unroll
        for (int part = 0; part < slot_parts; ++part)
          weights_[slot * slot_parts + part] = from[(slot * slot_parts + part) * 32 + lane_];
      if constexpr (sparse)
#pragma unroll
        for (int i = 0; i < m_blocks * steps; ++i) metadata_[i] = a_.metadata[i * 32 + lane_];
    } else {
      for (int i = threadIdx.x; i < slots * slot_parts * 32; i += threads) shared_.weights[i] = from[i];
      if constexpr (sparse)
        for (int i = threadIdx.x; i < m_blocks * steps * 32; i += threads)
          shared_.metadata[i] = a_.metadata[i];
    }
    if constexpr (!unrolled)
      for (int i = threadIdx.x; i < elements_per_word * registers * 4; i += threads)
        shared_.offsets[i] = place_offset[i / 4] + class_offset[place_class[i / 4]][i % 4];
  }

  __device__ int lane_offset(int c) const {
    const int q = lane_ % 4;
    return q == 0   ? class_offset[c][0]
           : q == 1 ? class_offset[c][1]
           : q == 2 ? class_offset[c][2]
                    : class_offset[c][3];
  }

  /// Where element `e` of register r of this lane lies in a chunk.
  __device__ int place(int r, int e) const {
    const int i = r * elements_per_word + e;
    if constexpr (unrolled)
      return base_[place_class[i]] + place_offset[i];
    else
      return first_tile_ + shared_.offsets[4 * i + lane_ % 4];
  }

  /// Register r of B, as terms.
  __device__ void load(const Stored* points, int r, int block_offset, Word (&b)[terms]) const {
    const Stored* first = points + place(r, 0) + block_offset;
    if constexpr (wide) {
      b[0] = *first;
    } else if constexpr (!paired_words) {
      b[0] = __float_as_uint(operand<Stored, float>(value_of(*first)));
    } else {
      const bool together = aligned && together_at[r];
      const Stored* second = together ? first + 1 : points + place(r, 1) + block_offset;
      if constexpr (terms == 1) {
        b[0] = together ? *reinterpret_cast<const unsigned*>(first) : first->bits | second->bits << 16;
      } else {
        float2 pair;
        if (together)
          pair = *reinterpret_cast<const float2*>(first);
        else
          pair = {*first, *second};
        split(pair.x, pair.y, b);
      }
    }
  }

  /// The n registers of B from r on, neighbours in memory.
  template <int n>
  __device__ void load_together(const Stored* points, int r, int block_offset, unsigned (&b)[n]) const {
    const Pack<unsigned, n> words =
        *reinterpret_cast<const Pack<unsigned, n>*>(points + place(r, 0) + block_offset);
#pragma unroll
    for (int i = 0; i < n; ++i) b[i] = words.element[i];
  }

  /// Weights of one instruction.
  template <int n>
  __device__ void load(int term, int slice, int block, int step, Word (&a)[n]) const {
    const int slot = ((term * slices + slice) * m_blocks + block) * steps + step;
#pragma unroll
    for (int part = 0; part < slot_parts; ++part) {
      if (part * (16 / (int)sizeof(Word)) >= n) break;
      const int at = slot * slot_parts + part;
      uint4 bits;
      if constexpr (weights_in_registers)
        bits = weights_[at];
      else
        bits = load_again(&shared_.weights[at * 32 + lane_]);
      if constexpr (wide) {
        a[2 * part] = __hiloint2double(static_cast<int>(bits.y), static_cast<int>(bits.x));
        if constexpr (n > 1)
          a[2 * part + 1] = __hiloint2double(static_cast<int>(bits.w), static_cast<int>(bits.z));
      } else {
        a[0] = bits.x;
        a[1] = bits.y;
        if constexpr (n == 4) {
          a[2] = bits.z;
          a[3] = bits.w;
        }
      }
    }
  }

  /// sum += A B for a step of n registers of B; the smallest products first.
  template <int n, int a_registers>
  __device__ static void multiply_add(Sum (&sum)[4], const Word (&a)[terms][a_registers],
                                      const Word (&b)[terms][b_words<n>], unsigned metadata) {
    const auto one = [&](Sum(&to)[4], int i, int j) {
      if constexpr (wide)
        dense_mma<n>(to, b[j], a[i]);
      else if constexpr (!sparse)
        dense_mma<element>(to, a[i], b[j]);
      else
        sparse_mma<element, n*(paired_words ? 8 : 4), 0>(to, a[i], b[j], metadata);
    };
    if constexpr (terms == 1) {
      one(sum, 0, 0);
    } else {
      // Tensor cores cut sums off instead of rounding: sums of steps are added up outside.
      Sum step_sum[4] = {};
#pragma unroll
      for (int order = terms - 1; order >= 0; --order)
#pragma unroll
        for (int i = 0; i <= order; ++i) one(step_sum, i, order - i);
#pragma unroll
      for (int i = 0; i < 4; ++i) sum[i] += step_sum[i];
    }
  }

  /// The n registers of B that a step takes.
  template <int n>
  __device__ void load_step(const Stored* points, int step, Word (&b)[blocks][terms][b_words<n>]) const {
#pragma unroll
    for (int j = 0; j < blocks; ++j) {
      const int block_offset = j / blocks_x * tile[1] * box_pitch + j % blocks_x * tiles_columns;
      if constexpr (unrolled && aligned && paired_words && terms == 1 && n > 1) {
        if (together_from[first_register[step]] >= n) {
          load_together<n>(points, first_register[step], block_offset, b[j][0]);
          continue;
        }
      }
#pragma unroll
      for (int i = 0; i < n; ++i) {
        Word word[terms];
        load(points, first_register[step] + i, block_offset, word);
        if constexpr (wide) {
          b[j][0][2 * i] = word[0];
          load(points, first_register[step] + i, block_offset + 8 * tile[2], word);
          b[j][0][2 * i + 1] = word[0];
        } else {
#pragma unroll
          for (int term = 0; term < terms; ++term) b[j][term][i] = word[term];
        }
      }
    }
  }

  /// One step of n registers of B, for all slices.
  template <int n>
  __device__ void multiply_step(const Word (&b)[blocks][terms][b_words<n>], int u, int step) {
    constexpr int a_registers = wide || sparse ? n : 4;
#pragma unroll
    for (int block = 0; block < m_blocks; ++block) {
      unsigned metadata = 0;
      if constexpr (sparse) {
        if constexpr (weights_in_registers)
          metadata = metadata_[block * steps + step];
        else
          metadata = shared_.metadata[(block * steps + step) * 32 + lane_];
      }
#pragma unroll
      for (int slice = 0; slice < slices; ++slice) {
        if (unrolled && !used[slice][step]) continue;
        Word a[terms][a_registers];
#pragma unroll
        for (int term = 0; term < terms; ++term) load(term, slice, block, step, a[term]);
#pragma unroll
        for (int j = 0; j < blocks; ++j)
          multiply_add<n, a_registers>(sums_[(u - slice + chunks_per_loop) % slices][block][j], a, b[j],
                                       metadata);
      }
    }
  }

  /// Adds what the chunk at `points` contributes to every chunk of output within reach. The first step's B of
  /// the next chunk, if that has arrived, is on its way before results are written.
  template <int u>
  __device__ void multiply(const Stored* points) {
    constexpr int whole = step_registers[0], tail = step_registers[steps - 1];
#pragma unroll
    for (int block = 0; block < m_blocks; ++block)
#pragma unroll
      for (int j = 0; j < blocks; ++j)
#pragma unroll
        for (int i = 0; i < 4; ++i) sums_[u % slices][block][j][i] = 0;
    if (!load_early || u % chunks_per_stage == 0) load_step<whole>(points, 0, first_b_);
    multiply_step<whole>(first_b_, u, 0);
    if constexpr (unrolled) {
#pragma unroll
      for (int step = 1; step < steps - 1; ++step) load_and_multiply<whole>(points, u, step);
    } else {
#pragma unroll 1
      for (int step = 1; step < steps - 1; ++step) load_and_multiply<whole>(points, u, step);
    }
    if constexpr (steps > 1) load_and_multiply<tail>(points, u, steps - 1);
    if (load_early && (u + 1) % chunks_per_stage != 0) load_step<whole>(points + chunk_elements, 0, first_b_);
  }

  template <int n>
  __device__ void load_and_multiply(const Stored* points, int u, int step) {
    Word b[blocks][terms][b_words<n>];
    load_step<n>(points, step, b);
    multiply_step<n>(b, u, step);
  }

  /// Writes the sums of a chunk of output, those that lie in the region.
  template <int slot>
  __device__ void store() {
#pragma unroll
    for (int block = 0; block < m_blocks; ++block)
#pragma unroll
      for (int j = 0; j < blocks; ++j) {
        Sum value[4];
#pragma unroll
        for (int i = 0; i < 4; ++i) value[i] = sums_[slot][block][j][i];
        if constexpr (!wide)
#pragma unroll
          for (int i = 0; i < 4; ++i) value[i] *= a_.unscale;
        if constexpr (with_source) {
          const Compute* from = source_ + block_offset(a_.source, j);
          const unsigned inside = inside_planes(source_places_, block, j);
#pragma unroll
          for (int i = 0; i < 4; ++i)
            if (inside >> i & 1)
              value[i] += from[source_places_.offset[block][i / 2] + i % 2 * source_places_.step];
        }
        write(out_ + block_offset(a_.out, j), block, inside_planes(places_, block, j), value);
      }
  }

  __device__ static long long block_offset(const View& view, int j) {
    return j / blocks_x * tile[1] * view.stride[1] + j % blocks_x * tiles_columns;
  }

  template <bool transposed>
  __device__ unsigned inside_planes(const Places<transposed>& places, int block, int j) const {
    unsigned inside = places.inside[block][j];
    if constexpr (tile[0] == 1) return inside;  // the march ends where the region does
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const long long p = plane_ + places.plane[block][half];
      if (p < a_.region.begin[0] || p >= a_.region.end[0]) inside &= ~(3u << (2 * half));
    }
    return inside;
  }

  __device__ void write(Stored* to, int block, unsigned inside, const Sum (&value)[4]) const {
    if constexpr (sizeof(Stored) == 2) {
      unsigned pair[2];  // of neighbours along x
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Stored low, high;
        spsolve::cuda::store(low, value[2 * half]);
        spsolve::cuda::store(high, value[2 * half + 1]);
        pair[half] = transpose(low.bits | high.bits << 16);
      }
      if (aligned && inside == 15) {
        if constexpr (four_together) {
          *reinterpret_cast<uint2*>(to + places_.offset[block][0]) = {pair[0], pair[1]};
        } else {
#pragma unroll
          for (int half = 0; half < 2; ++half)
            *reinterpret_cast<unsigned*>(to + places_.offset[block][half]) = pair[half];
        }
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i)
          if (inside >> i & 1)
            to[places_.offset[block][i / 2] + i % 2].bits =
                static_cast<unsigned short>(pair[i / 2] >> (16 * (i % 2)));
      }
    } else {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        Stored* first = to + places_.offset[block][half];
        if constexpr (wide && aligned) {
          if ((inside >> (2 * half) & 3) == 3) {
            *reinterpret_cast<double2*>(first) = {value[2 * half], value[2 * half + 1]};
            continue;
          }
        }
#pragma unroll
        for (int i = 0; i < 2; ++i)
          if (inside >> (2 * half + i) & 1)
            spsolve::cuda::store(first[i * places_.step], value[2 * half + i]);
      }
    }
  }

  SharedMemory& shared_;
  const MmaArguments& a_;
  int lane_, warp_;
  int chunks_;        // of output of this block
  long long box_[3];  // where the first stage begins
  long long plane_;   // of the next chunk of output
  Places<sizeof(Stored) == 2> places_;
  Places<false> source_places_;
  Stored* out_;
  const Compute* source_ = nullptr;
  int first_tile_;                    // of this lane in a chunk
  int base_[unrolled ? classes : 1];  // the same with the offsets of its words
  uint4 weights_[weights_in_registers ? slots * slot_parts : 1];
  unsigned metadata_[weights_in_registers && sparse ? m_blocks * steps : 1];
  Sum sums_[slices][m_blocks][blocks][4];
  Word first_b_[blocks][terms][b_words<step_registers[0]>];
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::threads, spsolve::cuda::blocks_per_multiprocessor)
    mma_sweep(const __grid_constant__ spsolve::cuda::MmaArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  using namespace spsolve::cuda;
  MmaSweep<constants::Stored>(*reinterpret_cast<SharedMemory*>(memory), a).run();
}
