// SPDX-License-Identifier: Apache-2.0
// Several steps of a system of equations in one pass over memory, on grids of two and three axes: a march as
// in march_group.cuh that computes one plane of every level of time in each iteration. Level 0 is what is
// loaded; level l is the state after l steps. A level is `lag` planes behind the one before, so that all
// levels of an iteration only read what earlier iterations have computed, and one barrier per iteration
// suffices.
//
// All levels are computed on the same rows and columns, a tile that overlaps its neighbours; with every level
// the part of it that holds right values shrinks by the reach of a step. The inner part is stored. Values of
// a level at the columns of a thread's points stay in registers. Values that neighbours read go through rings
// of planes in shared memory. Coefficients are loaded once; their rings hold the planes of all levels.
//
// Amounts are added to points of a level, and values of points recorded, between its computation and its
// first use (tile_points.cuh).
//
// Every level has the ghost points of single steps. Beside walls along rows and columns, the thread of a
// point also stores it where it is reflected. Beyond walls across the march, values in registers are replaced
// by those that they reflect, or by the value of the face.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp) and the tile (fused_tile.hpp).

#include "constants.cuh"
#include "kernels/cuda/system/planes.cuh"
#include "kernels/cuda/system/tile_points.cuh"

namespace spsolve::cuda {
namespace {

constexpr int steps = constants::steps, lag = constants::lag, reach = constants::lag - 1;
constexpr int statements = constants::statements;
constexpr int reach_rows = constants::reach_rows, reach_columns = constants::reach_columns;

/// Values of levels 0 to steps - 1 at the columns of a thread's points, by statement that makes them. In
/// iteration n, element [offset + lag] of level l belongs to the plane at this offset from the one that level
/// l + 1 computes.
struct Held {
  Compute values[steps][statements][rows_of_thread][lag + reach + 1];
};

/// Returns the offset of the oldest plane of a level that is read.
template <int level, int s>
constexpr int oldest() {
  return constants::is_read_before[s] && level + 2 <= steps ? -lag : constants::queue_low[s];
}
/// Returns the offset of the newest plane of a level.
template <int level, int s>
constexpr int newest() {
  if constexpr (level > 0 || constants::input_of[s] < 0)
    return reach;
  else
    return constants::plane_high[constants::input_of[s]];
}

/// True if all rows that a thread holds have right values. Points beyond reflecting walls, which other
/// threads compute, have right values only in shared memory.
template <int s>
constexpr bool rows_are_held() {
  return constants::wall[s][1][0] != Beyond::reflection && constants::wall[s][1][1] != Beyond::reflection;
}

/// Returns where a level of a statement lies in shared memory, plane by plane.
template <int level, int s>
__device__ inline Stored* level_plane(int slot) {
  return reinterpret_cast<Stored*>(memory + constants::level_offset[s] +
                                   (static_cast<int>(level - 1) * (lag + 1) + slot) *
                                       constants::level_plane_bytes[s]);
}
__device__ inline int level_slot(int n) {
  return static_cast<int>(static_cast<unsigned>(n) % static_cast<unsigned>(lag + 1));
}

/// A point of the tile where level `level` is computed: row `r` of the rows of its thread.
template <int level, int r>
class LevelPoint {
 public:
  __device__ LevelPoint(const GroupArguments& a, const Held& held, int n, int row, int column)
      : a_(a), held_(held), n_(n), row_(row), column_(column) {}

  template <int i>
  __device__ Compute scalar() const {
    return static_cast<Compute>(a_.scalars[(level - 1) * constants::scalars + i]);
  }
  template <int i, int plane, int row, int column>
  __device__ Compute read() const {
    constexpr int s = constants::statement_of[i];
    if constexpr (s < 0) {
      return in_ring<i, plane - (level - 1) * lag, row, column>();
    } else if constexpr (constants::is_previous[i] != 0) {
      if constexpr (level == 1)
        return in_ring<i, plane, row, column>();
      else
        return held_.values[level - 2][s][r][0];
    } else if constexpr (column == 0 && r + row >= 0 && r + row < rows_of_thread &&
                         (row == 0 || level == 1 || rows_are_held<s>())) {
      return held_.values[level - 1][s][r + row][plane + lag];
    } else if constexpr (level == 1) {
      return in_ring<i, plane, row, column>();
    } else {
      constexpr int pitch = constants::level_pitch[s];
      const Stored* const own = level_plane<level - 1, s>(level_slot(n_ + 1)) +
                                (row_ + constants::level_rows[s]) * pitch + column_ +
                                constants::level_columns[s];
      return static_cast<Compute>(value_of(own[(r + row) * pitch + column]));
    }
  }

 private:
  template <int i, int plane, int row, int column>
  __device__ Compute in_ring() const {
    // Adding a whole ring keeps the number positive.
    const int slot = slot_of<i>(n_ + plane - constants::plane_high[i] + constants::ring_depth[i]);
    const Element<i>* const own =
        plane_in_ring<i>(slot) + row_ * constants::ring_pitch[i] + column_ + a_.array[i].lead;
    return static_cast<Compute>(
        value_of(own[(r + row - constants::row_low[i]) * constants::ring_pitch[i] + column]));
  }

  const GroupArguments& a_;
  const Held& held_;
  int n_, row_, column_;  // iteration; first row of the thread and column in the tile
};

/// Where a thread's points lie beside walls along rows and columns: as bits the rows of the thread.
struct Place {
  int row, column;            // of the first point in the tile
  int y, x;                   // the same on the grid
  bool beside_walls = false;  // the tile reaches beyond walls
  // Points beyond the faces of rows and of columns, by side.
  unsigned beyond_rows[2] = {}, beyond_columns[2] = {};
  // Points whose reflections beyond faces are read, and how many elements away these are.
  unsigned image_rows[2] = {}, image_columns[2] = {};
  int to_row[2] = {}, to_column[2] = {};

  __device__ Place(const GroupArguments& a, const Tile& tile) {
    column = static_cast<int>(threadIdx.x) % constants::tile_columns;
    row = static_cast<int>(threadIdx.x) / constants::tile_columns * rows_of_thread;
    y = tile.row + row;
    x = tile.column + column;
    if constexpr (!constants::has_walls_across) return;
    const int rows = static_cast<int>(a.shape[1]), columns = static_cast<int>(a.shape[2]);
    beside_walls = tile.row < reach_rows || tile.column < reach_columns ||
                   tile.row + tile_rows + reach_rows > rows ||
                   tile.column + constants::tile_columns + reach_columns > columns;
    constexpr unsigned all = (1u << rows_of_thread) - 1;
    beyond_columns[0] = x < 0 ? all : 0;
    beyond_columns[1] = x >= columns ? all : 0;
    to_column[0] = -1 - 2 * x;
    to_column[1] = 2 * (columns - x) - 1;
    if (x >= 0 && x < reach_columns && column + to_column[0] >= -reach_columns) image_columns[0] = all;
    if (x < columns && x >= columns - reach_columns &&
        column + to_column[1] < constants::tile_columns + reach_columns)
      image_columns[1] = all;
    to_row[0] = -1 - 2 * y;  // of the first row
    to_row[1] = 2 * (rows - y) - 1;
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r) {
      const int own = y + r;
      if (own < 0) beyond_rows[0] |= 1u << r;
      if (own >= rows) beyond_rows[1] |= 1u << r;
      if (own >= 0 && own < reach_rows && row - r + to_row[0] >= -reach_rows) image_rows[0] |= 1u << r;
      if (own < rows && own >= rows - reach_rows && row - r + to_row[1] < tile_rows + reach_rows)
        image_rows[1] |= 1u << r;
    }
  }
};

/// Gives points beyond faces with a value that value. Where faces along both axes have one, that of rows
/// decides.
template <int s>
__device__ inline void set_ghosts(const Place& at, Compute (&next)[rows_of_thread][statements]) {
  static_for<0, 4>([&](auto number) {
    constexpr int axis = 2 - decltype(number)::value / 2, side = decltype(number)::value % 2;
    if constexpr (constants::wall[s][axis][side] == Beyond::value) {
      constexpr Compute value = constants::wall_value[s][axis][side];
      const unsigned beyond = axis == 1 ? at.beyond_rows[side] : at.beyond_columns[side];
      static_for<0, rows_of_thread>([&](auto of_thread) {
        constexpr int r = decltype(of_thread)::value;
        if (beyond >> r & 1) next[r][s] = value;
      });
    }
  });
}

/// Stores the newest values of a level for those that read them at other rows and columns. `own` is the first
/// point of the thread in a plane of the ring.
template <bool walls, int level, int s>
__device__ inline void share(Stored* own, const Place& at, const Held& held) {
  const auto value = [&](int r) { return held.values[level][s][r][newest<level, s>() + lag]; };
  constexpr int pitch = constants::level_pitch[s];
  constexpr bool reflects =
      constants::wall[s][1][0] == Beyond::reflection || constants::wall[s][1][1] == Beyond::reflection ||
      constants::wall[s][2][0] == Beyond::reflection || constants::wall[s][2][1] == Beyond::reflection;
  if constexpr (!reflects || !walls) {
    static_for<0, rows_of_thread>([&](auto of_thread) {
      constexpr int r = decltype(of_thread)::value;
      store(own[r * pitch], value(r));
    });
    return;
  }
  // Points beyond reflecting walls are stored by the points that they reflect.
  unsigned reflected = 0;
  static_for<0, 2>([&](auto number) {
    constexpr int side = decltype(number)::value;
    if constexpr (constants::wall[s][2][side] == Beyond::reflection) reflected |= at.beyond_columns[side];
  });
  static_for<0, 2>([&](auto number) {
    constexpr int side = decltype(number)::value;
    if constexpr (constants::wall[s][1][side] == Beyond::value) reflected &= ~at.beyond_rows[side];
  });
  static_for<0, 2>([&](auto number) {
    constexpr int side = decltype(number)::value;
    if constexpr (constants::wall[s][1][side] == Beyond::reflection) {
      // Points beyond both a row and a column face have the value of the column face, if it has one.
      unsigned fixed = 0;
      if constexpr (constants::wall[s][2][0] == Beyond::value) fixed |= at.beyond_columns[0];
      if constexpr (constants::wall[s][2][1] == Beyond::value) fixed |= at.beyond_columns[1];
      reflected |= at.beyond_rows[side] & ~fixed;
    }
  });
  static_for<0, rows_of_thread>([&](auto of_thread) {
    constexpr int r = decltype(of_thread)::value;
    if (reflected >> r & 1) return;
    store(own[r * pitch], value(r));
    static_for<0, 2>([&](auto number) {
      constexpr int side = decltype(number)::value;
      if constexpr (constants::wall[s][2][side] == Beyond::reflection)
        if (at.image_columns[side]) store(own[r * pitch + at.to_column[side]], value(r));
      if constexpr (constants::wall[s][1][side] == Beyond::reflection)
        if (at.image_rows[side] >> r & 1) {
          Stored* const image = own + (at.to_row[side] - r) * pitch;
          store(*image, value(r));
          static_for<0, 2>([&](auto other) {
            constexpr int of_column = decltype(other)::value;
            if constexpr (constants::wall[s][2][of_column] == Beyond::reflection)
              if (at.image_columns[of_column]) store(image[at.to_column[of_column]], value(r));
          });
        }
    });
  });
}

/// Before level `level` + 1 computes the first plane of a grid with a wall before it: sets the values of the
/// planes beyond.
template <int level, int s>
__device__ inline void begin_at_wall(Held& held) {
  static_for<0, rows_of_thread>([&](auto of_thread) {
    auto& values = held.values[level][s][decltype(of_thread)::value];
    static_for<0, reach>([&](auto number) {
      constexpr int k = decltype(number)::value;
      values[lag - 1 - k] =
          constants::wall[s][0][0] == Beyond::value ? constants::wall_value[s][0][0] : values[lag + k];
    });
  });
}

/// Adds the values of a plane to those held. Beyond a wall at the end of a march they are replaced.
template <int level, int s>
__device__ inline void hold(Held& held, const Compute (&next)[rows_of_thread][statements], int beyond) {
  constexpr int first = oldest<level, s>() + lag, last = newest<level, s>() + lag;
  static_for<0, rows_of_thread>([&](auto of_thread) {
    constexpr int r = decltype(of_thread)::value;
    auto& values = held.values[level][s][r];
    static_for<first, last>([&](auto k) { values[decltype(k)::value] = values[decltype(k)::value + 1]; });
    values[last] = operations::as_stored<Stored>(next[r][s]);
    if constexpr (constants::wall[s][0][1] == Beyond::value) {
      if (beyond >= 0) values[last] = constants::wall_value[s][0][1];
    } else if constexpr (constants::wall[s][0][1] == Beyond::reflection) {
      static_for<0, reach>([&](auto number) {
        constexpr int k = decltype(number)::value, from = last - 1 - 2 * k;
        if constexpr (from >= first)
          if (beyond == k) values[last] = values[from];
      });
    }
  });
}

/// Where a block stores what it computes: planes [first, end), and as bits the rows of a thread.
struct Written {
  int first, end;
  unsigned rows;
};

/// Stores the values of a plane of a level.
template <int output>
__device__ inline void write(const GroupArguments& a, const Place& at, const Written& written, int z,
                             const Compute (&values)[rows_of_thread]) {
  if (z < written.first || z >= written.end) return;
  const SystemArray& array = a.array[constants::inputs + output];
  Stored* const to = static_cast<Stored*>(array.data) + z * array.stride[0] + at.y * array.stride[1] + at.x;
#pragma unroll
  for (int r = 0; r < rows_of_thread; ++r)
    if (written.rows >> r & 1) store(to[r * array.stride[1]], values[r]);
}

/// Marches through the planes of a block, beside `walls` along rows or columns or not.
template <bool walls>
__device__ __forceinline__ void advance_all(const GroupArguments& a, const March& march, const Planes& planes,
                                            const Place& at, const Written& written) {
  Held held;
  TilePoints points(a);
  planes.begin();
  for (int n = 0; n < march.iterations; ++n) {
    const int plane = march.tile.plane - constants::warm_up + n;  // of level 1
    planes.wait(n);
    static_for<0, statements>([&](auto statement) {
      constexpr int s = decltype(statement)::value, i = constants::input_of[s];
      if constexpr (i >= 0) {
        const Element<i>* const own = plane_in_ring<i>(slot_of<i>(n)) +
                                      (at.row - constants::row_low[i]) * constants::ring_pitch[i] +
                                      at.column + a.array[i].lead;
        constexpr int first = oldest<0, s>() + lag, last = newest<0, s>() + lag;
        static_for<0, rows_of_thread>([&](auto of_thread) {
          constexpr int r = decltype(of_thread)::value;
          auto& values = held.values[0][s][r];
          static_for<first, last>(
              [&](auto k) { values[decltype(k)::value] = values[decltype(k)::value + 1]; });
          values[last] = static_cast<Compute>(value_of(own[r * constants::ring_pitch[i]]));
        });
      }
    });
    // The last level first: the others still hold what it reads. All is read before anything is stored, so
    // that reads of several levels are under way at once.
    Compute results[rows_of_thread][statements];
    static_for<0, steps>([&](auto before) {
      constexpr int level = steps - decltype(before)::value;
      const int z = plane - (level - 1) * lag;
      if constexpr (level > 1)
        static_for<0, statements>([&](auto statement) {
          constexpr int s = decltype(statement)::value;
          if constexpr (constants::wall[s][0][0] != Beyond::memory)
            if (z == 0) begin_at_wall<level - 1, s>(held);
        });
      Compute next[rows_of_thread][statements];
      static_for<0, rows_of_thread>([&](auto of_thread) {
        constexpr int r = decltype(of_thread)::value;
        advance_point(LevelPoint<level, r>(a, held, n, at.row, at.column), next[r]);
      });
      static_for<0, statements>([&](auto statement) {
        constexpr int s = decltype(statement)::value;
        if constexpr (level == steps) {
          static_for<0, rows_of_thread>(
              [&](auto r) { results[decltype(r)::value][s] = next[decltype(r)::value][s]; });
        } else {
          if constexpr (walls) set_ghosts<s>(at, next);
          hold<level, s>(held, next, z - static_cast<int>(a.shape[0]));
        }
      });
    });
    if constexpr (constants::has_points)
      points.work(a, n, [&](auto of_level, auto statement, auto of_thread) -> Compute& {
        constexpr int level = decltype(of_level)::value, s = decltype(statement)::value,
                      r = decltype(of_thread)::value;
        if constexpr (level == steps)
          return results[r][s];
        else
          return held.values[level][s][r][newest<level, s>() + lag];
      });
    static_for<1, steps>([&](auto of_level) {
      constexpr int level = decltype(of_level)::value;
      static_for<0, statements>([&](auto statement) {
        constexpr int s = decltype(statement)::value;
        if constexpr (constants::level_pitch[s] > 0)
          share<walls, level, s>(level_plane<level, s>(level_slot(n)) +
                                     (at.row + constants::level_rows[s]) * constants::level_pitch[s] +
                                     at.column + constants::level_columns[s],
                                 at, held);
      });
    });
    planes.leave(n);
    synchronize_threads<constants::threads>(1);
    static_for<0, constants::outputs>([&](auto output) {
      constexpr int o = decltype(output)::value, s = constants::statement_of_output[o];
      constexpr int level = o < statements ? steps : steps - 1;
      Compute values[rows_of_thread];
      static_for<0, rows_of_thread>([&](auto of_thread) {
        constexpr int r = decltype(of_thread)::value;
        if constexpr (level == steps)
          values[r] = results[r][s];
        else
          values[r] = held.values[level][s][r][newest<level, s>() + lag];
      });
      write<o>(a, at, written, plane - (level - 1) * lag, values);
    });
  }
}

}  // namespace
}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::constants::all_threads,
                                             spsolve::cuda::constants::blocks)
    march_steps(const __grid_constant__ spsolve::cuda::GroupArguments a) {
  using namespace spsolve::cuda;
  constexpr int margin_planes = (steps - 1) * reach, margin_rows = constants::margin_rows,
                margin_columns = constants::margin_columns;
  constexpr int useful_rows = tile_rows - 2 * margin_rows, useful_columns = constants::useful_columns;
  const int block = static_cast<int>(blockIdx.x);
  const int tiles = a.column_tiles * a.row_tiles, chunk = block / tiles, number = block % tiles;
  const int first_plane = static_cast<int>(a.region.begin[0]) + chunk * a.chunk_planes;
  const int end_plane =
      static_cast<int>(min(a.region.end[0], static_cast<long long>(first_plane + a.chunk_planes)));
  // The tile of level 1.
  const Tile tile{
      first_plane - margin_planes,
      static_cast<int>(a.region.begin[1]) + number / a.column_tiles * useful_rows - margin_rows,
      static_cast<int>(a.first_column) + number % a.column_tiles * useful_columns - margin_columns};
  const int loads = end_plane - first_plane + 2 * margin_planes + constants::warm_up;
  const March march{a, tile, loads + steps - 1, loads};
  const Planes planes(march);
#if __CUDA_ARCH__ >= 900
  if (threadIdx.x >= constants::threads + warp_threads)
    return planes.make_ghosts(static_cast<int>(threadIdx.x) - constants::threads - warp_threads);
  if (threadIdx.x >= constants::threads)
    return planes.load_all({a.arrivals, a.chunk_planes + 2 * margin_planes + constants::warm_up + steps - 1});
#endif
  const Place at(a, tile);
  Written written{first_plane, end_plane, 0};
  if (at.column >= margin_columns && at.column < margin_columns + useful_columns &&
      at.x >= a.region.begin[2] && at.x < a.region.end[2])
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
      if (at.row + r >= margin_rows && at.row + r < tile_rows - margin_rows &&
          at.y + r >= a.region.begin[1] && at.y + r < a.region.end[1])
        written.rows |= 1u << r;

  if (at.beside_walls)
    advance_all<true>(a, march, planes, at, written);
  else
    advance_all<false>(a, march, planes, at, written);
}
