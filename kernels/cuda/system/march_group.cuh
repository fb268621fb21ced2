// SPDX-License-Identifier: Apache-2.0
// One group of statements of a system of equations on grids of two and three axes. A block of threads
// computes a tile of rows and columns and marches along the slowest axis. Rings of planes in shared memory
// hold each input around the tile; values at the column of a point in other planes wait in registers. Every
// input is read once from memory, apart from the halos of tiles, which neighbours read at about the same time.
//
// On sm_90 one more warp asks the copy engine for planes, `ahead` planes ahead of the slowest warp, and beside
// walls further warps make ghost rows and columns in planes that have arrived. Barriers in shared memory say
// which planes are there and which are read, so that warps need not march in step. On sm_80 all threads copy
// and make ghosts, and barriers of the block order copies and reads.
//
// Beyond walls across the march, planes are those that they reflect, or filled with the value of the face.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp) and the tile (system_tile.hpp).

#include "constants.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/ptx/tensor_store.cuh"
#include "kernels/cuda/system/group_values.cuh"

extern __shared__ __align__(128) unsigned char memory[];

namespace spsolve::cuda {
namespace {

constexpr int rows_of_thread = constants::rows_of_thread;
constexpr int tile_rows = constants::thread_rows * rows_of_thread;
constexpr int warp_threads = 32;  // along a row
#if __CUDA_ARCH__ >= 900
constexpr int ghost_threads = constants::ghost_warps * warp_threads;
#else
constexpr int ghost_threads = constants::threads;
#endif

/// The tile of a block: its first point.
struct Tile {
  int plane, row, column;
};

/// Keeps the blocks of a launch in step, so that halos that neighbours have read are still in the L2 cache.
/// One thread counts the blocks that ask for the planes of an iteration, and waits for a while until all have
/// asked for those of the iteration before. Results do not depend on it.
struct Pace {
  unsigned* arrivals;  // null: no pace
  int iterations;      // of the longest chunk

  /// Waits for the blocks before iteration n.
  __device__ void wait(int n) const {
    constexpr int tries = 64;
    if (!arrivals || n < constants::pace_lag) return;
    const volatile unsigned* const before = arrivals + n - constants::pace_lag;
    for (int i = 0; i < tries && *before < gridDim.x; ++i) {
    }
  }
  __device__ void begin(int n) const {
    if (arrivals) atomicAdd(arrivals + n, 1u);
  }
  /// The last block to end clears the counters.
  __device__ void end(int done) const {
    if (!arrivals) return;
    for (int n = done; n < iterations; ++n) atomicAdd(arrivals + n, 1u);
    if (atomicAdd(arrivals + iterations, 1u) + 1 < gridDim.x) return;
    for (int n = 0; n <= iterations; ++n) arrivals[n] = 0;
  }
};

/// Values of input `i` at the columns of a thread's points, oldest plane first, and those of the inputs
/// before it.
template <int i>
struct Queues : Queues<i - 1> {
  Compute values[rows_of_thread][constants::queue_length[i] > 0 ? constants::queue_length[i] : 1];
};
template <>
struct Queues<-1> {};

/// The number in a ring of the plane that arrives in iteration n.
template <int i>
__device__ inline int slot_of(int n) {
  return static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(constants::ring_depth[i]));
}
template <int i>
__device__ inline Element<i>* plane_in_ring(int slot) {
  return reinterpret_cast<Element<i>*>(memory + constants::ring_offset[i] + slot * constants::plane_bytes[i]);
}

/// Fills a plane with the value of a face across the march, by threads first, first + step, ...
template <int i>
__device__ inline void fill_plane(int slot, Compute value, int first, int step) {
  Element<i>* const to = plane_in_ring<i>(slot);
  for (int j = first; j < constants::ring_rows[i] * constants::ring_pitch[i]; j += step) store(to[j], value);
}

/// Makes one ghost point of a plane: `line` and `index` say where it lies in the ring. Beyond faces of rows
/// and columns those of rows decide.
template <int i>
__device__ inline void make_ghost(const GroupArguments& a, const Tile& tile, Element<i>* plane, int line, int index) {
  constexpr int pitch = constants::ring_pitch[i];
  const int first_row = tile.row + constants::row_low[i], first_column = tile.column - a.array[i].lead;
  int row = first_row + line, column = first_column + index;
  Element<i>& to = plane[line * pitch + index];
  Compute ghost;
  if (!find_source<i, 1>(row, static_cast<int>(a.shape[1]), ghost) ||
      !find_source<i, 2>(column, static_cast<int>(a.shape[2]), ghost)) {
    store(to, ghost);
    return;
  }
  const int from_line = row - first_row, from_index = column - first_column;
  // Ghost points that no point of the tile reads may reflect points outside of it.
  if (from_line >= 0 && from_line < constants::ring_rows[i] && from_index >= 0 && from_index < pitch)
    to = plane[from_line * pitch + from_index];
}

/// True if ghost points beyond the faces of an axis lie in the ring of input `i`: the tile is `extent` points
/// long from `first` on.
template <int i>
__device__ inline bool reaches_beyond(const GroupArguments& a, int axis, int reach, int first, int extent) {
  return constants::beyond[i][axis][0] != Beyond::memory && reach > 0 &&
         (first < reach || first + extent + reach > a.shape[axis]);
}
template <int i>
__device__ inline bool has_ghost_rows(const GroupArguments& a, const Tile& tile) {
  return reaches_beyond<i>(a, 1, constants::row_reach[i], tile.row, tile_rows);
}
template <int i>
__device__ inline bool has_ghost_columns(const GroupArguments& a, const Tile& tile) {
  return reaches_beyond<i>(a, 2, constants::column_reach[i], tile.column, constants::tile_columns);
}

/// Makes the ghost rows and columns of a plane of input `i` that lie in its ring, together with the other
/// threads that make ghosts.
template <int i>
__device__ inline void make_ghosts(const GroupArguments& a, const Tile& tile, int plane, int slot, int thread) {
  constexpr int reach_rows = constants::row_reach[i], reach_columns = constants::column_reach[i];
  constexpr int lines = constants::ring_rows[i], pitch = constants::ring_pitch[i];
  Compute ghost;
  if (!find_source<i, 0>(plane, static_cast<int>(a.shape[0]), ghost)) return;  // filled
  Element<i>* const to = plane_in_ring<i>(slot);
  // Ghosts along an axis are those before the grid, or those behind it.
  if constexpr (reach_columns > 0)
    if (has_ghost_columns<i>(a, tile)) {
      const int lead = a.array[i].lead, columns = static_cast<int>(a.shape[2]) - tile.column + lead;
      for (int j = thread; j < 2 * reach_columns * lines; j += ghost_threads) {
        const int number = j % (2 * reach_columns);
        const int index = number < reach_columns ? lead - tile.column - 1 - number : columns + number - reach_columns;
        if (index >= 0 && index < pitch) make_ghost<i>(a, tile, to, j / (2 * reach_columns), index);
      }
    }
  if constexpr (reach_rows > 0)
    if (has_ghost_rows<i>(a, tile)) {
      const int rows = static_cast<int>(a.shape[1]) - tile.row - constants::row_low[i];
      for (int j = thread; j < 2 * reach_rows * pitch; j += ghost_threads) {
        const int number = j / pitch;
        const int line = number < reach_rows ? -tile.row - constants::row_low[i] - 1 - number : rows + number - reach_rows;
        if (line >= 0 && line < lines) make_ghost<i>(a, tile, to, line, j % pitch);
      }
    }
}

/// The planes that a block loads: iteration n loads plane n of each input, counted so that the planes of
/// iteration warm_up are the newest that the first computed plane reads.
struct March {
  const GroupArguments& a;
  Tile tile;
  int iterations;

  /// Returns whether input `i` has a plane to load in iteration n, and which. It may lie beyond a face.
  template <int i>
  __device__ bool loads(int n, int& plane) const {
    plane = tile.plane - constants::warm_up + n + constants::plane_high[i];
    return n >= constants::warm_up - constants::warm_up_of[i];
  }
  /// Fills the planes of iteration n that lie beyond faces with a value. Returns true if there are any.
  __device__ bool fill(int n, int first, int step) const {
    bool filled = false;
    static_for<0, constants::inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      if constexpr (constants::beyond[i][0][0] == Beyond::value || constants::beyond[i][0][1] == Beyond::value) {
        Compute ghost;
        int plane;
        if (!loads<i>(n, plane) || find_source<i, 0>(plane, static_cast<int>(a.shape[0]), ghost)) return;
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
      any = any || has_ghost_rows<i>(a, tile) || has_ghost_columns<i>(a, tile);
    });
    return any;
  }
  /// Makes the ghost rows and columns of the planes of iteration n.
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
      if (loads<i>(n, plane) && find_source<i, 0>(plane, static_cast<int>(a.shape[0]), ghost))
        copy(input, plane);
    });
  }
};

#if __CUDA_ARCH__ >= 900
/// The planes in shared memory, where another warp than those that compute loads them.
class Planes {
 public:
  __device__ explicit Planes(const March& march) : march_(march), has_ghosts_(march.has_ghosts()) {
    if (threadIdx.x == 0) {
      for (int stage = 0; stage < stages; ++stage) {
        mbarrier_init(full(stage), 1);
        mbarrier_init(read(stage), constants::threads / warp_threads);
        if constexpr (ghost_threads > 0) mbarrier_init(complete(stage), constants::ghost_warps);
      }
      fence_mbarrier_init();
    }
    __syncthreads();
  }

  /// Loads all planes; called by the warp that does not compute.
  __device__ void load_all(const Pace& pace) const {
    const int lane = static_cast<int>(threadIdx.x) % warp_threads;
    for (int n = 0; n < march_.iterations; ++n) {
      if (lane == 0) pace.wait(n);
      __syncwarp();
      if (n >= stages) await(read(n % stages), n - stages);
      if (march_.fill(n, lane, warp_threads)) fence_for_copy_engine();
      __syncwarp();
      if (lane == 0) {
        pace.begin(n);
        copy(n);
      }
      __syncwarp();
    }
    if (lane == 0) pace.end(march_.iterations);
  }
  /// Makes all ghost rows and columns; called by the warps for them.
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
  __device__ void begin() const {}
  /// Waits for the planes of iteration n and their ghosts.
  __device__ void wait(int n) const {
    await(full(n % stages), n);
    if constexpr (ghost_threads > 0)
      if (has_ghosts_) await(complete(n % stages), n);
  }
  /// Says that a warp has read all that iteration n reads.
  __device__ void leave(int n) const {
    __syncwarp();
    if (threadIdx.x % warp_threads == 0) mbarrier_arrive(read(n % stages));
  }

 private:
  static constexpr int stages = constants::ahead + 1;
  template <int i>
  __device__ static constexpr unsigned box_bytes() {
    return static_cast<unsigned>(constants::ring_rows[i] * constants::ring_pitch[i] *
                                 static_cast<int>(sizeof(Element<i>)));
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
  /// The barriers of a stage: its planes have arrived; all warps have read them; their ghosts are made.
  __device__ static unsigned long long* full(int stage) {
    return reinterpret_cast<unsigned long long*>(memory) + stage;
  }
  __device__ static unsigned long long* read(int stage) { return full(stages + stage); }
  __device__ static unsigned long long* complete(int stage) { return full(2 * stages + stage); }

  const March& march_;
  bool has_ghosts_;
};
#else
/// The planes in shared memory, where the threads that compute load them by asynchronous copies of 16 bytes.
/// Those of an iteration are one group.
class Planes {
 public:
  __device__ explicit Planes(const March& march) : march_(march), has_ghosts_(march.has_ghosts()) {}

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
    constexpr int columns_of_chunk = 16 / static_cast<int>(sizeof(Element<i>));
    constexpr int chunks = constants::ring_pitch[i] / columns_of_chunk;
    const SystemArray& array = march_.a.array[i];
    unsigned char* const to = reinterpret_cast<unsigned char*>(plane_in_ring<i>(slot_of<i>(n)));
    const Element<i>* const from = static_cast<const Element<i>*>(array.data) + plane * array.stride[0];
    for (int j = static_cast<int>(threadIdx.x); j < constants::ring_rows[i] * chunks; j += constants::threads) {
      const int row = march_.tile.row + constants::row_low[i] + j / chunks;
      const int column = march_.tile.column - array.lead + j % chunks * columns_of_chunk;
      const bool has_memory =
          column >= array.begin[2] && column < array.end[2] && row >= array.begin[1] && row < array.end[1];
      copy_16_bytes_or_zero(to + 16 * j,
                            has_memory ? from + row * array.stride[1] + column
                                       : from + array.begin[1] * array.stride[1] + array.begin[2],
                            has_memory);
    }
  }

  const March& march_;
  bool has_ghosts_;
};
#endif

/// A point of the tile: row `r` of the rows of its thread.
template <int r>
class TilePoint {
 public:
  __device__ TilePoint(const GroupArguments& a, const Queues<constants::inputs - 1>& queues, int n, int place,
                       int column)
      : a_(a), queues_(queues), n_(n), row_(place), column_(column) {}

  template <int i>
  __device__ Compute scalar() const {
    return static_cast<Compute>(a_.scalars[i]);
  }
  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    if constexpr (constants::queue_length[i] > 0 && row == 0 && column == 0) {
      return static_cast<const Queues<i>&>(queues_).values[r][plane - constants::queue_low[i]];
    } else {
      // Adding a whole ring keeps the number positive.
      const int slot = slot_of<i>(n_ + plane - constants::plane_high[i] + constants::ring_depth[i]);
      const Element<i>* const own = plane_in_ring<i>(slot) + row_ * constants::ring_pitch[i] + column_ +
                                    a_.array[i].lead;
      return static_cast<Compute>(
          value_of(own[(r + row - constants::row_low[i]) * constants::ring_pitch[i] + column]));
    }
  }

 private:
  const GroupArguments& a_;
  const Queues<constants::inputs - 1>& queues_;
  int n_, row_, column_;  // iteration; first row of the thread and column in the tile
};

}  // namespace
}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::constants::all_threads, spsolve::cuda::constants::blocks)
    march_group(const __grid_constant__ spsolve::cuda::GroupArguments a) {
  using namespace spsolve::cuda;
  constexpr int inputs = constants::inputs;
  const int block = static_cast<int>(blockIdx.x);
  const int tiles = a.column_tiles * a.row_tiles, chunk = block / tiles, place = block % tiles;
  const int first_plane = static_cast<int>(a.region.begin[0]) + chunk * a.chunk_planes;
  const int end_plane =
      static_cast<int>(min(a.region.end[0], static_cast<long long>(first_plane + a.chunk_planes)));
  const Tile tile{first_plane,
                  static_cast<int>(a.region.begin[1]) + place / a.column_tiles * tile_rows,
                  static_cast<int>(a.first_column) + place % a.column_tiles * constants::tile_columns};
  const March march{a, tile, end_plane - first_plane + constants::warm_up};
  const Planes planes(march);
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x >= constants::threads + warp_threads)
    return planes.make_ghosts(static_cast<int>(threadIdx.x) - constants::threads - warp_threads);
  if (threadIdx.x >= constants::threads) return planes.load_all({a.arrivals, a.chunk_planes + constants::warm_up});
#endif
  const int column = static_cast<int>(threadIdx.x) % constants::tile_columns;
  const int row = static_cast<int>(threadIdx.x) / constants::tile_columns * rows_of_thread;
  // What is written: planes, and as bits the rows of the thread.
  int planes_of[constants::statements][2];
  unsigned rows_of[constants::statements];
  const int x = tile.column + column, y = tile.row + row;
  const long long own = y * a.array[inputs].stride[1] + x;
#pragma unroll
  for (int s = 0; s < constants::statements; ++s) {
    const SystemArray& to = a.array[inputs + s];
    planes_of[s][0] = static_cast<int>(to.begin[0]);
    planes_of[s][1] = static_cast<int>(to.end[0]);
    rows_of[s] = 0;
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
      if (x >= to.begin[2] && x < to.end[2] && y + r >= to.begin[1] && y + r < to.end[1]) rows_of[s] |= 1u << r;
  }

  Queues<inputs - 1> queues;
  planes.begin();
  for (int n = 0; n < march.iterations; ++n) {
    const int plane = first_plane - constants::warm_up + n;
    planes.wait(n);
    static_for<0, inputs>([&](auto input) {
      constexpr int i = decltype(input)::value, length = constants::queue_length[i];
      if constexpr (length > 0) {
        const Element<i>* const own = plane_in_ring<i>(slot_of<i>(n)) +
                                      (row - constants::row_low[i]) * constants::ring_pitch[i] + column +
                                      a.array[i].lead;
        auto& values = static_cast<Queues<i>&>(queues).values;
#pragma unroll
        for (int r = 0; r < rows_of_thread; ++r) {
#pragma unroll
          for (int k = 0; k < length - 1; ++k) values[r][k] = values[r][k + 1];
          values[r][length - 1] = static_cast<Compute>(value_of(own[r * constants::ring_pitch[i]]));
        }
      }
    });
    if (plane < first_plane) {
      planes.leave(n);
      continue;
    }
    Compute next[rows_of_thread][constants::statements];
    static_for<0, rows_of_thread>([&](auto of_thread) {
      constexpr int r = decltype(of_thread)::value;
      advance_point(TilePoint<r>(a, queues, n, row, column), next[r]);
    });
    planes.leave(n);
#pragma unroll
    for (int s = 0; s < constants::statements; ++s) {
      const SystemArray& to = a.array[inputs + s];
      if (plane < planes_of[s][0] || plane >= planes_of[s][1]) continue;
      Stored* const written = static_cast<Stored*>(to.data) + plane * to.stride[0] + own;
#pragma unroll
      for (int r = 0; r < rows_of_thread; ++r)
        if (rows_of[s] >> r & 1) store(written[r * to.stride[1]], next[r][s]);
    }
  }
}
