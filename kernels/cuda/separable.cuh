// SPDX-License-Identifier: Apache-2.0
// A sum of rank-one stencils as chained passes on sparse tensor cores: along x from shared memory, then along
// y in registers. A warp marches 16 * groups columns of a strip down y.
//
// Pass 1, D1^T = U X^T (M = 16 outputs along x, N = 8 rows): windows of 32 inputs hold one 16-byte chunk (or
// two, of fp32) per lane, no shuffle. Rows are dealt to N such that the accumulators of pass 1, rounded to
// operands, are the B fragments of pass 2, out = V D1 (M = 16 outputs along y, N = 8 columns); see
// kernels/sparse/chained_pass.hpp. Fragment n of 16 + 16 rows holds slab n (16 rows) in lanes with even q and
// slab n + windows in those with odd q (q = lane % 4). Where a window begins in the odd half of one step's
// fragment, its slabs are the odd lanes of that and the even lanes of the next, and the same weights serve
// with metadata of the other pair. So every value of D1 is made once per strip.
//
// Per 128 outputs: rank * (x_windows + y_windows) instructions m16n8k32 (tf32: twice as many k16, three times
// that for fp32 results). fp32 storage: operands are rounded to tf32; for fp32 results data and weights are
// split into two tf32 terms each, and all products but that of the smaller terms are summed. No range is
// lost: tf32 has the exponents of fp32.
//
// Memory: one read and one write per point, and the halo (mostly in L2). Limited by memory up to about rank 3
// (fp16) or 1 (fp32), by the power that the tensor cores take beyond.

#include "constants.cuh"
#include "precision.cuh"
#include "separable_arguments.hpp"
#include "sparse_mma.cuh"
#include "tensor_store.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr bool tf32 = element == Element::tf32;
constexpr int words = tf32 ? 8 : 4;               // registers of a fragment of one window
constexpr int instructions = tf32 ? 2 : 1;        // per window
constexpr int slab = 16;                          // outputs of one instruction
constexpr int block_rows = 2 * slab * y_windows;  // of a stage
constexpr int warp_columns = slab * groups;
constexpr int block_columns = warp_columns * warps;
constexpr int box_bytes = warp_columns * sizeof(Stored) < 128 ? 64 : 128;  // a row of a bulk store
constexpr int box_columns = box_bytes / sizeof(Stored);
constexpr int boxes = bulk_stores ? warp_columns / box_columns : 1;
constexpr int x_instructions = x_windows * instructions, y_instructions = y_windows * instructions;
constexpr int x_words = (x_instructions + 1) / 2, y_words = (y_instructions + 1) / 2;
constexpr int value_count = rank * terms * (x_instructions + y_instructions);  // fragments of A

struct SharedMemory {
  alignas(1024)
      Stored out[bulk_stores ? warps : 1][boxes][bulk_stores ? block_rows : 1][bulk_stores ? box_columns : 8];
  alignas(128) Stored stage[stages][block_rows][row_elements];
  uint4 values[weights_in_shared ? value_count : 1][32];
  unsigned long long full[stages], read[stages];
};

static_assert(sizeof(SharedMemory) <= shared_bytes);

/// Registers of B.
struct Fragment {
  unsigned word[words];
};
/// The same as operands: rounded to the format, or split into terms.
struct Operand {
  unsigned word[terms][words];
};

__device__ inline unsigned pack_pair(float low, float high) {
  unsigned pair;
  if constexpr (element == Element::fp16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}

/// Operands of a fragment. The instructions ignore the low 13 bits of tf32. fp32 is split into its 11 high
/// bits, rounded to nearest (Veltkamp 1968; Dekker 1971; on the pipe that has room), and the rest, of which
/// the thirteenth bit may be lost, of either sign.
__device__ inline Operand operand_of(const Fragment& fragment) {
  Operand operand;
#pragma unroll
  for (int i = 0; i < words; ++i) {
    operand.word[0][i] = fragment.word[i];
    if constexpr (terms == 2) {
      const float value = __uint_as_float(fragment.word[i]), scaled = __fmul_rn(value, 8193.0f);
      const float larger = __fsub_rn(scaled, __fsub_rn(scaled, value));
      operand.word[0][i] = __float_as_uint(larger);
      operand.word[1][i] = __float_as_uint(__fsub_rn(value, larger));
    } else if constexpr (tf32) {
      operand.word[0][i] += 0x1000u;
    }
  }
  return operand;
}

/// A fragment whose odd slab is that of `before` and whose even slab is that of `after`.
__device__ inline Fragment join(const Fragment& before, const Fragment& after) {
  Fragment fragment;
  const bool odd = threadIdx.x & 1;
#pragma unroll
  for (int i = 0; i < words; ++i) fragment.word[i] = odd ? before.word[i] : after.word[i];
  return fragment;
}

/// Accumulators of the products of larger terms, and of all others: tensor cores cut sums off, and here the
/// large ones need not be (kernels/sparse/separable_operand.cpp); the last addition rounds to nearest.
struct Sums {
  float of[terms][4] = {};

  __device__ float total(int c) const {
    return terms == 2 ? __fadd_rn(of[0][c], of[terms - 1][c]) : of[0][c];
  }
};

/// Weights and metadata of the lane, in registers or in shared memory.
class Weights {
 public:
  __device__ Weights(const SeparableArguments& a, SharedMemory& shared) : shared_(shared) {
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const auto* values = static_cast<const uint4*>(a.values);
    if constexpr (weights_in_shared) {
      for (int i = threadIdx.x; i < value_count * 32; i += 32 * warps)
        shared.values[i / 32][i % 32] = values[i];
    } else {
#pragma unroll
      for (int i = 0; i < value_count; ++i) value_[i] = values[i * 32 + lane];
    }
    const auto* metadata = static_cast<const unsigned*>(a.metadata);
#pragma unroll
    for (int i = 0; i < x_words + y_words; ++i) metadata_[i] = metadata[i * 32 + lane];
  }

  /// A of one window: of a term of the stencil, along an axis.
  template <bool along_y, int window>
  struct Window {
    uint4 value[terms][instructions];
  };
  template <bool along_y, int window>
  __device__ Window<along_y, window> get(int rank_term) const {
    constexpr int per_term = along_y ? y_instructions : x_instructions;
    constexpr int first = (along_y ? rank * terms * x_instructions : 0) + window * instructions;
    Window<along_y, window> a;
#pragma unroll
    for (int term = 0; term < terms; ++term)
#pragma unroll
      for (int part = 0; part < instructions; ++part)
        a.value[term][part] = value(first + (rank_term * terms + term) * per_term + part);
    return a;
  }

  /// sums += A B.
  template <bool other_pair, bool along_y, int window>
  __device__ void multiply(Sums& sums, const Window<along_y, window>& a, const Operand& b) const {
    if constexpr (terms == 2) {
      multiply_terms<other_pair, along_y, window>(sums.of[1], a.value[1], b.word[0]);
      multiply_terms<other_pair, along_y, window>(sums.of[1], a.value[0], b.word[1]);
    }
    multiply_terms<other_pair, along_y, window>(sums.of[0], a.value[0], b.word[0]);
  }

 private:
  template <bool other_pair, bool along_y, int window>
  __device__ void multiply_terms(float (&d)[4], const uint4 (&value)[instructions],
                                 const unsigned (&b)[words]) const {
    static_for<0, instructions>([&](auto part_) {
      constexpr int part = decltype(part_)::value, i = window * instructions + part;
      const unsigned a[4]{value[part].x, value[part].y, value[part].z, value[part].w};
      const unsigned fragment[4]{b[4 * part], b[4 * part + 1], b[4 * part + 2], b[4 * part + 3]};
      const unsigned metadata = metadata_[(along_y ? x_words : 0) + i / 2] ^ (other_pair ? 0xaaaaaaaau : 0u);
      sparse_mma<element, tf32 ? 16 : 32, i % 2>(d, a, fragment, metadata);
    });
  }

  __device__ uint4 value(int i) const {
    if constexpr (!weights_in_shared) {
      return value_[i];
    } else {
      uint4 v;  // volatile: kept in registers they would spill
      asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
                   : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                   : "r"(shared_address(&shared_.values[i][threadIdx.x % 32])));
      return v;
    }
  }

  SharedMemory& shared_;
  uint4 value_[weights_in_shared ? 1 : value_count];
  unsigned metadata_[x_words + y_words];
};

/// The next rows of the block's columns on their way to shared memory: by the tensor copy engine on sm_90, by
/// cp.async on sm_80. What lies outside the memory of the input is zero.
class BlockRing {
 public:
  __device__ BlockRing(SharedMemory& shared, const SeparableArguments& a, int row, int column, int plane)
      : shared_(shared), a_(a), row_(row), column_(column), plane_(plane) {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        mbarrier_init(&shared_.full[stage], 1);
        mbarrier_init(&shared_.read[stage], warps);
      }
      fence_mbarrier_init();
    }
    __syncthreads();
#endif
  }

  /// Starts the copy of block `n`; on sm_90 thread 0 waits until the stage has been read by all warps.
  __device__ void fetch(int n) {
    const int stage = n % stages;
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x == 0) {
      if (n >= stages) wait(&shared_.read[stage], (n / stages - 1) & 1);
      mbarrier_expect(&shared_.full[stage], sizeof(shared_.stage[0]));
      constexpr int per_unit = 8 / sizeof(Stored);
      tensor_copy(shared_.stage[stage], a_.in_map, column_ / per_unit, row_ + n * block_rows, plane_,
                  &shared_.full[stage]);
    }
#else
    constexpr int chunk = 16 / sizeof(Stored), chunks = row_elements / chunk;
    const auto* in = static_cast<const Stored*>(a_.in.data) + plane_ * a_.in.stride[0];
    for (int i = threadIdx.x; i < block_rows * chunks; i += 32 * warps) {
      const int row = row_ + n * block_rows + i / chunks, column = column_ + i % chunks * chunk;
      const bool inside = row >= 0 && row < a_.in.end[1] - a_.in.begin[1] && column >= 0 &&
                          column < a_.in.end[2] - a_.in.begin[2];
      copy_16_bytes_or_zero(&shared_.stage[stage][i / chunks][i % chunks * chunk],
                            inside ? in + row * a_.in.stride[1] + column : in, inside);
    }
#endif
  }

  /// Closes the group of a fetch (or of none).
  __device__ void commit() {
#if __CUDA_ARCH__ < 900
    commit_copies();
#endif
  }

  /// Waits for block `n`; called by all threads.
  __device__ void wait_for(int n) {
#if __CUDA_ARCH__ >= 900
    wait(&shared_.full[n % stages], n / stages & 1);
#else
    wait_for_copies<ahead>();
    __syncthreads();
#endif
  }

  /// The warp needs block `n` no longer.
  __device__ void release(int n) {
#if __CUDA_ARCH__ >= 900
    __syncwarp();
    if (threadIdx.x % 32 == 0) mbarrier_arrive(&shared_.read[n % stages]);
#endif
  }

 private:
#if __CUDA_ARCH__ >= 900
  __device__ static void wait(unsigned long long* barrier, unsigned parity) {
    while (!mbarrier_try_wait(barrier, parity)) {
    }
  }
#endif

  SharedMemory& shared_;
  const SeparableArguments& a_;
  int row_, column_, plane_;  // relative to the memory of the input
};

class Strip {
 public:
  __device__ Strip(const SeparableArguments& a, SharedMemory& shared)
      : a_(a),
        shared_(shared),
        warp_(static_cast<int>(threadIdx.x) / 32),
        g_(static_cast<int>(threadIdx.x) % 32 / 4),
        q_(static_cast<int>(threadIdx.x) % 4),
        row_(a.first_row + static_cast<long long>(blockIdx.y) * (block_rows * a.steps_per_strip + slab)),
        block_column_(a.first_column + static_cast<long long>(blockIdx.x) * block_columns),
        column_(block_column_ + warp_ * warp_columns),
        plane_(a.region.begin[0] + blockIdx.z),
        first_row_(clamped(a.region.begin[1] - row_)),
        last_row_(clamped(a.region.end[1] - row_)),
        first_column_(clamped(a.region.begin[2] - column_)),
        last_column_(clamped(a.region.end[2] - column_)) {
    simple_ = a.aligned && first_column_ <= 0 && last_column_ >= warp_columns;
    if (first_row_ < 0) first_row_ = 0;
  }

  __device__ void run() {
    const Weights weights(a_, shared_);
    BlockRing ring(shared_, a_, static_cast<int>(row_ + row_margin - a_.in.begin[1]),
                   static_cast<int>(block_column_ + column_margin - a_.in.begin[2]),
                   static_cast<int>(plane_ - a_.in.begin[0]));
    if constexpr (weights_in_shared) __syncthreads();
    const int needed = last_row_ <= slab ? 0 : (last_row_ - slab + block_rows - 1) / block_rows;
    const int last = needed < a_.steps_per_strip ? needed : a_.steps_per_strip;
    const bool idle = last_column_ <= 0 || first_column_ >= warp_columns;
    for (int n = 0; n < ahead; ++n) {
      if (n <= last) ring.fetch(n);
      ring.commit();
    }
    for (int n = 0; n <= last; ++n) {
      if (n + ahead <= last) {
#if __CUDA_ARCH__ < 900
        if (ahead == stages - 1) __syncthreads();
#endif
        ring.fetch(n + ahead);
      }
      ring.commit();
      ring.wait_for(n);
      const int first_row = (n - 1) * block_rows + slab;  // that is completed
      if (idle)
        ring.release(n);
      else if (simple_ && first_row >= first_row_ && first_row + block_rows <= last_row_)
        step<true>(weights, ring, n);
      else
        step<false>(weights, ring, n);
    }
    if constexpr (bulk_stores) wait_for_staging();  // shared memory lives as long as the block
  }

 private:
  /// Takes block n in and writes the rows that it completes. `simple`: all of them, without a source; a
  /// second instance of the code, without branches.
  template <bool simple>
  __device__ void step(const Weights& weights, BlockRing& ring, int n) {
    const int first_row = (n - 1) * block_rows + slab;  // relative to the strip, as all rows here
    const Stored* rows =
        &shared_.stage[n % stages][g_ / 4 * 8 + g_ / 2 % 2 * (slab * y_windows) + g_ % 2]
                      [warp_ * warp_columns + window_column + q_ / 2 * 8 + q_ % 2 * (slab * x_windows)];
    static_for<0, groups / groups_at_once>([&](auto part_) {
      constexpr int first = decltype(part_)::value * groups_at_once;
      Fragment next[groups_at_once][rank][y_windows][2];
      along_x(weights, rows + first * slab, next);
      if constexpr (first + groups_at_once == groups) ring.release(n);
      if constexpr (first == 0 && bulk_stores) wait_for_staging();
      static_for<0, groups_at_once>([&](auto group_) {
        constexpr int group = first + decltype(group_)::value;
        const auto& fresh = next[group - first];
        Sums out[2 * y_windows][2];
        along_y(weights, before_[group], fresh, out);
#pragma unroll
        for (int i = 0; i < 2 * y_windows; ++i) write<simple, group>(first_row, i, out[i]);
#pragma unroll
        for (int k = 0; k < rank; ++k)
#pragma unroll
          for (int m = 0; m < y_windows; ++m)
            for (int half = 0; half < 2; ++half) before_[group][k][m][half] = fresh[k][m][half];
      });
    });
    if constexpr (bulk_stores) store_staged<simple>(first_row);
  }

  /// Pass 1: the fragments of 32 * y_windows new rows of some groups of 16 columns.
  __device__ void along_x(const Weights& weights, const Stored* in,
                          Fragment (&next)[groups_at_once][rank][y_windows][2]) const {
    // Where weights are read from shared memory, several rows share a reading.
    constexpr int rows_at_once = weights_in_shared && !tf32 ? 4 : 1;
    constexpr int windows = x_windows + groups_at_once - 1;  // neighbours share all but one
    static_for<0, y_windows>([&](auto m_) {
      constexpr int m = decltype(m_)::value;
      static_for<0, 4 / rows_at_once>([&](auto part_) {
        constexpr int first = decltype(part_)::value * rows_at_once;
        Operand x[rows_at_once][windows];
#pragma unroll
        for (int r = 0; r < rows_at_once; ++r)
#pragma unroll
          for (int window = 0; window < windows; ++window)
            x[r][window] = load(in + (m * slab + 2 * (first + r)) * row_elements + slab * window);
#pragma unroll
        for (int k = 0; k < rank; ++k) {
          Sums sums[rows_at_once][groups_at_once];
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
                hand_on(next[group][k][m][half], first + r, sums[r][group].total(2 * half),
                        sums[r][group].total(2 * half + 1));
        }
      });
    });
  }

  __device__ static Operand load(const Stored* from) {
    Fragment fragment;
#pragma unroll
    for (int chunk = 0; chunk < words / 4; ++chunk) {
      const uint4 loaded = reinterpret_cast<const uint4*>(from)[chunk];
      fragment.word[4 * chunk] = loaded.x;
      fragment.word[4 * chunk + 1] = loaded.y;
      fragment.word[4 * chunk + 2] = loaded.z;
      fragment.word[4 * chunk + 3] = loaded.w;
    }
    return operand_of(fragment);
  }

  /// Two accumulators of pass 1 as inputs of pass 2.
  __device__ static void hand_on(Fragment& to, int r, float left, float right) {
    if constexpr (tf32) {
      to.word[2 * r] = __float_as_uint(left);
      to.word[2 * r + 1] = __float_as_uint(right);
    } else {
      to.word[r] = pack_pair(left, right);
    }
  }

  /// Pass 2: 32 * y_windows rows of 16 columns, 16 at a time; the first window of the i-th is i + 1 slabs
  /// after that of the last step's fragments.
  __device__ void along_y(const Weights& weights, const Fragment (&before)[rank][y_windows][2],
                          const Fragment (&next)[rank][y_windows][2], Sums (&out)[2 * y_windows][2]) const {
#pragma unroll
    for (int k = 0; k < rank; ++k)
      static_for<0, y_windows>([&](auto m_) {
        constexpr int m = decltype(m_)::value;
        const auto a = weights.get<true, m>(k);
        static_for<0, 2 * y_windows>([&](auto i_) {
          constexpr int i = decltype(i_)::value, n = i + 1 + m, at = n % y_windows;
          constexpr bool joined = n / y_windows == 1;
#pragma unroll
          for (int half = 0; half < 2; ++half) {
            const Fragment b = joined          ? join(before[k][at][half], next[k][at][half])
                               : n < y_windows ? before[k][at][half]
                                               : next[k][at][half];
            weights.multiply<joined>(out[i][half], a, operand_of(b));
          }
        });
      });
  }

  /// Whether 16 rows from this one on are written.
  __device__ bool whole(int row) const { return row >= first_row_ && row + slab <= last_row_; }

  /// Results of 16 rows of one group: a lane has columns 4q to 4q + 3 of rows g and g + 8.
  template <bool simple, int group>
  __device__ void write(int first_row, int i, const Sums (&sums)[2]) {
    const int first = first_row + slab * i;
    if (simple || (simple_ && whole(first))) {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const Pack<Stored, 4> packed = results(sums, upper, first + g_ + 8 * upper, slab * group);
        if constexpr (bulk_stores) {
          constexpr int box = group * slab / box_columns;
          const int bytes = (group * slab % box_columns + 4 * q_) * static_cast<int>(sizeof(Stored));
          auto* staged = reinterpret_cast<char*>(shared_.out[warp_][box][slab * i + g_ + 8 * upper]);
          // The copy engine expects 16-byte chunks exchanged by bits 7 and up of their address (swizzle).
          const int exchange = box_bytes == 128 ? g_ : g_ / 2;
          *reinterpret_cast<Pack<Stored, 4>*>(staged + ((bytes / 16) ^ exchange) * 16 + bytes % 16) = packed;
        } else {
          *reinterpret_cast<Pack<Stored, 4>*>(at<Stored>(a_.out, first + g_ + 8 * upper, slab * group)) =
              packed;
        }
      }
    } else {
#pragma unroll
      for (int upper = 0; upper < 2; ++upper) {
        const int row = first + g_ + 8 * upper;
        if (row < first_row_ || row >= last_row_) continue;
        Stored* to = at<Stored>(a_.out, row, slab * group);
#pragma unroll
        for (int c = 0; c < 4; ++c) {
          const int column = slab * group + 4 * q_ + c;
          if (column < first_column_ || column >= last_column_) continue;
          float value = scaled(sums[c / 2].total(2 * upper + c % 2));
          if constexpr (with_source) value += at<const float>(a_.source, row, slab * group)[c];
          store(to[c], value);
        }
      }
    }
  }

  /// fp16 factors are scaled.
  __device__ float scaled(float sum) const { return element == Element::fp16 ? sum * a_.scale : sum; }

  /// The lane's four results in one of its rows.
  __device__ Pack<Stored, 4> results(const Sums (&sums)[2], int upper, int row, int column) const {
    float value[4];
#pragma unroll
    for (int c = 0; c < 4; ++c) value[c] = scaled(sums[c / 2].total(2 * upper + c % 2));
    if constexpr (with_source) {
      const auto added = *reinterpret_cast<const Pack<float, 4>*>(at<const float>(a_.source, row, column));
#pragma unroll
      for (int c = 0; c < 4; ++c) value[c] += added.element[c];
    }
    union {
      Pack<Stored, 4> packed;
      unsigned pair[2];
    };
    if constexpr (sizeof(Stored) == 2) {
      pair[0] = pack_pair(value[0], value[1]);
      pair[1] = pack_pair(value[2], value[3]);
    } else {
#pragma unroll
      for (int c = 0; c < 4; ++c) store(packed.element[c], value[c]);
    }
    return packed;
  }

  /// The lane's place in a row of the strip, at a column of the warp's.
  template <class T>
  __device__ T* at(const View& view, int row, int column) const {
    return static_cast<T*>(view.data) + (plane_ - view.begin[0]) * view.stride[0] +
           (row_ + row - view.begin[1]) * view.stride[1] + (column_ + column + 4 * q_ - view.begin[2]);
  }

  __device__ static int clamped(long long distance) {
    constexpr long long most = 1 << 30;
    return static_cast<int>(distance < -most ? -most : distance > most ? most : distance);
  }

  __device__ void wait_for_staging() const {
#if __CUDA_ARCH__ >= 900
    if (threadIdx.x % 32 == 0) wait_for_stores_to_read<0>();
    __syncwarp();
#endif
  }

  template <bool simple>
  __device__ void store_staged(int first_row) const {
#if __CUDA_ARCH__ >= 900
    fence_for_copy_engine();
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    for (int i = 0; i < 2 * y_windows; ++i) {
      const int row = first_row + slab * i;
      if (!simple && !(simple_ && whole(row))) continue;
      for (int box = 0; box < boxes; ++box) {
        const int x = static_cast<int>(column_ - a_.out.begin[2]) + box * box_columns;
        const int y = static_cast<int>(row_ + row - a_.out.begin[1]);
        const int z = static_cast<int>(plane_ - a_.out.begin[0]);
        tensor_store(a_.out_map, x, y, z, shared_.out[warp_][box][slab * i]);
      }
    }
    commit_stores();
#endif
  }

  const SeparableArguments& a_;
  SharedMemory& shared_;
  int warp_, g_, q_;
  long long row_, block_column_, column_, plane_;          // where the outputs of the warp begin
  int first_row_, last_row_, first_column_, last_column_;  // of them, relative: what is written
  bool simple_;  // all columns of the warp are written, and aligned to 16 bytes
  Fragment before_[groups][rank][y_windows][2]{};
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::warps,
                                             spsolve::cuda::blocks_per_multiprocessor)
    separable(const __grid_constant__ spsolve::cuda::SeparableArguments a) {
  extern __shared__ __align__(1024) unsigned char memory[];
  spsolve::cuda::Strip(a, *reinterpret_cast<spsolve::cuda::SharedMemory*>(memory)).run();
}
