// SPDX-License-Identifier: Apache-2.0
// This kernel takes several steps of a system of equations in one pass over memory, on grids of two and three
// axes. It marches as march_group.cuh does and computes one plane of every time level in each iteration.
// Level 0 is what is loaded; level l is the state after l steps. A level is `lag` planes behind the level
// before. In other rows and columns it reads planes that earlier iterations have computed, so warps wait for
// each other once per iteration, or twice if shared memory has no free plane for the results of an iteration.
// The newest plane is read at the points of the warp alone, which computes the levels in their order.
//
// All levels are computed on the rows and columns of one tile, which overlaps its neighbours. With every
// level the part of the tile that holds right values shrinks by the reach of a step. Only that inner part is
// stored. A warp lies along a row, and every thread has several neighbouring points of several rows
// (level_values.cuh). Coefficients are loaded once; their rings hold the planes of all levels.
//
// Amounts are added to points of a level, and values of points recorded, before the next level reads them
// (tile_points.cuh). Code that looks for points keeps the compiler from interleaving the work of levels, so
// only iterations that work on points run such code.
//
// Every level has the ghost points of single steps (level_walls.cuh). At reflecting walls along rows and
// columns, threads read their own values for points beyond the wall, or they also store points at the places
// of their reflections. Beyond walls across the march, values in registers are replaced by their reflections,
// or by the value of the face. All iterations look for walls, except where reflections are stored: iterations
// and tiles without walls then run code that does not look for walls.
//
// constants.cuh holds the statements (kernels/cuda/system/system_group.hpp) and the tile (fused_tile.hpp).

#include "constants.cuh"
#include "kernels/cuda/system/level_walls.cuh"
#include "kernels/cuda/system/tile_points.cuh"

namespace spsolve::cuda {
namespace {

/// Describes what a block stores: planes [first, end), and as bits the rows and columns of a thread. The
/// first point of the thread lies at `own` in a plane of every array.
struct Written {
  int first, end;
  unsigned rows = 0, columns = 0;
  long long own;

  __device__ Written(const GroupArguments& a, const Place& at, int first_plane, int end_plane)
      : first(first_plane), end(end_plane), own(at.y * a.array[constants::inputs].stride[1] + at.x) {
    constexpr int margin_rows = constants::margin_rows, margin_columns = constants::margin_columns;
#pragma unroll
    for (int r = 0; r < rows_of_thread; ++r)
      if (at.row + r >= margin_rows && at.row + r < tile_rows - margin_rows &&
          at.y + r >= a.region.begin[1] && at.y + r < a.region.end[1])
        rows |= 1u << r;
#pragma unroll
    for (int e = 0; e < columns_of_thread; ++e)
      if (at.column + e >= margin_columns && at.column + e < margin_columns + constants::useful_columns &&
          at.x + e >= a.region.begin[2] && at.x + e < a.region.end[2])
        columns |= 1u << e;
  }
};

/// Stores the values of a plane of a level.
template <int output>
__device__ inline void write(const GroupArguments& a, const Written& written, int z,
                             const Compute (&values)[rows_of_thread][columns_of_thread]) {
  constexpr unsigned all = (1u << columns_of_thread) - 1;
  if (z < written.first || z >= written.end || written.columns == 0) return;
  const SystemArray& array = a.array[constants::inputs + output];
  Stored* const to = static_cast<Stored*>(array.data) + z * array.stride[0] + written.own;
#pragma unroll
  for (int r = 0; r < rows_of_thread; ++r) {
    if (!(written.rows >> r & 1)) continue;
    Stored* const row = to + r * array.stride[1];
    if (written.columns == all) {
      store_row(row, values[r]);
    } else {
#pragma unroll
      for (int e = 0; e < columns_of_thread; ++e)
        if (written.columns >> e & 1) store(row[e], values[r][e]);
    }
  }
}

/// Advances the levels of a tile through the planes of a block.
class LevelMarch {
 public:
  __device__ LevelMarch(const GroupArguments& a, const MarchPlanes& march, Planes& planes, const Turns& turns,
                        const Place& at, const Written& written)
      : a_(a), march_(march), planes_(planes), turns_(turns), at_(at), written_(written), points_(a) {}

  __device__ __forceinline__ void advance_all() {
    planes_.begin();
    int n = 0;
    if constexpr (constants::has_points)
      for (int next = points_.next_iteration(); next < march_.iterations; next = points_.next_iteration()) {
        while (n < next) iterate<false>(n++);
        points_.begin();
        iterate<true>(n++);
      }
    while (n < march_.iterations) iterate<false>(n++);
  }

 private:
  /// Is true if all iterations look for walls in one body of the loop, because the instruction cache does not
  /// hold two bodies. Where threads read reflected points from shared memory, the body beside walls is much
  /// slower, so there are two.
  static constexpr bool one_body = !reflects_across() || constants::mirrors;

  /// Runs an iteration; `points` is true if any thread of the block works on points.
  template <bool points>
  __device__ __forceinline__ void iterate(int n) {
    const int plane = march_.tile.plane - constants::warm_up + n;  // the plane of level 1
    shared_.begin(n);
    bool beside_walls = at_.beside_walls;
    if constexpr (has_walls_along())
      beside_walls = beside_walls || plane <= (steps - 1) * lag || plane >= a_.shape[0];
    constexpr bool has_walls = constants::has_walls_across || has_walls_along();
    if (points || (has_walls && (one_body || beside_walls)))
      advance<has_walls, points>(n, plane);
    else
      advance<false, false>(n, plane);
    planes_.leave(n);
    if constexpr (!splits) write_plane(plane);
  }

  /// Makes room for the newest values of a level.
  template <int level, int s>
  __device__ void shift() {
    constexpr int first = oldest<level, s>() + lag,
                  last = newest<level, s>() + lag - newest_waits<level, s>();
    if constexpr (keeps_old<level, s>())
      static_for<0, rows_of_thread>([&](auto of_thread) {
        constexpr int r = decltype(of_thread)::value;
        Compute row[columns_of_thread];
#pragma unroll
        for (int e = 0; e < columns_of_thread; ++e) row[e] = held_.values[level][s][r][e][first];
        store_row(shared_.template old_row<level, s, oldest<level, s>() - 1, r>(), row);
      });
    for_each_point([&](auto row, auto column) {
      auto& values = held_.values[level][s][decltype(row)::value][decltype(column)::value];
      static_for<first, last>([&](auto k) { values[decltype(k)::value] = values[decltype(k)::value + 1]; });
    });
  }

  /// Holds the values of level 0 at the points of the thread that have arrived.
  __device__ void hold_loaded() {
    static_for<0, statements>([&](auto statement) {
      constexpr int s = decltype(statement)::value, i = constants::input_of[s];
      if constexpr (i >= 0 && !constants::level_0_in_ring) {
        shift<0, s>();
        const InputElement<i>* const own = shared_.template in_ring<i, 0>();
        static_for<0, rows_of_thread>([&](auto of_thread) {
          constexpr int r = decltype(of_thread)::value;
          Compute row[columns_of_thread];
          load_row(own + r * constants::ring_pitch[i], row);
#pragma unroll
          for (int e = 0; e < columns_of_thread; ++e) held_.values[0][s][r][e][newest<0, s>() + lag] = row[e];
        });
      }
    });
  }

  /// Computes a plane of every level, and stores the values that other threads read.
  template <bool walls, bool points>
  __device__ __forceinline__ void advance(int n, int plane) {
    // The last iteration has computed the newest planes of levels, so their sums need not wait for planes
    // from memory.
    if constexpr (splits) {
      turns_.wait_for_stores(n);
      static_for<2, steps + 1>([&](auto of_level) {
        constexpr int level = decltype(of_level)::value;
        if constexpr (walls) begin_at_walls<level>(plane - 1 - (level - 2) * lag);
        begin_sums<level, walls>();
      });
      turns_.end_reads();
    }
    planes_.wait(n);
    if constexpr (!splits) turns_.wait_for_stores(n);
    hold_loaded();
    static_for<1, steps + 1>([&](auto of_level) {
      constexpr int level = decltype(of_level)::value;
      const int z = plane - (level - 1) * lag;
      if constexpr (walls && level > 1 && !splits) begin_at_walls<level>(z);
      compute<level, walls>(z);
      if constexpr (points)
        points_.template work<level>(n, [&](auto s, auto r, auto e) -> Compute& {
          return newest_of<level, decltype(s)::value, decltype(r)::value, decltype(e)::value>();
        });
      if constexpr (points && walls && level < steps && constants::mirrors)
        static_for<0, statements>([&](auto s) { mirror_points<level, decltype(s)::value>(); });
    });
    if constexpr (splits) {
      write_plane(plane);
      begin_sums<1, walls>();
    } else {
      turns_.end_reads();
    }
    turns_.wait_for_reads();
    static_for<1, steps>([&](auto of_level) {
      static_for<0, statements>([&](auto statement) {
        constexpr int level = decltype(of_level)::value, s = decltype(statement)::value;
        if constexpr (constants::level_pitch[s] > 0)
          share<walls, level, s>(a_, shared_, at_, held_, plane - (level - 1) * lag);
      });
    });
    turns_.end_stores();
  }

  /// Computes plane z of a level at the points of the thread.
  template <int level, bool walls>
  __device__ __forceinline__ void compute(int z) {
    if constexpr (splits) {
      const ContinuedSums<level> sums(held_);
      continue_points(sums);
    }
    const GatheredValues<level, walls> around(held_, shared_, at_.image);
    Taken taken;
    if constexpr (takes(level))
      static_for<0, rows_of_thread>([&](auto of_thread) {
        constexpr int r = decltype(of_thread)::value;
        Compute given[taken_values_of_row];
        taken_values(point_at<level, walls, r, columns_of_thread - 1>(around, taken, z), given);
#pragma unroll
        for (int i = 0; i < constants::taken; ++i) taken[r][i] = __shfl_up_sync(0xffffffffu, given[i], 1);
      });
    Results next;
    for_each_point([&](auto row, auto column) {
      constexpr int r = decltype(row)::value, e = decltype(column)::value;
      const auto at = point_at<level, walls, r, e>(around, taken, z);
      if constexpr (takes(level))
        advance_taken_point(at, next[r][e]);
      else if constexpr (keeps(level))
        advance_kept_point(at, next[r][e]);
      else
        advance_point(at, next[r][e]);
    });
    static_for<0, statements>([&](auto statement) {
      constexpr int s = decltype(statement)::value;
      if constexpr (level < steps) {
        if constexpr (walls)
          set_ghosts<s>(at_, static_cast<unsigned>(z) >= static_cast<unsigned>(a_.shape[0]), next);
        shift<level, s>();
      }
      for_each_point([&](auto row, auto column) {
        constexpr int r = decltype(row)::value, e = decltype(column)::value;
        newest_of<level, s, r, e>() =
            level < steps ? operations::as_stored<Stored>(next[r][e][s]) : next[r][e][s];
      });
      if constexpr (walls && level < steps && constants::mirrors) mirror_points<level, s>();
      if constexpr (walls && level < steps && constants::wall[s][0][1] != Beyond::memory &&
                    !sets_all_ghosts<s>())
        end_at_wall<level, s>(held_, z - static_cast<int>(a_.shape[0]));
    });
  }

  /// Returns a point of the thread where a level computes plane z.
  template <int level, bool walls, int r, int e>
  __device__ __forceinline__ LevelPoint<level, walls, r, e> point_at(
      const GatheredValues<level, walls>& around, const Taken& taken, int z) {
    return {a_, held_, around, taken, z, at_.y + r, at_.x + e};
  }

  /// Copies the newest values of points at reflecting walls to the first points beyond the walls, if both
  /// belong to one thread. Other threads that read points beyond walls read the points at the walls instead
  /// (GatheredValues).
  template <int level, int s>
  __device__ __forceinline__ void mirror_points() {
    static_for<0, 4>([&](auto number) {
      constexpr int axis = 2 - decltype(number)::value / 2, side = decltype(number)::value % 2;
      constexpr int to_wall = side == 0 ? 1 : -1, points = axis == 1 ? rows_of_thread : columns_of_thread;
      for_each_point([&](auto row, auto column) {
        constexpr int r = decltype(row)::value, e = decltype(column)::value;
        constexpr int at_wall = (axis == 1 ? r : e) + to_wall;
        constexpr int from_row = axis == 1 ? at_wall : r, from_column = axis == 2 ? at_wall : e;
        if constexpr (constants::wall[s][axis][side] == Beyond::reflection && at_wall >= 0 &&
                      at_wall < points)
          if (at_.image.has(axis, side, at_wall))
            newest_of<level, s, r, e>() =
                mirrored<s, axis, side>(newest_of<level, s, from_row, from_column>());
      });
    });
  }

  /// Sets the planes of the level before beyond a wall in time: `z` is the plane that `level` computes, or
  /// whose sums it begins. That is the first plane of the grid, or the one before, of which the level keeps
  /// values.
  template <int level>
  __device__ void begin_at_walls(int z) {
    constexpr int first = keeps(level) ? -1 : 0;
    static_for<0, statements>([&](auto statement) {
      constexpr int s = decltype(statement)::value;
      if constexpr (constants::wall[s][0][0] != Beyond::memory && !sets_all_ghosts<s>())
        if (z == first) begin_at_wall<level - 1, s>(held_);
    });
  }

  /// Begins the sums of the newest plane that other threads have stored.
  template <int level, bool walls>
  __device__ __forceinline__ void begin_sums() {
    LevelSums<level, walls> at(held_, shared_);
    begin_points(at);
  }

  /// Returns the value that this iteration computes at a point of the thread.
  template <int level, int s, int r, int e>
  __device__ Compute& newest_of() {
    if constexpr (level == steps)
      return results_[r][e][s];
    else
      return held_.values[level][s][r][e][newest<level, s>() + lag];
  }

  /// Stores the last levels in memory.
  __device__ void write_plane(int plane) {
    static_for<0, constants::outputs>([&](auto output) {
      constexpr int o = decltype(output)::value, s = constants::statement_of_output[o];
      constexpr int level = o < statements ? steps : steps - 1;
      Compute values[rows_of_thread][columns_of_thread];
      for_each_point([&](auto row, auto column) {
        constexpr int r = decltype(row)::value, e = decltype(column)::value;
        values[r][e] = newest_of<level, s, r, e>();
      });
      write<o>(a_, written_, plane - (level - 1) * lag, values);
    });
  }

  const GroupArguments& a_;
  const MarchPlanes& march_;
  Planes& planes_;
  const Turns& turns_;
  const Place& at_;
  const Written& written_;
  TilePoints points_;
  SharedPoints shared_;
  Held held_;
  Results results_;  // results of the last level
};

}  // namespace
}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(spsolve::cuda::constants::all_threads,
                                             spsolve::cuda::constants::blocks)
    march_steps(const __grid_constant__ spsolve::cuda::GroupArguments a) {
  using namespace spsolve::cuda;
  constexpr int margin_planes = (steps - 1) * reach_planes, margin_rows = constants::margin_rows;
  constexpr int useful_rows = tile_rows - 2 * margin_rows, useful_columns = constants::useful_columns;
  constexpr int drain = (steps - 1) * (lag - reach_planes);  // iterations that load nothing
  const auto [number, group, first_plane, end_plane] =
      tile_planes(a.shares, a.region, static_cast<int>(blockIdx.x));
  // This is the tile of level 1.
  const Tile tile{first_plane - margin_planes,
                  static_cast<int>(a.region.begin[1]) + number / a.column_tiles * useful_rows - margin_rows,
                  static_cast<int>(a.first_column) + number % a.column_tiles * useful_columns -
                      constants::margin_columns};
  const int loads = end_plane - first_plane + 2 * margin_planes + constants::warm_up;
  const MarchPlanes march{a, tile, loads + drain, loads};
  const int longest = march.iterations - (end_plane - first_plane) + a.shares.longest();
  const Turns turns;
  Planes planes(march, {a, group, longest});
#if __CUDA_ARCH__ >= 900
  if constexpr (!loads_itself) {
    // A shuffle tells the compiler that all threads of a warp take the same branch. It then knows that
    // computing warps stay together, and adds no branch to every shuffle.
    const int warp = __shfl_sync(0xffffffffu, static_cast<int>(threadIdx.x) / warp_threads, 0);
    if (warp >= constants::threads / warp_threads) {
      if constexpr (constants::registers > 0) give_registers_away<constants::registers_of_helpers>();
      if (warp > constants::threads / warp_threads)
        planes.make_ghosts(static_cast<int>(threadIdx.x) - constants::threads - warp_threads);
      else
        planes.load_all();
      return;
    }
  }
  if constexpr (constants::registers > 0) take_registers<constants::registers>();
#endif
  const Place at(a, tile);
  const Written written(a, at, first_plane, end_plane);
  LevelMarch(a, march, planes, turns, at, written).advance_all();
  planes.end();
}
