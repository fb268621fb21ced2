// SPDX-License-Identifier: Apache-2.0
// One correlation in 2D on the sparse tensor cores of sm_90a: weights (A, 4 x 16 outputs) stay in registers,
// points (B, a row of 32 columns for each 16 outputs) come from shared memory. A block marches down its
// columns. Two warpgroups convert rows of input, each once, into a ring in the order that tensor cores want:
// columns 16 apart side by side, so that no output takes both of a pair
// (kernels/sparse/windowed_operand.hpp). Two others multiply: tf32 data in turns; for fp32 data one
// multiplies what tf32 holds of data and weights, the other the corrections in bf16,
//   w x = tf32(w) tf32(x) + bf16(w) bf16(x - tf32(x)) + bf16(w - tf32(w)) bf16(x) + O(2^-17 |w x|),
// which has the range of fp32 and takes 4/6 of the time of three products in tf32 or six in bf16.
//
// Per output of a stencil of 15 rows: 1152 flop of 2:4 work in tf32 (fp32: and 2304 in bf16). Of shared
// memory 36 (72) bytes of B, 9 (19) of converted rows written, 13 of rows as they come, 0 (8) of corrections.

#include "wgmma.cuh"
#include "wgmma_ring.cuh"

namespace spsolve::cuda {

/// K-major operand without swizzle: core matrices of 8 tiles x 16 bytes, `pitch` apart along K and
/// `group_bytes` along N.
__device__ inline unsigned long long plain_descriptor(const void* first, int pitch, int group_bytes) {
  const unsigned long long address = shared_address(first);
  return (address & 0x3ffff) >> 4 | static_cast<unsigned long long>(pitch >> 4) << 16 |
         static_cast<unsigned long long>(group_bytes >> 4) << 32;
}

class TileMultiplier {
 public:
  __device__ TileMultiplier(SharedMemory& shared, const WgmmaArguments& a)
      : shared_(shared),
        a_(a),
        strip_(a),
        thread_(threadIdx.x % group_threads),
        warp_(thread_ / 32),
        lane_(thread_ % 32) {}

  /// Tiles: all, or every other one. `corrections`: those of fp32 data instead of the leading products.
  template <bool corrections>
  __device__ void run(int first_tile) {
    load_weights<corrections>();
    const unsigned long long operand[2] = {
        corrections ? plain_descriptor(&shared_.rest, bf16_pitch, quad * bf16_row_bytes)
                    : plain_descriptor(&shared_.leading, tf32_pitch, quad * tf32_row_bytes),
        corrections ? plain_descriptor(&shared_.data, bf16_pitch, quad * bf16_row_bytes)
                    : plain_descriptor(shared_.leading.row[0][0][0] + 4 * tf32_pitch, tf32_pitch,
                                       quad * tf32_row_bytes)};
    constexpr int row_bytes = corrections ? bf16_row_bytes : tf32_row_bytes;
    for (int group = 0; group < first_tile * y_groups; ++group) release(group);
    int slot = first_tile * y_groups, waited = 0, waited_slot = 0;
    unsigned waited_parity = 0, corrections_parity = corrections ? 1 : 0;
    for (int tile = first_tile; tile < strip_.tiles; tile += turns) {
      static_for<0, quads>([&](auto q) {
        while (waited < tile * y_groups + q.value + y_groups) {
          wait(&shared_.full[waited_slot], waited_parity);
          ++waited;
          if (++waited_slot == ring) waited_slot = 0, waited_parity ^= 1;
        }
        const int here = slot + q.value < ring ? slot + q.value : slot + q.value - ring;
        const unsigned long long offset = static_cast<unsigned>(here * (x_groups * quad * row_bytes / 16));
        wgmma_fence();
        multiply_rows<corrections, q.value>(operand[0] + offset, operand[1] + offset);
        wgmma_commit();
        if constexpr (q.value > 0 && q.value - 1 < turns * y_groups) {
          wgmma_wait<1>();
          release(slot + q.value - 1);
        }
      });
      wgmma_wait<0>();
      for (int q = min(quads - 1, turns * y_groups); q < turns * y_groups; ++q) release(slot + q);
      slot += turns * y_groups;
      if (slot >= ring) slot -= ring;
      if constexpr (corrections) {
        hand_over(corrections_parity);
      } else {
        if constexpr (split) take_over(corrections_parity);
        store(tile);
      }
    }
  }

 private:
  /// Adds the products of the q-th four rows of the window.
  template <bool corrections, int q>
  __device__ void multiply_rows(unsigned long long b0, unsigned long long b1) {
    constexpr int first = quad * q, last = first + quad < window_rows ? first + quad : window_rows;
    constexpr int pitch = (corrections ? bf16_row_bytes : tf32_row_bytes) / 16;
    constexpr int second_chain = corrections || chains == 1 ? window_rows : (window_rows + 1) / 2;
    static_for<first, last>([&](auto r) {
      constexpr int row = decltype(r)::value;
      const bool add = row != 0 && row != second_chain;
      float(&to)[sums] = sums_[row < second_chain ? 0 : chains - 1];
      const int offset = (row - first) * pitch;
      if constexpr (corrections) {
        wgmma_bf16<0>(to, weights_[2 * row], b0 + offset, metadata_, add);
        wgmma_bf16<0>(to, weights_[2 * row + 1], b1 + offset, metadata_, true);
      } else {
        wgmma_tf32<0>(to, weights_[2 * row], b0 + offset, metadata_, add);
        wgmma_tf32<1>(to, weights_[2 * row + 1], b1 + offset, metadata_, true);
      }
    });
  }

  template <bool corrections>
  __device__ void load_weights() {
#pragma unroll
    for (int step = 0; step < steps; ++step) {
      const uint4 bits = a_.weights[((corrections ? steps : 0) + step) * group_threads + thread_];
      weights_[step][0] = bits.x;
      weights_[step][1] = bits.y;
      weights_[step][2] = bits.z;
      weights_[step][3] = bits.w;
    }
    metadata_ = a_.metadata[(corrections ? group_threads : 0) + thread_];
  }

  /// This warp reads a slot no more.
  __device__ void release(int slot) const {
    arrive_as_warp(&shared_.empty[slot < ring ? slot : slot - ring]);
  }

  /// Leaves the corrections of a tile to the other warpgroup, once it has taken those of the tile before.
  __device__ void hand_over(unsigned& parity) const {
    wait(&shared_.corrections_empty, parity);
#pragma unroll
    for (int i = 0; i < sums / 4; ++i)
      shared_.corrections[i][thread_] = {sums_[0][4 * i], sums_[0][4 * i + 1], sums_[0][4 * i + 2],
                                         sums_[0][4 * i + 3]};
    arrive_as_warp(&shared_.corrections_full);
    parity ^= 1;
  }

  /// Adds them, and the second chain.
  __device__ void take_over(unsigned& parity) {
    wait(&shared_.corrections_full, parity);
#pragma unroll
    for (int i = 0; i < sums / 4; ++i) {
      const float4 more = shared_.corrections[i][thread_];
      const float correction[4] = {more.x, more.y, more.z, more.w};
#pragma unroll
      for (int k = 0; k < 4; ++k)
        sums_[0][4 * i + k] = sums_[0][4 * i + k] + sums_[chains - 1][4 * i + k] + correction[k];
    }
    arrive_as_warp(&shared_.corrections_empty);
    parity ^= 1;
  }

  /// Writes the sums of a tile, those that lie in the region. Registers 4 i + e and 4 i + 2 + e of lane 4 g +
  /// q are columns 2 g and 2 g + 1 of tile 2 q + e of group i, in the row of the warp.
  __device__ void store(int tile) const {
    const long long y0 = strip_.row + static_cast<long long>(tile) * y_groups * quad + warp_,
                    x0 = strip_.column + lane_ % 4 * 2 * wgmma_tile_columns + lane_ / 4 * 2;
    float* const to =
        static_cast<float*>(a_.out.data) + (y0 - a_.out.begin[0]) * a_.out.stride[0] + (x0 - a_.out.begin[2]);
    const float* from = nullptr;
    if constexpr (with_source)
      from = static_cast<const float*>(a_.source.data) + (y0 - a_.source.begin[0]) * a_.source.stride[0] +
             (x0 - a_.source.begin[2]);
    const long long last_row = y0 + (y_groups - 1) * quad;
    const bool whole = y0 >= a_.region.begin[0] && last_row < a_.region.end[0] &&
                       strip_.column >= a_.region.begin[2] &&
                       strip_.column + block_columns <= a_.region.end[2];
#pragma unroll
    for (int i = 0; i < sums / 2; ++i) {
      const int group = i / 2, e = i % 2, row = group / x_groups * quad,
                column = group % x_groups * wgmma_group_columns + e * wgmma_tile_columns;
      if (!whole && (y0 + row < a_.region.begin[0] || y0 + row >= a_.region.end[0])) continue;
      float value[2] = {sums_[0][4 * group + e], sums_[0][4 * group + 2 + e]};
      const bool inside[2] = {whole || inside_columns(x0 + column), whole || inside_columns(x0 + column + 1)};
      if constexpr (with_source)
#pragma unroll
        for (int k = 0; k < 2; ++k)
          if (inside[k]) value[k] += from[row * a_.source.stride[0] + column + k];
      float* const pair = to + row * a_.out.stride[0] + column;
      if (aligned && inside[0] && inside[1]) {
        *reinterpret_cast<float2*>(pair) = {value[0], value[1]};
      } else {
        if (inside[0]) pair[0] = value[0];
        if (inside[1]) pair[1] = value[1];
      }
    }
  }

  __device__ bool inside_columns(long long x) const {
    return x >= a_.region.begin[2] && x < a_.region.end[2];
  }

  SharedMemory& shared_;
  const WgmmaArguments& a_;
  const Strip strip_;
  int thread_, warp_, lane_;  // of the warpgroup
  unsigned weights_[steps][4];
  unsigned metadata_;
  float sums_[chains][sums];
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::wgmma_threads, 1)
    wgmma_sweep(const __grid_constant__ spsolve::cuda::WgmmaArguments a) {
  extern __shared__ __align__(128) unsigned char memory[];
  using namespace spsolve::cuda;
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(memory);
  if (threadIdx.x == 0) shared.initialise();
  __syncthreads();
  if (threadIdx.x < converters * group_threads) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 48;");
    RowConverter(shared, a).run();
  } else {
    asm volatile("setmaxnreg.inc.sync.aligned.u32 208;");
    const int group = static_cast<int>(threadIdx.x) / group_threads - converters;
    if (!split || group == 0)
      TileMultiplier(shared, a).run<false>(group);
    else
      TileMultiplier(shared, a).run<true>(0);
  }
}
