// SPDX-License-Identifier: Apache-2.0
// One group of statements of a system of equations on grids of two and three axes. A block of threads
// computes a tile of rows and columns and marches along the slowest axis. Rings of planes in shared memory
// hold each input around the tile, filled by asynchronous copies `ahead` planes ahead; one barrier per plane
// orders them. Values at the column of a point in other planes wait in registers. Every input is read once
// from memory, apart from the halos of tiles, which other blocks read at about the same time.
//
// Beyond walls, rows and planes are copied from those that they reflect, or filled with the value of the
// face; ghost columns are made in shared memory when a plane has arrived.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp) and the tile (system_tile.hpp).

#include "constants.cuh"
#include "kernels/cuda/ptx/async_copy.cuh"
#include "kernels/cuda/system/group_values.cuh"

extern __shared__ __align__(128) unsigned char memory[];

namespace spsolve::cuda {
namespace {

constexpr int rows_of_thread = constants::rows_of_thread;
constexpr int tile_rows = constants::thread_rows * rows_of_thread;

/// The tile of a block: its first point.
struct Tile {
  int plane, row, column;
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

/// Fills 16 bytes of shared memory with a value.
template <int i>
__device__ inline void fill_chunk(unsigned char* to, Compute value) {
  Element<i>* const elements = reinterpret_cast<Element<i>*>(to);
#pragma unroll
  for (int k = 0; k < 16 / static_cast<int>(sizeof(Element<i>)); ++k) store(elements[k], value);
}

/// Starts the copy of a plane of input `i` around the tile to a slot of its ring.
template <int i>
__device__ inline void load_plane(const GroupArguments& a, const Tile& tile, int plane, int slot) {
  constexpr int element = static_cast<int>(sizeof(Element<i>)), columns_of_chunk = 16 / element;
  constexpr int chunks = constants::ring_pitch[i] / columns_of_chunk;
  const SystemArray& array = a.array[i];
  unsigned char* const to = reinterpret_cast<unsigned char*>(plane_in_ring<i>(slot));
  Compute ghost = Compute(0);
  const bool is_plane = find_source<i>(0, plane, static_cast<int>(a.shape[0]), ghost);
  const Element<i>* const from =
      static_cast<const Element<i>*>(array.data) + within(plane, array.begin[0], array.end[0]) * array.stride[0];
  for (int j = static_cast<int>(threadIdx.x); j < constants::ring_rows[i] * chunks; j += constants::threads) {
    int row = tile.row + constants::row_low[i] + j / chunks;
    const int column = tile.column - array.lead + j % chunks * columns_of_chunk;
    if (!is_plane || !find_source<i>(1, row, static_cast<int>(a.shape[1]), ghost)) {
      fill_chunk<i>(to + 16 * j, ghost);
    } else {
      const bool has_memory = column >= array.begin[2] && column < array.end[2];
      const long long at = within(row, array.begin[1], array.end[1]) * array.stride[1] +
                           (has_memory ? column : array.begin[2]);
      copy_16_bytes_or_zero(to + 16 * j, from + at, has_memory);
    }
  }
}

/// Makes the ghost columns of a plane of input `i` that lie in the tile's ring, in rows that are no ghost rows
/// with a value.
template <int i>
__device__ inline void make_ghost_columns(const GroupArguments& a, const Tile& tile, int plane, int slot) {
  constexpr int reach = constants::column_reach[i];
  if constexpr (reach > 0 && constants::beyond[i][2][0] != Beyond::memory) {
    Compute ghost;
    if (!find_source<i>(0, plane, static_cast<int>(a.shape[0]), ghost)) return;
    Element<i>* const to = plane_in_ring<i>(slot);
    const int first = tile.column - a.array[i].lead, columns = static_cast<int>(a.shape[2]);
    for (int j = static_cast<int>(threadIdx.x); j < 2 * reach * constants::ring_rows[i];
         j += constants::threads) {
      const int beyond = j % (2 * reach), line = j / (2 * reach);
      const int column = beyond < reach ? -1 - beyond : columns + beyond - reach;
      int row = tile.row + constants::row_low[i] + line, source = column;
      if (column < first || column >= first + constants::ring_pitch[i]) continue;
      if (!find_source<i>(1, row, static_cast<int>(a.shape[1]), ghost)) continue;
      Element<i>* const elements = to + line * constants::ring_pitch[i];
      if (!find_source<i>(2, source, columns, ghost))
        store(elements[column - first], ghost);
      else if (source >= first && source < first + constants::ring_pitch[i])
        elements[column - first] = elements[source - first];
    }
  }
}

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

extern "C" __global__ void __launch_bounds__(spsolve::cuda::constants::threads, spsolve::cuda::constants::blocks)
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
  const int column = static_cast<int>(threadIdx.x) % constants::tile_columns;
  const int row = static_cast<int>(threadIdx.x) / constants::tile_columns * rows_of_thread;
  // Iteration n computes plane first_plane - warm_up + n, once it is no less than first_plane.
  const int iterations = end_plane - first_plane + constants::warm_up;
  const auto load = [&](int n) {
    static_for<0, inputs>([&](auto input) {
      constexpr int i = decltype(input)::value;
      if (n < iterations && n >= constants::warm_up - constants::warm_up_of[i])
        load_plane<i>(a, tile, first_plane - constants::warm_up + n + constants::plane_high[i], slot_of<i>(n));
    });
    commit_copies();
  };
  bool has_ghost_columns = false;
  static_for<0, inputs>([&](auto input) {
    constexpr int i = decltype(input)::value, reach = constants::column_reach[i];
    if constexpr (reach > 0 && constants::beyond[i][2][0] != Beyond::memory)
      has_ghost_columns = has_ghost_columns || tile.column < reach ||
                          tile.column + constants::tile_columns + reach > a.shape[2];
  });

  Queues<inputs - 1> queues;
  for (int n = 0; n < constants::ahead; ++n) load(n);
  for (int n = 0; n < iterations; ++n) {
    const int plane = first_plane - constants::warm_up + n;
    wait_for_copies<constants::ahead - 1>();
    __syncthreads();
    load(n + constants::ahead);
    if (has_ghost_columns) {
      static_for<0, inputs>([&](auto input) {
        constexpr int i = decltype(input)::value;
        if (n >= constants::warm_up - constants::warm_up_of[i])
          make_ghost_columns<i>(a, tile, plane + constants::plane_high[i], slot_of<i>(n));
      });
      __syncthreads();
    }
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
    if (plane < first_plane) continue;
    Compute next[rows_of_thread][constants::statements];
    static_for<0, rows_of_thread>([&](auto of_thread) {
      constexpr int r = decltype(of_thread)::value;
      advance_point(TilePoint<r>(a, queues, n, row, column), next[r]);
    });
#pragma unroll
    for (int s = 0; s < constants::statements; ++s) {
      const SystemArray& to = a.array[inputs + s];
      if (plane < to.begin[0] || plane >= to.end[0]) continue;
      const int x = tile.column + column, y = tile.row + row;
      if (x < to.begin[2] || x >= to.end[2]) continue;
      Stored* const written = static_cast<Stored*>(to.data) + plane * to.stride[0] + y * to.stride[1] + x;
#pragma unroll
      for (int r = 0; r < rows_of_thread; ++r)
        if (y + r >= to.begin[1] && y + r < to.end[1]) store(written[r * to.stride[1]], next[r][s]);
    }
  }
}
