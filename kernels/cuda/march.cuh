// SPDX-License-Identifier: Apache-2.0
// `depth` true single steps in one kernel: a block marches a tile along the slowest axis and keeps every time
// level in registers (2.5D temporal blocking; streaming accumulators instead of streaming operands).
//
// When plane z of level l is known it is scattered into the planes z - R .. z + R of level l + 1, R the
// radius along the march, whose sums it extends in the order of the taps; plane z - R is complete with that.
// So 2R registers per point and level are kept, there is no ring of planes and no index. Where the last tap
// along the march is the centre of its plane (stars), completing a plane needs no neighbour: all levels
// advance pointwise first, and then share their rows under one barrier. Otherwise (boxes) every level has its
// own barrier. A lane holds points_per_lane x rows_per_warp points; x neighbours come by shuffles, rows of
// other warps through shared memory. Per point and launch: one read and one write of storage, depth * taps
// fused multiply-adds, times the redundancy of the tile (halo depth * radius on all sides, depth * R planes
// of warm-up). Limited by issue slots and shared-memory accesses for stars, by FMA for boxes.
//
// Beside walls (a second instance of the code, taken by the blocks that touch one) ghost points are stepped
// with the tile: beyond a dirichlet face they keep its value, beyond a neumann face they take the mirrored
// stencil in the same order of taps, so that they have the bits of their images. Neumann faces across the
// march are the host's.

#include "arguments.hpp"
#include "constants.cuh"
#include "plane_ring.cuh"
#include "precision.cuh"
#include "walls.cuh"

namespace spsolve::cuda {

using namespace constants;

constexpr int R = radius[plane_axis], RY = radius[row_axis], RX = radius[column_axis];
constexpr int VY = rows_per_warp, VX = points_per_lane;

constexpr bool any_tap(bool (*test)(const Tap&)) {
  for (int k = 0; k < tap_count; ++k)
    if (test(taps[k])) return true;
  return false;
}
/// Whether completing a plane needs no neighbours in it.
constexpr bool pointwise_completion =
    R > 0 && !any_tap([](const Tap& tap) { return tap.offset[0] == R && (tap.offset[1] || tap.offset[2]); });
constexpr bool corners = any_tap([](const Tap& tap) { return tap.offset[1] && tap.offset[2]; });

__device__ inline void block_barrier() {
  if constexpr (warps == 1)
    __syncwarp();
  else
    __syncthreads();
}

/// The points of one thread.
struct Points {
  Compute at[VY][VX];
};
/// The same with the neighbours that taps reach.
struct Window {
  Compute at[VY + 2 * RY][VX + 2 * RX];
};

/// First and last rows of every warp, for the warps above and below.
struct EdgeRows {
  Compute at[warps][2 * RY > 0 ? 2 * RY : 1][tile_columns];
};
constexpr int shared_levels = RY == 0 || depth == 1 ? 0 : pointwise_completion ? depth - 1 : 1;

struct SharedMemory {
  PlaneRing::Storage ring;
  alignas(128) EdgeRows edges[2][shared_levels > 0 ? shared_levels : 1];
};
static_assert(sizeof(SharedMemory) == shared_bytes, "the host must ask for this much");
static_assert(RY <= VY && RX <= VX, "a neighbour must be no farther than the next warp and lane");

/// What the points of a thread are beside walls, one bit per row or column.
struct GhostMasks {
  unsigned mirrored = 0, low_value = 0, high_value = 0;
  __device__ void add(int bit, Ghost ghost) {
    if (ghost == Ghost::mirrored) mirrored |= 1u << bit;
    if (ghost == Ghost::low_value) low_value |= 1u << bit;
    if (ghost == Ghost::high_value) high_value |= 1u << bit;
  }
};
constexpr bool has_wall(int axis, Wall kind) { return walls[axis][0] == kind || walls[axis][1] == kind; }

template <bool beside_wall>
class March {
 public:
  __device__ March(const Arguments& a, SharedMemory& shared, long long first_row, long long first_column)
      : a_(a),
        shared_(shared),
        first_row_(first_row),
        first_column_(first_column),
        lane_(static_cast<int>(threadIdx.x) % 32),
        warp_(static_cast<int>(threadIdx.x) / 32) {
    if constexpr (beside_wall) {
      for (int v = 0; v < VY; ++v) rows_.add(v, place_of<row_axis>(row(v), a.shape[row_axis]).ghost);
      for (int c = 0; c < VX; ++c)
        columns_.add(c, place_of<column_axis>(column(c), a.shape[column_axis]).ghost);
    }
  }

  __device__ void run(long long begin, long long end) {
    const long long first_plane = begin - depth * R;
    const int planes = static_cast<int>(end - begin) + 2 * depth * R;
    PlaneRing ring(shared_.ring, a_, first_plane, first_row_, first_column_);
    const int ahead = PlaneRing::stages - 1;
    for (int i = 0; i < ahead && i < planes; ++i) ring.fetch(i);

    Points sums[depth][R > 0 ? 2 * R : 1] = {};
#pragma unroll 1
    for (int i = 0; i < planes; ++i) {
      const long long plane = first_plane + i;
      const auto input = ring.wait(i);
      Points level[depth + 1];
      read_input(level[0], input, plane);
      if constexpr (pointwise_completion) {
        static_for<0, depth>([&](auto l) {
          complete(level[l.value + 1], sums[l.value][0], level[l.value], plane - (l.value + 1) * R,
                   l.value + 1 < depth);
        });
        static_for<1, depth>([&](auto l) { share_rows(shared_.edges[i & 1][l.value - 1], level[l.value]); });
        block_barrier();
        if (i + ahead < planes) ring.fetch(i + ahead);
        static_for<0, depth>([&](auto l) {
          Window window;
          gather<l.value>(window, level[l.value], input, shared_.edges[i & 1][l.value > 0 ? l.value - 1 : 0],
                          plane);
          scatter(sums[l.value], window, plane - l.value * R);
        });
      } else {
        block_barrier();
        if (i + ahead < planes) ring.fetch(i + ahead);
        static_for<0, depth>([&](auto l) {
          EdgeRows& edges = shared_.edges[l.value & 1][0];
          if constexpr (l.value > 0 && RY > 0) {
            share_rows(edges, level[l.value]);
            block_barrier();
          }
          Window window;
          gather<l.value>(window, level[l.value], input, edges, plane);
          const long long completed = plane - (l.value + 1) * R;
          Points& next = level[l.value + 1];
          if constexpr (R > 0)
            next = sums[l.value][0];
          else
            start(next, completed);
          add_taps<R>(next, window);
          settle(next, completed, l.value + 1 < depth);
          scatter(sums[l.value], window, plane - l.value * R);
        });
      }
      const long long written = plane - depth * R;
      if (written >= begin) write_output(level[depth], written);
    }
  }

 private:
  __device__ long long row(int v) const { return first_row_ + warp_ * VY + v; }
  __device__ long long column(int c) const { return first_column_ + lane_ * VX + c; }

  /// Level 0 at the thread's points.
  __device__ void read_input(Points& points, const In (*input)[tile_columns], long long plane) const {
#pragma unroll
    for (int v = 0; v < VY; ++v) read_row(points.at[v], input, warp_ * VY + v);
    if constexpr (beside_wall) impose(points, plane);
  }

  __device__ void read_row(Compute (&to)[VX], const In (*input)[tile_columns], int tile_row) const {
    if constexpr (beside_wall && has_wall(column_axis, Wall::neumann)) {
#pragma unroll
      for (int c = 0; c < VX; ++c) {
        const long long x = place_of<column_axis>(column(c), a_.shape[column_axis]).index - first_column_;
        to[c] = read(input[tile_row][clamp(x, 0, tile_columns)]);
      }
    } else {
      using Vector = Pack<In, VX>;
      const Vector vector = *reinterpret_cast<const Vector*>(&input[tile_row][lane_ * VX]);
#pragma unroll
      for (int c = 0; c < VX; ++c) to[c] = read(vector.element[c]);
    }
  }
  static __device__ Compute read(const In& stored) {
    return operand<Stored>(static_cast<Compute>(value_of(stored)));
  }

  /// Level l + 1 where the last tap is its centre: no neighbours.
  __device__ void complete(Points& next, const Points& sums, const Points& level, long long plane,
                           bool further) const {
    next = sums;
    static_for<0, tap_count>([&](auto k) {
      constexpr Tap tap = taps[k.value];
      if constexpr (tap.offset[0] == R) {
#pragma unroll
        for (int v = 0; v < VY; ++v)
#pragma unroll
          for (int c = 0; c < VX; ++c)
            next.at[v][c] = fused(static_cast<Compute>(tap.weight), level.at[v][c], next.at[v][c]);
      }
    });
    settle(next, plane, further);
  }

  /// A completed level becomes the operand of the next one, or the result.
  __device__ void settle(Points& points, long long plane, bool further) const {
    if (!further) return;
#pragma unroll
    for (int v = 0; v < VY; ++v)
#pragma unroll
      for (int c = 0; c < VX; ++c) points.at[v][c] = operand<Stored>(points.at[v][c]);
    if constexpr (beside_wall) impose(points, plane);
  }

  /// Points beyond dirichlet faces take their values; planes decide before rows, rows before columns.
  __device__ void impose(Points& points, long long plane) const {
#pragma unroll
    for (int v = 0; v < VY; ++v)
      impose_row(points.at[v], plane, (rows_.low_value >> v) & 1, (rows_.high_value >> v) & 1);
  }

  __device__ void impose_row(Compute (&row)[VX], long long plane, bool row_low, bool row_high) const {
#pragma unroll
    for (int side = 0; side < 2; ++side)
      if (walls[column_axis][side] == Wall::dirichlet) {
        const unsigned mask = side ? columns_.high_value : columns_.low_value;
#pragma unroll
        for (int c = 0; c < VX; ++c) row[c] = (mask >> c) & 1 ? ghost(column_axis, side) : row[c];
      }
#pragma unroll
    for (int side = 0; side < 2; ++side)
      if (walls[row_axis][side] == Wall::dirichlet) {
#pragma unroll
        for (int c = 0; c < VX; ++c) row[c] = (side ? row_high : row_low) ? ghost(row_axis, side) : row[c];
      }
#pragma unroll
    for (int side = 0; side < 2; ++side)
      if (walls[plane_axis][side] == Wall::dirichlet) {
        const bool outside = side ? plane >= a_.shape[plane_axis] : plane < 0;
#pragma unroll
        for (int c = 0; c < VX; ++c) row[c] = outside ? ghost(plane_axis, side) : row[c];
      }
  }
  __device__ Compute ghost(int axis, int side) const { return static_cast<Compute>(a_.ghost[axis][side]); }

  /// The rows that other warps reach.
  __device__ void share_rows(EdgeRows& edges, const Points& points) const {
    using Vector = Pack<Compute, VX>;
#pragma unroll
    for (int k = 0; k < RY; ++k) {
      *reinterpret_cast<Vector*>(&edges.at[warp_][k][lane_ * VX]) =
          reinterpret_cast<const Vector&>(points.at[k]);
      *reinterpret_cast<Vector*>(&edges.at[warp_][RY + k][lane_ * VX]) =
          reinterpret_cast<const Vector&>(points.at[VY - RY + k]);
    }
  }

  /// The thread's points of level l with all neighbours that taps reach. What lies outside the tile is any
  /// value: it reaches no point that is written.
  template <int l>
  __device__ void gather(Window& window, const Points& points, const In (*input)[tile_columns],
                         const EdgeRows& edges, long long plane) const {
    static_for<0, VY + 2 * RY>([&](auto index) {
      constexpr int w = index.value, v = w - RY;
      constexpr bool own = v >= 0 && v < VY;
      Compute row[VX];
      if constexpr (own) {
#pragma unroll
        for (int c = 0; c < VX; ++c) row[c] = points.at[v][c];
      } else {
        const int neighbour = v < 0 ? (warp_ > 0 ? warp_ - 1 : 0) : (warp_ + 1 < warps ? warp_ + 1 : warp_);
        if constexpr (l == 0) {
          const int tile_row = neighbour * VY + (v < 0 ? VY + v : v - VY);
          read_row(row, input, tile_row);
          if constexpr (beside_wall) {
            const Ghost ghost = place_of<row_axis>(first_row_ + tile_row, a_.shape[row_axis]).ghost;
            impose_row(row, plane, ghost == Ghost::low_value, ghost == Ghost::high_value);
          }
        } else {
          const auto vector = *reinterpret_cast<const Pack<Compute, VX>*>(
              &edges.at[neighbour][v < 0 ? 2 * RY + v : v - VY][lane_ * VX]);
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
  }

  /// Adds the taps of the plane `dz` above to a plane's sums.
  template <int dz>
  __device__ void add_taps(Points& sums, const Window& window) const {
    static_for<0, tap_count>([&](auto k) {
      constexpr Tap tap = taps[k.value];
      if constexpr (tap.offset[0] == dz) {
#pragma unroll
        for (int v = 0; v < VY; ++v)
#pragma unroll
          for (int c = 0; c < VX; ++c)
            sums.at[v][c] = fused(static_cast<Compute>(tap.weight),
                                  neighbour<tap.offset[1], tap.offset[2]>(window, v, c), sums.at[v][c]);
      }
    });
  }

  /// The operand at offset (dy, dx) of a point; for a ghost point beyond a neumann face the mirrored offset.
  template <int dy, int dx>
  __device__ Compute neighbour(const Window& window, int v, int c) const {
    const Compute plain = window.at[v + RY + dy][c + RX + dx];
    if constexpr (!beside_wall) return plain;
    constexpr bool flip_y = dy != 0 && has_wall(row_axis, Wall::neumann);
    constexpr bool flip_x = dx != 0 && has_wall(column_axis, Wall::neumann);
    const bool row_mirrored = (rows_.mirrored >> v) & 1, column_mirrored = (columns_.mirrored >> c) & 1;
    Compute value = plain;
    if constexpr (flip_y) value = row_mirrored ? window.at[v + RY - dy][c + RX + dx] : value;
    if constexpr (flip_x) {
      Compute across = window.at[v + RY + dy][c + RX - dx];
      if constexpr (flip_y) across = row_mirrored ? window.at[v + RY - dy][c + RX - dx] : across;
      value = column_mirrored ? across : value;
    }
    return value;
  }

  /// Extends the sums of the planes z - R + 1 .. z + R of the next level by plane z of this one.
  __device__ void scatter(Points (&sums)[R > 0 ? 2 * R : 1], const Window& window, long long plane) const {
    static_for<0, 2 * R>([&](auto j) {
      if constexpr (j.value + 1 < 2 * R)
        sums[j.value] = sums[j.value + 1];
      else
        start(sums[j.value], plane + R);
      add_taps<R - 1 - j.value>(sums[j.value], window);
    });
  }

  /// What every sum begins with: the source, or zero.
  __device__ void start(Points& sums, long long plane) const {
#pragma unroll
    for (int v = 0; v < VY; ++v)
#pragma unroll
      for (int c = 0; c < VX; ++c) {
        if constexpr (with_source)
          sums.at[v][c] = source(plane, row(v), column(c));
        else
          sums.at[v][c] = Compute(0);
      }
  }

  __device__ Compute source(long long plane, long long row, long long column) const {
    const View& s = a_.source;
    if constexpr (beside_wall) {
      row = place_of<row_axis>(row, a_.shape[row_axis]).index;
      column = place_of<column_axis>(column, a_.shape[column_axis]).index;
    }
    return static_cast<const Compute*>(
        s.data)[(clamp(plane, s.begin[0], s.end[0]) - s.begin[0]) * s.stride[0] +
                (clamp(row, s.begin[1], s.end[1]) - s.begin[1]) * s.stride[1] +
                (clamp(column, s.begin[2], s.end[2]) - s.begin[2])];
  }

  /// Writes the points of a plane that belong to this tile and to the region.
  __device__ void write_output(const Points& points, long long plane) const {
    constexpr int margin = column_margin;
    const Region& region = a_.region;
    const int first = warp_ * VY, x = lane_ * VX;
    const long long left = region.begin[2] - first_column_, right = region.end[2] - first_column_;
    const int x_begin = left > margin ? static_cast<int>(left < tile_columns ? left : tile_columns) : margin;
    const int x_end = right < tile_columns - margin ? static_cast<int>(right) : tile_columns - margin;
#pragma unroll
    for (int v = 0; v < VY; ++v) {
      const bool mine = first + v >= depth * RY && first + v < tile_rows - depth * RY;
      if (!mine || row(v) < region.begin[1] || row(v) >= region.end[1]) continue;
      Out* out = static_cast<Out*>(a_.out.data) + (plane - a_.out.begin[0]) * a_.out.stride[0] +
                 (row(v) - a_.out.begin[1]) * a_.out.stride[1] + (column(0) - a_.out.begin[2]);
      if (x >= x_begin && x + VX <= x_end) {
        Pack<Out, VX> vector;
#pragma unroll
        for (int c = 0; c < VX; ++c) store(vector.element[c], points.at[v][c]);
        *reinterpret_cast<Pack<Out, VX>*>(out) = vector;
      } else {
#pragma unroll
        for (int c = 0; c < VX; ++c)
          if (x + c >= x_begin && x + c < x_end) store(out[c], points.at[v][c]);
      }
    }
  }

  const Arguments& a_;
  SharedMemory& shared_;
  long long first_row_, first_column_;
  int lane_, warp_;
  GhostMasks rows_, columns_;
};

/// Whether the tile, halo included, reaches beyond a wall face.
__device__ inline bool reaches_wall(int axis, long long begin, long long end, long long n) {
  return walls[axis][0] != Wall::none && (begin < 0 || end > n);
}

}  // namespace spsolve::cuda

extern "C" __global__ void __launch_bounds__(32 * spsolve::cuda::warps,
                                             spsolve::cuda::blocks_per_multiprocessor)
    march(const __grid_constant__ spsolve::cuda::Arguments a) {
  using namespace spsolve::cuda;
  extern __shared__ __align__(128) unsigned char memory[];
  SharedMemory& shared = *reinterpret_cast<SharedMemory*>(memory);
  const Region& region = a.region;
  const long long first_column =
      a.first_column + blockIdx.x * static_cast<long long>(tile_columns - 2 * column_margin);
  const long long first_row =
      region.begin[1] - depth * RY + blockIdx.y * static_cast<long long>(tile_rows - 2 * depth * RY);
  const long long begin = region.begin[0] + blockIdx.z * a.planes_per_block;
  const long long end =
      begin + a.planes_per_block < region.end[0] ? begin + a.planes_per_block : region.end[0];
  const bool beside_wall = reaches_wall(plane_axis, begin - depth * R, end + depth * R, a.shape[0]) ||
                           reaches_wall(row_axis, first_row, first_row + tile_rows, a.shape[1]) ||
                           reaches_wall(column_axis, first_column, first_column + tile_columns, a.shape[2]);
  if (beside_wall)
    March<true>(a, shared, first_row, first_column).run(begin, end);
  else
    March<false>(a, shared, first_row, first_column).run(begin, end);
}
