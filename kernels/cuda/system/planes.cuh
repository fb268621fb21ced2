// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file loads the planes of a march of a group of statements. Include it after constants.cuh.

#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/tensor_store.cuh"
#include "kernels/cuda/system/rings.cuh"

namespace spsolve::cuda {
namespace {

/// Keeps blocks that run at the same time in step: halos that neighbours have read are still in the L2 cache
/// then, and memory is read in long rows. Every `pace_lag` iterations a block increments a counter, and
/// waits, for a limited time, until all blocks have incremented the counter of `pace_lag` iterations before.
/// Results do not depend on the pace.
class Pace {
 public:
  /// Paces a block with the blocks of its wave and its group, which have the same number of iterations.
  /// `longest` is an upper bound of the iterations of any block.
  __device__ Pace(const GroupArguments& a, int group, int longest) : longest_(longest) {
    if (!a.arrivals) return;
    const MarchShares& s = a.shares;
    const int stretch = group - s.slabs();
    const int first = stretch < 0 ? group * s.tiles : s.whole + stretch * s.shared(),
              end = stretch < 0 ? min(first + s.tiles, s.whole) : first + s.shared();
    const int wave = static_cast<int>(blockIdx.x) / a.resident;
    arrivals_ = a.arrivals + static_cast<long long>(wave + group) * (longest + 1);
    blocks_ = static_cast<unsigned>(min((wave + 1) * a.resident, end) - max(wave * a.resident, first));
  }

  /// Waits for the other blocks before iteration n. All lanes of a warp call it together.
  __device__ void wait(int n) {
    constexpr int tries = 64;
    if (!counts(n, 0) || n < lag || patience_ == 0) return;
    bool waits = __any_sync(0xffffffffu, arrived_ < blocks_);
#pragma unroll 1
    for (int i = 0; waits && i < tries; ++i) waits = __any_sync(0xffffffffu, count(n - lag) < blocks_);
    patience_ -= waits;
  }
  __device__ void begin(int n) const {
    if (counts(n, 0)) atomicAdd(arrivals_ + n, 1u);
  }
  /// Requests the counter that the next wait() reads, half of `pace_lag` iterations ahead, without waiting
  /// for the value. All lanes call it in every iteration.
  __device__ void ask(int n) {
    if (counts(n, lag / 2)) arrived_ = count(n - lag / 2);
  }
  /// Ends the work of a block. The last one to end clears the counters.
  __device__ void end() const {
    if (!arrivals_ || atomicAdd(arrivals_ + longest_, 1u) + 1 < blocks_) return;
    for (int n = 0; n <= longest_; ++n) arrivals_[n] = 0;
  }

 private:
  static constexpr int lag = constants::pace_lag > 0 ? constants::pace_lag : 1;
  /// Returns whether iteration n is `after` iterations after one in which blocks count themselves.
  __device__ bool counts(int n, int after) const { return arrivals_ && n % lag == after; }
  __device__ unsigned count(int n) const { return *static_cast<const volatile unsigned*>(arrivals_ + n); }

  unsigned* arrivals_ = nullptr;  // by iteration; then of blocks that have ended; null: no pace
  unsigned blocks_ = 0;           // blocks that are paced together
  int longest_;
  int patience_ = 16;     // number of waits that may time out: other kernels may keep blocks from starting
  unsigned arrived_ = 0;  // the counter that ask() requested
};

/// Describes which planes of its march a block loads. Iteration n loads one plane of each input: the newest
/// plane that plane tile.plane - warm_up + n of the results reads.
struct MarchPlanes {
  const GroupArguments& a;
  Tile tile;
  int iterations;
  int loading;  // iterations that load planes; the others only compute

  /// Returns whether input `i` has a plane to load in iteration n, and which. It may lie beyond a face.
  template <int i>
  __device__ bool loads(int n, int& plane) const {
    plane = tile.plane - constants::warm_up + n + constants::plane_high[i];
    return n >= constants::warm_up - constants::warm_up_of[i] && n < loading;
  }
  /// Fills those planes of iteration n that lie beyond a face with a value. Returns true if there are such
  /// planes.
  __device__ bool fill(int n, int first, int step) const {
    bool filled = false;
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      if constexpr (!constants::copies_zeros[i][0] && (constants::beyond[i][0][0] == Beyond::value ||
                                                       constants::beyond[i][0][1] == Beyond::value)) {
        Compute ghost;
        int plane;
        if (!loads<i>(n, plane) || is_copied<i>(plane, a, ghost)) return;
        fill_plane<i>(slot_of<i>(n), ghost, first, step);
        filled = true;
      }
    });
    return filled;
  }
  __device__ bool has_ghosts() const {
    bool any = false;
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      any = any || has_ghost_points<i>(a, tile);
    });
    return any;
  }
  /// Computes the ghost rows and columns of the planes of iteration n.
  __device__ void make(int n, int thread) const {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      int plane;
      if (loads<i>(n, plane)) make_ghosts<i>(a, tile, plane, slot_of<i>(n), thread);
    });
  }
  /// Calls copy(input, plane) for the inputs of which iteration n copies a plane.
  template <class Copy>
  __device__ void for_each_copy(int n, const Copy& copy) const {
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      Compute ghost;
      int plane;
      if (loads<i>(n, plane) && is_copied<i>(plane, a, ghost)) copy(input, plane);
    });
  }
};

#if __CUDA_ARCH__ >= 900
/// Holds the planes in shared memory. An additional warp loads them, unless the tile has one warp for
/// everything.
class Planes {
 public:
  __device__ Planes(const MarchPlanes& march, const Pace& pace)
      : march_(march), pace_(pace), has_ghosts_(march.has_ghosts()) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        mbarrier_init(full(stage), 1);
        mbarrier_init(read(stage), constants::threads / warp_threads);
        if constexpr (ghost_threads > 0) mbarrier_init(complete(stage), ghost_threads / warp_threads);
      }
      fence_mbarrier_init();
    }
    __syncthreads();
  }

  /// Loads all planes. The warp that does not compute calls it.
  __device__ void load_all() {
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    for (int n = 0; n < march_.iterations; ++n) {
      pace_.wait(n);
      if (n >= stages) await(read(n % stages), n - stages);
      load(n, lane);
      pace_.ask(n);
    }
    if (lane == 0) pace_.end();
  }
  /// Computes all ghost rows and columns. The warps for ghost points call it.
  __device__ void make_ghosts(int thread) const {
    if constexpr (ghost_threads > 0) {
      if (!march_.has_ghosts()) return;
      for (int n = 0; n < march_.iterations; ++n) {
        await(full(n % stages), n);
        march_.make(n, thread);
        fence_for_copy_engine();
        __syncwarp();
        if (thread % warp_threads == 0) mbarrier_arrive(complete(n % stages));
      }
    }
  }
  __device__ void begin() {
    if constexpr (loads_itself)
      for (int n = 0; n < constants::ahead; ++n) load(n, static_cast<int>(threadIdx.x));
  }
  /// Waits for the planes of iteration n and their ghost points. If one warp does everything, it also starts
  /// to load the planes of a later iteration, in place of planes that it has read in the iteration before,
  /// and computes the ghost points.
  __device__ void wait(int n) {
    const int thread = static_cast<int>(threadIdx.x);
    if constexpr (loads_itself)
      if (const int later = n + constants::ahead; later < march_.iterations) {
        pace_.wait(later);
        load(later, thread);
        pace_.ask(later);
      }
    await(full(n % stages), n);
    if (ghost_threads == 0 || !has_ghosts_) return;
    if constexpr (loads_itself) {
      march_.make(n, thread);
      fence_for_copy_engine();
      __syncwarp();
    } else {
      await(complete(n % stages), n);
    }
  }
  /// Signals that a warp has read all planes of iteration n.
  __device__ void leave(int n) const {
    __syncwarp();
    if (!loads_itself && threadIdx.x % warp_threads == 0) mbarrier_arrive(read(n % stages));
  }
  /// Ends the work of a block. The threads that compute call it.
  __device__ void end() const {
    if (loads_itself && threadIdx.x == 0) pace_.end();
  }

 private:
  static constexpr int stages = constants::ahead + 1;
  template <int i>
  __device__ static constexpr unsigned box_bytes() {
    return static_cast<unsigned>(constants::ring_rows[i] * constants::ring_pitch[i] *
                                 static_cast<int>(sizeof(InputElement<i>)));
  }

  /// Starts to load the planes of iteration n. All lanes of a warp call it.
  __device__ void load(int n, int lane) {
    if (march_.fill(n, lane, warp_threads)) fence_for_copy_engine();
    __syncwarp();
    if (elect_lane()) {
      pace_.begin(n);
      copy(n);
    }
    __syncwarp();
  }
  __device__ void copy(int n) const {
    unsigned bytes = 0;
    march_.for_each_copy(n, [&](auto input, int) { bytes += box_bytes<decltype(input)::value>(); });
    unsigned long long* const arrived = full(n % stages);
    mbarrier_expect(arrived, bytes);
    march_.for_each_copy(n, [&](auto input, int plane) {
      constexpr int i = decltype(input)::value;
      const SystemArray& array = march_.a.array[i];
      tensor_copy(plane_in_ring<i>(slot_of<i>(n)), array.map,
                  march_.tile.column - array.lead - static_cast<int>(array.begin[2]),
                  march_.tile.row + constants::row_low[i] - static_cast<int>(array.begin[1]),
                  plane - static_cast<int>(array.begin[0]), arrived);
    });
  }
  /// Waits for the phase of a barrier that belongs to iteration n.
  __device__ static void await(unsigned long long* barrier, int n) {
    mbarrier_wait(barrier, static_cast<unsigned>(n / stages & 1));
  }
  /// Return the barriers of a stage, which complete when its planes have arrived, when all warps have read
  /// them, and when their ghost points are computed.
  __device__ static unsigned long long* full(int stage) {
    return reinterpret_cast<unsigned long long*>(memory) + stage;
  }
  __device__ static unsigned long long* read(int stage) { return full(stages + stage); }
  __device__ static unsigned long long* complete(int stage) { return full(2 * stages + stage); }

  const MarchPlanes& march_;
  Pace pace_;
  bool has_ghosts_;
};
#else
/// Holds the planes in shared memory. The threads that compute load them by asynchronous copies of 16 bytes.
/// The copies of an iteration are one group.
class Planes {
 public:
  __device__ Planes(const MarchPlanes& march, const Pace&) : march_(march), has_ghosts_(march.has_ghosts()) {}

  __device__ void begin() const {
    for (int n = 0; n < constants::ahead; ++n) load(n);
  }
  /// Waits for the planes of iteration n and starts to load those of a later one.
  __device__ void wait(int n) const {
    wait_for_copies<constants::ahead - 1>();
    __syncthreads();
    load(n + constants::ahead);
    if (!has_ghosts_) return;
    march_.make(n, static_cast<int>(threadIdx.x));
    __syncthreads();
  }
  __device__ void leave(int) const {}
  __device__ void end() const {}

 private:
  __device__ void load(int n) const {
    if (n < march_.iterations) {
      march_.fill(n, static_cast<int>(threadIdx.x), constants::threads);
      march_.for_each_copy(n, [&](auto input, int plane) { copy<decltype(input)::value>(plane, n); });
    }
    commit_copies();
  }
  template <int i>
  __device__ void copy(int plane, int n) const {
    constexpr int columns_of_chunk = 16 / static_cast<int>(sizeof(InputElement<i>));
    constexpr int chunks = constants::ring_pitch[i] / columns_of_chunk;
    const SystemArray& array = march_.a.array[i];
    unsigned char* const to = reinterpret_cast<unsigned char*>(plane_in_ring<i>(slot_of<i>(n)));
    const bool has_plane = plane >= array.begin[0] && plane < array.end[0];
    const InputElement<i>* const from = static_cast<const InputElement<i>*>(array.data) +
                                        (has_plane ? plane : array.begin[0]) * array.stride[0];
    for (int j = static_cast<int>(threadIdx.x); j < constants::ring_rows[i] * chunks;
         j += constants::threads) {
      const int row = march_.tile.row + constants::row_low[i] + j / chunks;
      const int column = march_.tile.column - array.lead + j % chunks * columns_of_chunk;
      const int columns = min(columns_of_chunk, static_cast<int>(array.end[2]) - column);
      const bool has_memory =
          has_plane && column >= array.begin[2] && columns > 0 && row >= array.begin[1] && row < array.end[1];
      copy_bytes_then_zeros(to + 16 * j,
                            has_memory ? from + row * array.stride[1] + column
                                       : from + array.begin[1] * array.stride[1] + array.begin[2],
                            has_memory ? columns * static_cast<int>(sizeof(InputElement<i>)) : 0);
    }
  }

  const MarchPlanes& march_;
  bool has_ghosts_;
};
#endif

}  // namespace
}  // namespace spsolve::cuda
