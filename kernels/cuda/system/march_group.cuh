// SPDX-License-Identifier: Apache-2.0
// This kernel advances one group of statements of a system of equations by one step, on grids of two and
// three axes. A block of threads computes a tile of rows and columns and marches along the slowest axis.
// Rings of planes in shared memory hold each input around the tile; values at the column of a point in other
// planes wait in registers. Every input is read once from memory, apart from the halos of tiles, which
// neighbouring tiles read at about the same time.
//
// On sm_90 one more warp starts copies of planes by the copy engine, `ahead` planes ahead of the slowest
// warp, and beside walls further warps compute ghost rows and columns in planes that have arrived. Barriers
// in shared memory tell which planes have arrived and which have been read, so that warps need not march in
// step. On sm_80 all threads copy planes and compute ghost points, and block barriers order copies and reads.
//
// A plane beyond a wall across the march is the plane that it reflects, or filled with the value of the face.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp) and the tile (system_tile.hpp).

#include "constants.cuh"
#include "kernels/cuda/system/planes.cuh"

namespace spsolve::cuda {
namespace {

/// Holds the values of input `i` at the columns of a thread's points, oldest plane first, and those of the
/// inputs before it.
template <int i>
struct Queues : Queues<i - 1> {
  Compute values[rows_of_thread][constants::queue_length[i] > 0 ? constants::queue_length[i] : 1];
};
template <>
struct Queues<-1> {};

/// Describes a point of the tile, in row `r` of the rows of its thread.
template <int r>
class TilePoint {
 public:
  /// `row` and `column` locate the thread in the tile; n is the iteration.
  __device__ TilePoint(const GroupArguments& a, const Tile& tile, const Queues<constants::inputs - 1>& queues,
                       int n, int row, int column)
      : a_(a), tile_(tile), queues_(queues), n_(n), row_(row), column_(column) {}

  /// Returns true if the point that is displaced along an axis lies beyond a face of the grid.
  template <int axis, int displacement>
  __device__ bool is_beyond() const {
    const int own = axis == 0   ? tile_.plane - constants::warm_up + n_
                    : axis == 1 ? tile_.row + row_ + r
                                : tile_.column + column_;
    return is_beyond_face<displacement>(own, a_.shape[axis]);
  }

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
      const InputElement<i>* const own =
          plane_in_ring<i>(slot) + row_ * constants::ring_pitch[i] + column_ + a_.array[i].lead;
      return static_cast<Compute>(
          value_of(own[(r + row - constants::row_low[i]) * constants::ring_pitch[i] + column]));
    }
  }

 private:
  const GroupArguments& a_;
  const Tile& tile_;
  const Queues<constants::inputs - 1>& queues_;
  int n_, row_, column_;
};

/// Moves the queues of a thread on by one plane, which iteration n finds in the rings. `row` and `column`
/// locate the thread in the tile.
__device__ __forceinline__ void advance_queues(Queues<constants::inputs - 1>& queues, const GroupArguments& a,
                                               int n, int row, int column) {
  static_for<0, constants::inputs>([&](auto input) {
    constexpr int i = decltype(input)::value, length = constants::queue_length[i];
    if constexpr (length > 0) {
      const InputElement<i>* const own = plane_in_ring<i>(slot_of<i>(n)) +
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
}

/// Finds what a thread writes of each statement: a range of planes, and the rows of the thread as bits. {y,
/// x} is the first point of the thread.
__device__ __forceinline__ void find_written(int (&planes_of)[constants::statements][2],
                                             unsigned (&rows_of)[constants::statements],
                                             const GroupArguments& a, int y, int x) {
#pragma unroll
  for (int s = 0; s < constants::statements; ++s) {
    const SystemArray& to = a.array[constants::inputs + s];
    planes_of[s][0] = static_cast<int>(to.begin[0]);
    planes_of[s][1] = static_cast<int>(to.end[0]);
    rows_of[s] = 0;
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
      if (x >= to.begin[2] && x < to.end[2] && y + r >= to.begin[1] && y + r < to.end[1])
        rows_of[s] |= 1u << r;
  }
}

}  // namespace
}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::constants::all_threads,
                                             spsolve::cuda::constants::blocks)
    march_group(const __grid_constant__ spsolve::cuda::GroupArguments a) {
  using namespace spsolve::cuda;
  constexpr int inputs = constants::inputs;
  const auto [number, group, first_plane, end_plane] =
      tile_planes(a.shares, a.region, static_cast<int>(blockIdx.x));
  const Tile tile{first_plane, static_cast<int>(a.region.begin[1]) + number / a.column_tiles * tile_rows,
                  static_cast<int>(a.first_column) + number % a.column_tiles * constants::tile_columns};
  const int iterations = end_plane - first_plane + constants::warm_up;
  const MarchPlanes march{a, tile, iterations, iterations};
  Planes planes(march, {a, group, a.shares.longest() + constants::warm_up});
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x >= constants::threads + warp_threads)
    return planes.make_ghosts(static_cast<int>(threadIdx.x) - constants::threads - warp_threads);
  if (threadIdx.x >= constants::threads) return planes.load_all();
#endif
  const int column = static_cast<int>(threadIdx.x) % constants::tile_columns;
  const int row = static_cast<int>(threadIdx.x) / constants::tile_columns * rows_of_thread;
  // By statement: the planes that are written, and as bits the rows of the thread.
  int planes_of[constants::statements][2];
  unsigned rows_of[constants::statements];
  const int x = tile.column + column, y = tile.row + row;
  const long long own = y * a.array[inputs].stride[1] + x;
  find_written(planes_of, rows_of, a, y, x);

  Queues<inputs - 1> queues;
  planes.begin();
  for (int n = 0; n < march.iterations; ++n) {
    const int plane = first_plane - constants::warm_up + n;
    planes.wait(n);
    advance_queues(queues, a, n, row, column);
    if (plane < first_plane) {
      planes.leave(n);
      continue;
    }
    Compute next[rows_of_thread][constants::statements];
    static_for<0, rows_of_thread>([&](auto of_thread) {
      constexpr int r = decltype(of_thread)::value;
      advance_point(TilePoint<r>(a, tile, queues, n, row, column), next[r]);
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
  planes.end();
}
