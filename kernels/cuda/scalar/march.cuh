// SPDX-License-Identifier: Apache-2.0
// Advances a region by `depth` true single steps in one kernel. The kernel streams through the planes of a
// tile and keeps every time level in registers: 2.5D temporal blocking with streaming accumulators instead of
// streaming operands.
//
// Blocks, warps, lanes. A block marches one tile along the slowest axis, over the planes [begin, end) that
// MarchBlock gives it, after a warm-up of 2 * depth * R planes (R: radius along the march). A tile is warps *
// rows_per_warp rows by 32 * points_per_lane columns, halo included. A warp holds rows_per_warp whole rows of
// the tile; a lane holds points_per_lane neighbouring columns of each of these rows.
//
// Registers. Per point and level, a lane keeps the unfinished sums of the 2R planes ahead. When plane z of
// level l is known, it is added to the sums of the planes z - R .. z + R of level l + 1, in the order of the
// taps, which completes plane z - R. So neither a ring of planes nor indexing is needed. With a source,
// (depth - 1) R + 1 planes of it stay in registers too.
//
// Shared memory. A stage of the ring (plane_pipeline.cuh) is one plane of the tile of the input; with a
// source, it also holds the source plane that is R planes ahead. `stages` - 1 planes are in flight. EdgeRows
// holds the first and last rows of every warp for the warps above and below it. Neighbours along x come from
// other lanes by shuffles.
//
// Barriers. With one warp per block, every block barrier is a warp barrier. If the last tap along the march
// is the centre of its plane (stars, pointwise_completion), completing a plane needs no neighbours: all
// levels advance pointwise first, then share their rows under one barrier per plane. Otherwise (boxes) there
// is one barrier per plane, and one more for each level whose rows are shared. The first barrier of a plane
// also frees the stage of the plane before for the next fetch. sm_80 needs one more barrier per plane, when a
// stage has arrived.
//
// Two time levels (u' = taps u - q u one step before): the sum of a plane of level l + 1 starts with the
// level l - 1, which has just reached that plane; the values one step before level 0 come as the source. The
// last two levels are written.
//
// Cost per point and launch: one read and one write of storage, and depth * taps fused multiply-adds, times
// the redundancy of the tile (halo of depth * radius on all sides, warm-up of each block). Stars are limited
// by issue slots and shared-memory accesses, boxes by multiply-adds. A source adds one read, which makes a
// kernel memory-bound.
//
// Walls. Ghost points beyond walls are made where sums read them, level by level; no thread advances ghost
// points. Blocks that touch a wall at the ends of rows or columns run a second instance of the code, which
// completes the windows of threads (TileFaces). A third instance handles planes near a face across the march;
// in 2D the blocks near that face run it, in 3D all others do. Planes beyond a dirichlet face across the
// march have its value. A plane beside a neumann face is its own reflection, if the stencil reaches one plane
// along the march with a centre tap only (PlaneFaces); other stencils leave the planes beside such faces to
// other kernels (ScalarUnit).

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/march_block.cuh"
#include "kernels/cuda/scalar/march_ghosts.cuh"
#include "kernels/cuda/scalar/march_output.cuh"
#include "kernels/cuda/scalar/march_taps.cuh"
#include "kernels/cuda/scalar/march_tile.cuh"
#include "kernels/cuda/scalar/plane_pipeline.cuh"
#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda {

/// Runs the march of one block. `beside_wall` is true if the tile touches a wall at the ends of rows or
/// columns. `near_planes` is true if some planes may be near a face across the march.
template <bool beside_wall, bool near_planes>
class March {
 public:
  __device__ March(const MarchBlock& block, MarchSharedMemory& shared)
      : block_(block),
        shared_(shared),
        lane_(held_column(block.first_column, static_cast<int>(threadIdx.x) % 32 * VX) / VX),
        warp_(static_cast<int>(threadIdx.x) / 32),
        output_(block),
        faces_(block.a, block.first_row, block.first_column),
        plane_faces_(block.a) {}

  __device__ void run() {
    const int planes = static_cast<int>(block_.end - block_.begin) + warm_up;
    Ring ring(shared_.ring, block_.a, block_.begin - depth * R, block_.first_row, block_.first_column);
    for (int i = 0; i < ahead; ++i) ring.fetch(i < planes);
    PlaneSums sums[depth] = {};
    int i = 0;
    static_for<1, warm_up_loops + 1>([&](auto loop) {
      constexpr int levels = depth * loop.value / phases;
#pragma unroll 1
      for (; i < 2 * levels * R; ++i) take_plane<levels, false, near_planes>(ring, sums, i, planes);
    });
    if constexpr (near_planes && has_near_loop) {
      const int far_end = min(plane_faces_.first_near_last() - plane_of(0), planes);
      int near_end = warm_up;
      do {
#pragma unroll 1
        for (; i < near_end; ++i) take_plane<depth, true, true>(ring, sums, i, planes);
#pragma unroll 1
        for (; i < far_end; ++i) take_plane<depth, true, false>(ring, sums, i, planes);
        near_end = planes;
      } while (i < planes);
    } else {
#pragma unroll 1
      for (; i < planes; ++i) take_plane<depth, true, near_planes>(ring, sums, i, planes);
    }
  }

 private:
  static constexpr int ahead = Ring::stages - 1;
  static constexpr int warm_up = 2 * depth * R;  // planes before the first that is written
  /// Holds unfinished sums of the planes ahead of a level.
  using PlaneSums = Points[R > 0 ? 2 * R : 1];

  static constexpr int source_planes = with_source && !two_levels ? (depth - 1) * R + 1 : 1;
  /// Is the number of planes of the last level but one that are held until the last level has reached them.
  static constexpr int held_planes = two_levels ? R : 0;

  /// Level l makes no needed plane before plane 2 l R of the march. Warm-up loops with fewer levels therefore
  /// save a good third of the warm-up. Branches inside one loop would keep the compiler from scheduling
  /// instructions of one level into the waits of another.
  static constexpr bool warms_apart = R > 0 && warms_up_apart(RY > 0, pointwise_completion, sizeof(Compute));
  static constexpr int phases = warms_apart ? warm_up_phases(depth) : 1;
  /// Is true if the last warm-up phase, which runs all levels, has a loop of its own that writes nothing, so
  /// that no loop tests whether to write. With more loops beside walls, the additional instructions cost more
  /// than the test.
  static constexpr bool writes_apart = warms_apart && (RY == 0 ? !near_planes : !has_walls);
  static constexpr int warm_up_loops = writes_apart ? phases : phases - 1;
  /// Is true if planes near a face across the march have a loop of their own: there are few of them, and the
  /// other planes should not pay for the ghost points. 3D stars have no registers for more than one loop.
  static constexpr bool has_near_loop = RY == 0 || !pointwise_completion;
  /// Is true if two loops, windows with ghost points and fp64 sums leave no registers for the offsets of
  /// other warps' rows.
  static constexpr bool lacks_registers = sizeof(Compute) == 8 && beside_wall && near_planes && RY > 0;

  /// Returns the grid coordinate of plane i of the march.
  __device__ int plane_of(int i) const { return static_cast<int>(block_.begin) - depth * R + i; }

  /// Advances plane i of the march through the first `levels` levels; if `writing`, through all levels and to
  /// memory. `near_face` is true if some level may be beside or beyond a face across the march.
  template <int levels, bool writing, bool near_face>
  __device__ __forceinline__ void take_plane(Ring& ring, PlaneSums (&sums)[depth], int i, int planes) {
    const int plane = plane_of(i);
    const auto [input, source] = ring.wait();
    Points level[levels + 1];
    read_input<near_face>(level[0], input, plane);
    // This is true in the loop for planes that are not near a face.
    constexpr bool after_warm_up = near_planes && !near_face;
    const auto write = [&] {
      if constexpr (writing)
        if (writes_apart || after_warm_up || i >= warm_up)
          output_.write(level[levels], held_planes > 0 ? held_[0] : level[levels - 1]);
      if constexpr (levels == depth) hold(level[levels - 1]);
    };
    if constexpr (pointwise_completion) {
      auto& edges = shared_.edges[i & 1];
      if (near_face && (has_near_loop || plane_faces_.are_near(plane))) {
        keep_branch();
        complete_levels<levels, writing, near_face>(level, sums, plane);
      } else {
        complete_levels<levels, writing, false>(level, sums, plane);
      }
      // Results are written before the barrier, so that their registers are free afterwards.
      write();
      static_for<0, levels>([&](auto l) {
        if constexpr (shares<l.value, near_face>) share_rows(edges[RY > 0 ? l.value : 0], level[l.value]);
      });
      block_barrier();
      compute_anew(warp_);
      ring.fetch(i + ahead < planes);
      advance_source(source);
      extend_levels<levels, near_face>(level, sums, input, edges, plane);
    } else {
      block_barrier();
      if constexpr (lacks_registers) compute_anew(warp_);
      ring.fetch(i + ahead < planes);
      advance_source(source);
      advance_levels<levels, near_face>(level, sums, input, plane);
      write();
    }
  }

  /// Adds the neighbours of complete points to the sums of every level.
  template <int levels, bool near_face, class Edges>
  __device__ __forceinline__ void extend_levels(Points (&level)[levels + 1], PlaneSums (&sums)[depth],
                                                const In (*input)[tile_columns], Edges& edges, int plane) {
    // Level 0 comes last and is read from the stage again, so that it takes no registers across the barrier.
    static_for<0, levels>([&](auto k) {
      constexpr int l = levels - 1 - k.value;
      if constexpr (l == (two_levels && levels > 1 ? 1 : 0)) read_input<near_face>(level[0], input, plane);
      Window window;
      gather<l, near_face>(window, level[l], input, edges[RY > 0 ? l : 0], plane - l * R);
      advance_sums<l>(sums[l], level);
      const Neighbours neighbours{window};
      extend(sums[l], neighbours);
    });
  }

  /// Completes one level after the other, each from the neighbours of the level before.
  template <int levels, bool near_face>
  __device__ __forceinline__ void advance_levels(Points (&level)[levels + 1], PlaneSums (&sums)[depth],
                                                 const In (*input)[tile_columns], int plane) {
    static_for<0, levels>([&](auto l) {
      const int at_level = plane - l.value * R;
      Points& next = level[l.value + 1];
      if constexpr (R > 0)
        next = sums[l.value][0];
      else
        start<l.value>(next, level);
      advance_sums<l.value>(sums[l.value], level);
      EdgeRows& edges = shared_.edges[l.value & 1][0];
      if constexpr (shares<l.value, near_face>) {
        share_rows(edges, level[l.value]);
        block_barrier();
      }
      Window window;
      gather<l.value, near_face>(window, level[l.value], input, edges, at_level);
      const Neighbours neighbours{window};
      if constexpr (makes_operands) {
        add_by_rows(next, sums[l.value], neighbours);
      } else {
        add_taps<R>(next, neighbours);
        extend(sums[l.value], neighbours);
      }
      if constexpr (l.value + 1 < depth) settle<near_face>(next, at_level - R);
    });
  }

  /// Reads level 0 at the thread's points.
  template <bool near_face>
  __device__ void read_input(Points& points, const In (*input)[tile_columns], int plane) const {
    read_points<Stored>(points, input);
    if constexpr (near_face) plane_faces_.impose(points, plane);
  }

  /// Holds a plane of the last level but one, the newest last.
  __device__ void hold(const Points& plane) {
    static_for<0, held_planes - 1>([&](auto k) { held_[k.value] = held_[k.value + 1]; });
    if constexpr (held_planes > 0) held_[held_planes - 1] = plane;
  }

  /// Reads the next plane of the source. Planes stay in registers until the last level has used them.
  __device__ void advance_source(const Compute (*source)[tile_columns]) {
    if constexpr (!with_source) return;
    static_for<1, source_planes>(
        [&](auto k) { source_[source_planes - k.value] = source_[source_planes - k.value - 1]; });
    read_points<Compute>(source_[0], source);
    multiply_by_factor(source_[0]);
  }

  /// Reads a plane at the thread's points, as operands of the given format.
  template <class Format, class T>
  __device__ void read_points(Points& points, const T (*plane)[tile_columns]) const {
#pragma unroll
    for (int v = 0; v < VY; ++v) read_row<Format>(points.at[v], plane, warp_ * VY + v);
  }

  template <class Format, class T>
  __device__ void read_row(Compute (&to)[VX], const T (*plane)[tile_columns], int tile_row) const {
    const auto vector = *reinterpret_cast<const ElementVector<T, VX>*>(&plane[tile_row][lane_ * VX]);
#pragma unroll
    for (int c = 0; c < VX; ++c) to[c] = read<Format>(vector.element[c]);
  }
  template <class Format, class T>
  static __device__ Compute read(const T& stored) {
    return operand<Format>(static_cast<Compute>(value_of(stored)));
  }

  /// Completes one plane of every level in turn. No neighbours are needed, since the last tap of each level
  /// is the centre of its plane.
  template <int levels, bool writing, bool near_face>
  __device__ __forceinline__ void complete_levels(Points* level, PlaneSums (&sums)[depth], int plane) {
    static_for<0, levels>([&](auto l) {
      const int at_level = plane - l.value * R;
      if constexpr (near_face && mirrors_planes) reflect(level[l.value], sums[l.value], at_level);
      if constexpr (writing || l.value + 1 < levels) {
        Points& next = level[l.value + 1];
        next = sums[l.value][0];
        add_taps<R>(next, Centres{level[l.value]});
        if constexpr (l.value + 1 < depth) settle<near_face>(next, at_level - R);
      }
    });
  }

  /// Handles the planes of a level at neumann faces. The first plane is added to sums as its own reflection
  /// before it is added as itself. The plane beyond the last one is a copy of the last one.
  __device__ void reflect(Points& level, PlaneSums& sums, int plane) {
    if (plane_faces_.is_mirrored_first(plane)) add_taps<-1>(sums[1], Centres{level});
    if (plane_faces_.is_mirrored_last(plane)) *shared_.points_of_thread() = level;
    if (plane_faces_.is_reflection_of_last(plane)) level = *shared_.points_of_thread();
  }

  /// Turns a completed plane into operands of the next level.
  template <bool near_face>
  __device__ void settle(Points& points, int plane) const {
#pragma unroll
    for (int v = 0; v < VY; ++v)
#pragma unroll
      for (int c = 0; c < VX; ++c) points.at[v][c] = operand<Stored>(points.at[v][c]);
    if constexpr (near_face) plane_faces_.impose(points, plane);
  }

  /// Returns true if warps share rows of a level through EdgeRows. Rows of level 0 are read from the stage,
  /// unless they contain ghost points.
  template <int level, bool near_face>
  static constexpr bool shares = RY > 0 && (level > 0 || near_face);

  __device__ void share_rows(EdgeRows& edges, const Points& points) const {
    using RowPoints = ElementVector<Compute, VX>;
#pragma unroll
    for (int k = 0; k < RY; ++k) {
      *reinterpret_cast<RowPoints*>(&edges.at[warp_][k][lane_ * VX]) =
          reinterpret_cast<const RowPoints&>(points.at[k]);
      *reinterpret_cast<RowPoints*>(&edges.at[warp_][RY + k][lane_ * VX]) =
          reinterpret_cast<const RowPoints&>(points.at[VY - RY + k]);
    }
  }

  /// Collects the thread's points of level l and all neighbours that taps reach. Entries outside the tile
  /// have any value: they affect no point that is written.
  template <int l, bool near_face>
  __device__ void gather(Window& window, const Points& points, const In (*input)[tile_columns],
                         const EdgeRows& edges, int plane) const {
    static_for<0, VY + 2 * RY>([&](auto index) {
      constexpr int w = index.value, v = w - RY;
      constexpr bool own = v >= 0 && v < VY;
      Compute row[VX];
      if constexpr (own) {
#pragma unroll
        for (int c = 0; c < VX; ++c) row[c] = points.at[v][c];
      } else {
        constexpr int side = v < 0 ? 0 : 1,
                      beyond = side == 0 ? -1 - v : v - VY;  // rows between this row and the warp's own rows
        const bool mirrored = beside_wall && faces_.template mirror_rows<side>();
        const int other = mirrored ? warp_ : side == 0 ? max(warp_ - 1, 0) : min(warp_ + 1, warps - 1);
        const bool of_first_rows = mirrored == (side == 0);
        if constexpr (!shares<l, near_face>) {
          read_row<Stored>(row, input, other * VY + (of_first_rows ? beyond : VY - 1 - beyond));
        } else {
          const auto vector = *reinterpret_cast<const ElementVector<Compute, VX>*>(
              &edges.at[other][of_first_rows ? beyond : 2 * RY - 1 - beyond][lane_ * VX]);
#pragma unroll
          for (int c = 0; c < VX; ++c) row[c] = vector.element[c];
        }
      }
#pragma unroll
      for (int c = 0; c < VX; ++c) window.at[w][RX + c] = row[c];
      if constexpr (own || corners) {
#pragma unroll
        for (int k = 1; k <= RX; ++k) {
          window.at[w][RX - k] = __shfl_up_sync(0xffffffffu, row[VX - k], 1);
          window.at[w][RX + VX - 1 + k] = __shfl_down_sync(0xffffffffu, row[k - 1], 1);
        }
      }
    });
    if constexpr (beside_wall)
      if (!near_face || !turns_corners || !plane_faces_.is_beyond(plane)) faces_.complete(window);
  }

  /// Shifts the sums by one plane, to those of the planes z - R + 1 .. z + R that level l reaches from plane
  /// z, and starts the last one.
  template <int l>
  __device__ void advance_sums(PlaneSums& sums, const Points* level) const {
    static_for<0, 2 * R - 1>([&](auto j) { sums[j.value] = sums[j.value + 1]; });
    if constexpr (R > 0) start<l>(sums[2 * R - 1], level);
  }

  /// Starts a sum of level l + 1, `R` planes ahead of level l: with the source, l * R planes before the
  /// newest one that level 0 reaches, or with zero. With two time levels the source is the level before
  /// level 0, and later sums start with the level two before them, which has just reached that plane.
  template <int l>
  __device__ void start(Points& sums, const Points* level) const {
    if constexpr (two_levels && l > 0) {
      sums = level[l - 1];
      multiply_by_factor(sums);
    } else if constexpr (with_source) {
      sums = source_[two_levels ? 0 : l * R];
    } else {
      sums = {};
    }
  }
  static __device__ void multiply_by_factor(Points& points) {
    if constexpr (source_factor != 1)
      for (auto& row : points.at)
        for (Compute& value : row) value *= source_factor;
  }

  const MarchBlock& block_;
  MarchSharedMemory& shared_;
  int lane_, warp_;
  TileOutput output_;
  TileFaces faces_;
  PlaneFaces plane_faces_;
  Points source_[source_planes] = {};  // newest first
  Points held_[held_planes > 0 ? held_planes : 1] = {};
};

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::warps,
                                             spsolve::cuda::blocks_per_multiprocessor)
    march(const __grid_constant__ spsolve::cuda::ScalarArguments a) {
  using namespace spsolve::cuda;
  extern __shared__ __align__(128) unsigned char memory[];
  MarchSharedMemory& shared = *reinterpret_cast<MarchSharedMemory*>(memory);
  const MarchBlock block(a);
  if (block.begin >= block.end) return;
  if (block.beside_wall())
    March<true, has_ghost_planes>(block, shared).run();
  else if (has_ghost_planes && block.near_planes())
    March<false, has_ghost_planes>(block, shared).run();
  else if constexpr (ends_apart || !has_ghost_planes)
    March<false, false>(block, shared).run();
}
