// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_unit.hpp"

#include <omp.h>
#include <unistd.h>

#include <memory>
#include <vector>

#include "kernels/correlate_row.hpp"

namespace spsolve {
namespace {

/// What an intermediate time level holds: fp32 for 16-bit storage, otherwise storage itself (tf32 keeps its rounding
/// of operands).
template <class Storage>
using Level = std::conditional_t<sizeof(Storage) == 2, float, Storage>;

/// Tiles stream along the slowest axis that the grid has, and are cut across it: (stream, cross) is (z, y) in 3D and
/// (y, z) below, where z has one point.
struct Axes {
  int stream, cross;

  explicit Axes(const Domain& domain) : stream(domain.dimensions == 3 ? z_axis : y_axis), cross(z_axis + y_axis - stream) {}
  Index3 point(std::int64_t s, std::int64_t c, std::int64_t x) const {
    return stream == z_axis ? Index3{s, c, x} : Index3{c, s, x};
  }
};

/// A range of x.
struct Range {
  std::int64_t begin, end;
};

/// Fills the ghosts of one row that lie in `memory`, beside the wall faces in x whose mirrored points are all in
/// `known`; row points at x = 0.
template <class T>
void fill_row_ghosts(T* row, const Domain& domain, std::int64_t radius, Range known, Range memory,
                     const std::array<T, 2>& constant) {
  const std::int64_t n = domain.shape[x_axis], mirrored = std::min(radius, n);
  const auto ghost = [&](std::int64_t x, Side side) {
    row[x] = domain.faces[x_axis][side].kind == BoundaryKind::dirichlet ? constant[side] : row[mirror(x, n)];
  };
  if (domain.periodic(x_axis)) return;
  if (known.begin <= 0 && known.end >= mirrored)
    for (std::int64_t x = std::max(-radius, memory.begin); x < 0; ++x) ghost(x, low);
  if (known.end >= n && known.begin <= n - mirrored)
    for (std::int64_t x = n; x < std::min(n + radius, memory.end); ++x) ghost(x, high);
}

/// The ghost value of every face as T, rounded to storage first so that all time levels see the same number.
template <class T, class Storage>
std::array<std::array<T, 2>, 3> ghost_values(const Domain& domain) {
  std::array<std::array<T, 2>, 3> values{};
  for (int axis = 0; axis < axis_count; ++axis)
    for (const Side side : {low, high}) {
      const Storage stored = to_storage<Storage>(domain.faces[axis][side].value);
      if constexpr (std::is_same_v<T, Storage>) values[axis][side] = stored;
      else values[axis][side] = static_cast<T>(stored);
    }
  return values;
}

/// The newest planes of one intermediate time level of one tile, with x ghosts; plane s takes the place of s - planes.
template <class T>
class PlaneRing {
 public:
  PlaneRing(std::int64_t planes, const Index3& begin, std::int64_t rows, std::int64_t row_points)
      : planes_(planes), begin_(begin), rows_(rows), row_points_(row_points), memory_(static_cast<std::size_t>(planes * rows * row_points)) {}

  /// Address of x = 0 of a row, which may lie outside the memory.
  T* row(std::int64_t s, std::int64_t c) {
    return memory_.data() + ((wrap(s, planes_) * rows_ + c - begin_[1]) * row_points_ - begin_[2]);
  }

 private:
  std::int64_t planes_;
  Index3 begin_;  // of the memory: stream (unused), cross, x
  std::int64_t rows_, row_points_;
  std::vector<T> memory_;
};

/// One launch on one region: everything that its tiles share.
template <class Storage>
class Launch {
  using Mid = Level<Storage>;
  using Sum = Compute<Storage>;
  /// Weights are kept in the precision of the sums; only tf32 promises rounded operands.
  using Weight = std::conditional_t<std::is_same_v<Storage, Tf32>, Tf32, Sum>;

 public:
  Launch(const Domain& domain, const Stencil& stencil, const Field* source, const Field& in, Field& out, int steps)
      : domain_(domain), axes_(domain), radius_(stencil.radius()), source_(source), in_(in), out_(out), steps_(steps),
        stored_ghosts_(ghost_values<Storage, Storage>(domain)), level_ghosts_(ghost_values<Mid, Storage>(domain)) {
    for (const Tap& tap : stencil.taps()) {
      const std::int64_t s = tap.offset[axes_.stream], c = tap.offset[axes_.cross];
      if (rows_.empty() || rows_.back().s != s || rows_.back().c != c) rows_.push_back({s, c});
      taps_.push_back({rows_.size() - 1, tap.offset[x_axis]});
      weights_.push_back(static_cast<Sum>(to_storage<Weight>(tap.weight)));
    }
  }

  void run(const Box& region) const {
    const Index3 tile = tile_extent(region);
    Index3 tiles;
    for (int axis = 0; axis < axis_count; ++axis) tiles[axis] = (region.extent()[axis] + tile[axis] - 1) / tile[axis];
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < volume(tiles); ++i) {
      const Index3 at{i / (tiles[1] * tiles[2]), i / tiles[2] % tiles[1], i % tiles[2]};
      Box part;
      for (int axis = 0; axis < axis_count; ++axis) {
        // Parts of equal length: no thin last tile.
        part.begin[axis] = region.begin[axis] + region.extent()[axis] * at[axis] / tiles[axis];
        part.end[axis] = region.begin[axis] + region.extent()[axis] * (at[axis] + 1) / tiles[axis];
      }
      stream(part);
    }
  }

 private:
  struct RowOffset {
    std::int64_t s, c;
  };
  struct RowTap {
    std::size_t row;  // index in rows_
    std::int64_t x;
  };

  /// Where time level `level` (1 .. steps) must be known for the tile: grown by what later steps reach, cut off at walls.
  Box level_box(const Box& tile, int level) const {
    Box box = grow(tile, (steps_ - level) * radius_);
    for (int axis = 0; axis < axis_count; ++axis)
      if (!domain_.periodic(axis)) {
        box.begin[axis] = std::max<std::int64_t>(box.begin[axis], 0);
        box.end[axis] = std::min(box.end[axis], domain_.shape[axis]);
      }
    return box;
  }

  /// Tiles whose working set, 2r + 1 planes of each level, fits half the second-level cache; as long as possible in
  /// x, and enough of them to keep the threads busy.
  Index3 tile_extent(const Box& region) const {
    const std::int64_t cache = std::max<std::int64_t>(sysconf(_SC_LEVEL2_CACHE_SIZE), 256 << 10);
    const std::int64_t planes = steps_ * (2 * radius_[axes_.stream] + 1) + 1;
    const std::int64_t points = std::max<std::int64_t>(cache / 2 / (planes * static_cast<std::int64_t>(sizeof(Mid))), 64);
    Index3 tile = region.extent();
    const auto pieces = [](std::int64_t extent, std::int64_t most) { return (extent + most - 1) / most; };
    const std::int64_t overlap = 2 * (steps_ - 1) * radius_[x_axis];
    const std::int64_t longest = std::max<std::int64_t>(std::min<std::int64_t>(points, 4096), 16 * overlap + 4 * radius_[x_axis] + 64);
    tile[x_axis] = pieces(tile[x_axis], pieces(tile[x_axis], longest));
    tile[axes_.cross] = std::min(tile[axes_.cross], std::max<std::int64_t>(points / (tile[x_axis] + overlap), 1));
    // A cut along the stream axis costs a warm-up of (steps - 1) * radius planes: only where threads would idle.
    const std::int64_t threads = omp_get_max_threads();
    const std::int64_t across = pieces(region.extent()[axes_.cross], tile[axes_.cross]) *
                                pieces(region.extent()[x_axis], tile[x_axis]);
    const std::int64_t wanted = across >= 4 * threads || threads == 1 ? 1 : pieces(4 * threads, across);
    const std::int64_t shortest = 8 * steps_ * radius_[axes_.stream] + 8;
    tile[axes_.stream] = std::max(pieces(tile[axes_.stream], wanted), std::min(shortest, tile[axes_.stream]));
    return tile;
  }

  void stream(const Box& tile) const {
    const std::int64_t r = radius_[axes_.stream];
    std::vector<Box> boxes;
    for (int level = 1; level <= steps_; ++level) boxes.push_back(level_box(tile, level));
    std::vector<PlaneRing<Mid>> rings;
    for (int level = 1; level < steps_; ++level) {
      const Box& box = boxes[level - 1];
      const std::int64_t ghosts = radius_[x_axis];
      rings.emplace_back(2 * r + 1, Index3{0, box.begin[axes_.cross], box.begin[x_axis] - ghosts},
                         box.extent()[axes_.cross], box.extent()[x_axis] + 2 * ghosts);
    }
    Scratch scratch(*this, boxes.front());
    const std::int64_t front_end = boxes.back().end[axes_.stream] + (steps_ - 1) * r;
    for (std::int64_t front = boxes.front().begin[axes_.stream]; front < front_end; ++front)
      for (int level = 1; level <= steps_; ++level) {
        const Box& box = boxes[level - 1];
        const std::int64_t s = front - (level - 1) * r;
        if (s < box.begin[axes_.stream] || s >= box.end[axes_.stream]) continue;
        const auto from_field = [&](std::int64_t i, std::int64_t c) { return in_.at<Storage>(axes_.point(i, c, 0)); };
        const auto from_ring = [&](std::int64_t i, std::int64_t c) { return rings[level - 2].row(i, c); };
        const auto to_field = [&](std::int64_t c) { return out_.at<Storage>(axes_.point(s, c, 0)); };
        const auto to_ring = [&](std::int64_t c) { return rings[level - 1].row(s, c); };
        if (level == 1 && level == steps_) plane<Storage>(box, s, from_field, to_field, scratch.stored);
        else if (level == 1) plane<Storage>(box, s, from_field, to_ring, scratch.stored);
        else if (level < steps_) plane<Mid>(box, s, from_ring, to_ring, scratch.levels);
        else plane<Mid>(box, s, from_ring, to_field, scratch.levels);
      }
  }

  /// Rows of a constant for the ghosts beyond dirichlet faces across x, one per face, and room for row addresses.
  template <class T>
  struct GhostRows {
    std::array<std::array<std::vector<T>, 2>, 3> rows;
    std::int64_t begin = 0;

    GhostRows(const Launch& launch, const Box& box, const std::array<std::array<T, 2>, 3>& values)
        : begin(box.begin[x_axis] - launch.radius_[x_axis]) {
      const std::int64_t points = box.extent()[x_axis] + 2 * launch.radius_[x_axis];
      for (const int axis : {z_axis, y_axis})
        for (const Side side : {low, high})
          if (launch.domain_.faces[axis][side].kind == BoundaryKind::dirichlet)
            rows[axis][side].assign(static_cast<std::size_t>(points), values[axis][side]);
    }
    const T* row(int axis, Side side) const { return rows[axis][side].data() - begin; }
  };
  struct Scratch {
    GhostRows<Storage> stored;
    GhostRows<Mid> levels;

    Scratch(const Launch& launch, const Box& box)
        : stored(launch, box, launch.stored_ghosts_), levels(launch, box, launch.level_ghosts_) {}
  };

  /// The row (s, c) of the level below, or what lies there beyond a wall: the last axis of x, y, z decides first.
  template <class T, class From>
  const T* row_or_ghost(std::int64_t s, std::int64_t c, const From& from, const GhostRows<T>& ghosts) const {
    Index3 p = axes_.point(s, c, 0);
    for (const int axis : {z_axis, y_axis}) {
      const std::int64_t n = domain_.shape[axis];
      if ((p[axis] >= 0 && p[axis] < n) || domain_.periodic(axis)) continue;
      const Side side = p[axis] < 0 ? low : high;
      if (domain_.faces[axis][side].kind == BoundaryKind::dirichlet) return ghosts.row(axis, side);
      p[axis] = mirror(p[axis], n);
    }
    return from(p[axes_.stream], p[axes_.cross]);
  }

  /// One plane of one time level: from(s, c) and to(c) give the address of x = 0 of a row.
  template <class T, class From, class To>
  void plane(const Box& box, std::int64_t s, const From& from, const To& to, const GhostRows<T>& ghosts) const {
    std::vector<const T*> rows(rows_.size()), taps(taps_.size());
    const std::int64_t x = box.begin[x_axis], n = box.extent()[x_axis];
    const Range all{x - radius_[x_axis], x + n + radius_[x_axis]};  // rows written have room for all ghosts
    for (std::int64_t c = box.begin[axes_.cross]; c < box.end[axes_.cross]; ++c) {
      for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = row_or_ghost<T>(s + rows_[i].s, c + rows_[i].c, from, ghosts);
      for (std::size_t k = 0; k < taps.size(); ++k) taps[k] = rows[taps_[k].row] + taps_[k].x + x;
      const Sum* source = source_ ? source_->at<Sum>(axes_.point(s, c, x)) : nullptr;
      auto* row = to(c);
      correlate_row(row + x, n, taps.data(), weights_.data(), static_cast<int>(taps.size()), source);
      if constexpr (std::is_same_v<decltype(row), Storage*>)
        fill_row_ghosts(row, domain_, radius_[x_axis], {x, x + n}, all, stored_ghosts_[x_axis]);
      else
        fill_row_ghosts(row, domain_, radius_[x_axis], {x, x + n}, all, level_ghosts_[x_axis]);
    }
  }

  const Domain& domain_;
  Axes axes_;
  Index3 radius_;
  const Field* source_;
  const Field& in_;
  Field& out_;
  int steps_;
  std::array<std::array<Storage, 2>, 3> stored_ghosts_;
  std::array<std::array<Mid, 2>, 3> level_ghosts_;
  std::vector<RowOffset> rows_;  // the distinct (stream, cross) offsets of the taps
  std::vector<RowTap> taps_;
  std::vector<Sum> weights_;
};

}  // namespace

CpuUnit::CpuUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source)
    : domain_(domain), stencil_(stencil), precision_(precision), source_(source) {}

void CpuUnit::fill_ghosts(Field& field, const Box& valid) const {
  if (domain_.periodic(x_axis) || valid.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    const auto constant = ghost_values<Storage, Storage>(domain_)[x_axis];
    const Index3 extent = valid.extent();
    const Range memory{field.allocated().begin[x_axis], field.allocated().end[x_axis]};
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < extent[0] * extent[1]; ++row)
      fill_row_ghosts(field.at<Storage>({valid.begin[0] + row / extent[1], valid.begin[1] + row % extent[1], 0}), domain_,
                      stencil_.radius()[x_axis], memory, memory, constant);
  });
}

void CpuUnit::advance(const Field& in, Field& out, const Box& region, int steps) const {
  if (region.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    Launch<Storage>(domain_, stencil_, source_, in, out, steps).run(region);
  });
}

}  // namespace spsolve
