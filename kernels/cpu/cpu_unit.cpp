// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/cpu_unit.hpp"

#include <optional>
#include <span>
#include <vector>

#include "kernels/cpu/correlate_rows.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/make_tap_schedule.hpp"
#include "kernels/cpu/plane_ring.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/cpu/stream_levels.hpp"
#include "kernels/sparse/round_weights.hpp"

namespace spsolve {
namespace {

/// Is the type of the values at intermediate time levels: fp32 for 16-bit storage, otherwise the storage type
/// (tf32 keeps its rounding of operands).
template <class Storage>
using Intermediate = std::conditional_t<sizeof(Storage) == 2, float, Storage>;

/// Gives the rows of a field the interface of a PlaneRing.
template <class T>
class FieldPlanes {
 public:
  FieldPlanes(T* origin, const Index3& strides, const Axes& axes)
      : origin_(origin), stream_(strides[axes.stream]), cross_(strides[axes.cross]) {}
  std::int64_t pitch() const { return cross_; }
  T* row(std::int64_t s, std::int64_t c) const { return origin_ + (s * stream_ + c * cross_); }

 private:
  T* origin_;  // address of the point (0, 0, 0), which may lie outside the memory
  std::int64_t stream_, cross_;
};

/// Holds the data that all tiles of one launch on one region share.
template <class Storage>
class StencilLaunch {
  using Mid = Intermediate<Storage>;

 public:
  /// `group` is the schedule of groups of rows, or null.
  StencilLaunch(const Domain& domain, const Index3& radius, const TapSchedule<double>& one_row,
                const TapSchedule<double>* group, const Field* source, const Field& in, Field& out, int steps)
      : domain_(domain),
        axes_(domain),
        radius_(radius),
        source_(source),
        steps_(steps),
        in_rows_(in.at<Storage>({0, 0, 0}), in.strides(), axes_),
        out_rows_(out.at<Storage>({0, 0, 0}), out.strides(), axes_),
        non_temporal_(exceeds_cache(in.bytes() + out.bytes())),
        stored_ghosts_(ghost_values<Storage, Storage>(domain)),
        level_ghosts_(ghost_values<Mid, Storage>(domain)),
        one_row_(converted<Compute<Storage>>(one_row)) {
    if (group) group_ = converted<Compute<Storage>>(*group);
  }

  void run(const Box& region) const {
    // The rest of the cache holds planes that stream in and out.
    const std::int64_t planes = planes_of_stencil(steps_, radius_[axes_.stream]);
    const auto tiles = CpuTiles::for_steps(region, axes_, radius_, steps_, planes, 1.0 / 3, sizeof(Mid));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < tiles.count(); ++i) stream(tiles[i]);
  }

 private:
  void stream(const Box& tile) const {
    const std::int64_t r = radius_[axes_.stream];
    std::vector<Box> boxes = level_boxes(domain_, tile, radius_, steps_);
    std::vector<PlaneRing<Mid>> rings;
    for (int level = 1; level < steps_; ++level)
      rings.emplace_back(2 * r + 1, axes_, boxes[level - 1], radius_[x_axis], tile.begin[x_axis]);
    Scratch scratch(*this, boxes.front());
    if (group_ && (!group_->star || tile.extent()[x_axis] >= shortest_star_row))
      for (std::int64_t& s = boxes.front().begin[axes_.stream];
           s + max_rows <= boxes.front().end[axes_.stream]; s += max_rows)
        planes(*group_, boxes.front(), s, in_rows_, out_rows_, scratch.stored);
    stream_levels(boxes, axes_.stream, r, [&](int level, std::int64_t s) {
      const Box& box = boxes[level - 1];
      if (level == 1 && level == steps_)
        planes(one_row_, box, s, in_rows_, out_rows_, scratch.stored);
      else if (level == 1)
        planes(one_row_, box, s, in_rows_, rings[0], scratch.stored);
      else if (level < steps_)
        planes(one_row_, box, s, rings[level - 2], rings[level - 1], scratch.levels);
      else
        planes(one_row_, box, s, rings[level - 2], out_rows_, scratch.levels);
    });
  }

  /// Holds constant rows for the ghosts beyond dirichlet faces across z and y, one per face.
  template <class T>
  struct GhostRows {
    std::array<std::array<std::vector<T>, 2>, 3> rows;
    std::int64_t begin = 0;
    std::vector<const T*> inputs;  // start addresses of the inputs for the current rows

    GhostRows(const StencilLaunch& launch, const Box& box, const std::array<std::array<T, 2>, 3>& values)
        : begin(box.begin[x_axis] - launch.radius_[x_axis]),
          inputs(std::max(launch.one_row_.inputs.size(), launch.group_ ? launch.group_->inputs.size() : 0)) {
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

    Scratch(const StencilLaunch& launch, const Box& box)
        : stored(launch, box, launch.stored_ghosts_), levels(launch, box, launch.level_ghosts_) {}
  };

  /// Returns the row (s, c) of the level below or, beyond a wall, its ghost row. z is resolved before y,
  /// since the axis that is padded last covers the corners.
  template <class T, class From>
  const T* row_or_ghost(std::int64_t s, std::int64_t c, const From& from, const GhostRows<T>& ghosts) const {
    Index3 p = axes_.point(s, c, 0);
    for (const int axis : {z_axis, y_axis}) {
      const std::int64_t n = domain_.shape[axis];
      if ((p[axis] >= 0 && p[axis] < n) || domain_.periodic(axis)) continue;
      const Side side = p[axis] < 0 ? low : high;
      if (domain_.faces[axis][side].kind == BoundaryKind::dirichlet) return ghosts.row(axis, side);
      p[axis] = reflect(p[axis], n);
    }
    return from.row(p[axes_.stream], p[axes_.cross]);
  }

  /// Returns true if no tap from the range [begin, end) of `axis` reaches beyond a wall.
  bool inside_walls(int axis, std::int64_t begin, std::int64_t end) const {
    return domain_.periodic(axis) || (begin >= radius_[axis] && end <= domain_.shape[axis] - radius_[axis]);
  }

  /// Computes the planes from s on of one time level, as many as the schedule has rows, from the rows of the
  /// level below.
  template <class T, class From, class To>
  void planes(const TapSchedule<Compute<Storage>>& schedule, const Box& box, std::int64_t s, const From& from,
              const To& to, GhostRows<T>& ghosts) const {
    using Out = std::remove_pointer_t<decltype(to.row(0, 0))>;
    constexpr bool from_field = std::is_same_v<From, FieldPlanes<const Storage>>,
                   to_field = std::is_same_v<To, FieldPlanes<Storage>>;
    const auto inputs = std::span(ghosts.inputs).first(schedule.inputs.size());
    const std::int64_t x = box.begin[x_axis], n = box.extent()[x_axis], next = s + schedule.rows;
    const bool inside = inside_walls(axes_.stream, s, next);
    const Index3 leading = schedule.inputs.back();
    Rows<Out, T> rows{n, &schedule, inputs.data()};
    const std::int64_t reach = radius_[x_axis];
    const Range computed{x, x + n};
    [[maybe_unused]] Range past{};  // in all rows, which lie equally far from cache lines
    if constexpr (to_field)
      if (non_temporal_) {
        past = points_past_caches(to.row(s, box.begin[axes_.cross]), domain_, reach, computed);
        rows.past_caches = {past.begin - x, past.end - x};
      }
    // Fetches cost stars with few or long rows, which the hardware follows by itself, 2 to 6%.
    const std::int64_t newest = leading[0] - schedule.rows + 1;
    const bool fetches = !schedule.star || (newest > 1 && box.extent()[axes_.cross] > 1);
    for (std::int64_t c = box.begin[axes_.cross]; c < box.end[axes_.cross]; ++c) {
      if (c > box.begin[axes_.cross] && inside && inside_walls(axes_.cross, c - 1, c + 1))
        for (const T*& input : inputs) input += from.pitch();
      else
        for (std::size_t k = 0; k < inputs.size(); ++k)
          inputs[k] = row_or_ghost(s + schedule.inputs[k][0], c + schedule.inputs[k][1], from, ghosts) +
                      schedule.inputs[k][2] + x;
      for (int p = 0; p < schedule.rows; ++p) {
        rows.out[p] = to.row(s + p, c) + x;
        if (source_) rows.source[p] = source_->at<Compute<Storage>>(axes_.point(s + p, c, x));
        if constexpr (from_field)  // rings are in cache
          if (fetches) rows.leading[p] = row_or_ghost(s + p + newest, c + leading[1], from, ghosts) + x;
      }
      if constexpr (to_field)
        if (non_temporal_) {
          const bool last = c + 1 == box.end[axes_.cross];
          for (int p = 0; p < schedule.rows; ++p)
            fetch_row_ends(to.row((last ? next : s) + p, last ? box.begin[axes_.cross] : c + 1), domain_,
                           reach, computed, past);
        }
      correlate_rows_widest(rows);
      const Range all{x - reach, x + n + reach};  // written rows have room for all ghosts
      for (int p = 0; p < schedule.rows; ++p) {
        if constexpr (std::is_same_v<Out, Storage>)
          fill_row_ghosts(rows.out[p] - x, domain_, reach, computed, all, stored_ghosts_[x_axis]);
        else
          fill_row_ghosts(rows.out[p] - x, domain_, reach, computed, all, level_ghosts_[x_axis]);
      }
    }
  }

  const Domain& domain_;
  Axes axes_;
  Index3 radius_;
  const Field* source_;
  int steps_;
  FieldPlanes<const Storage> in_rows_;
  FieldPlanes<Storage> out_rows_;
  bool non_temporal_;
  std::array<std::array<Storage, 2>, 3> stored_ghosts_;
  std::array<std::array<Mid, 2>, 3> level_ghosts_;
  TapSchedule<Compute<Storage>> one_row_;
  std::optional<TapSchedule<Compute<Storage>>> group_;  // sums rows of neighbouring planes
};

}  // namespace

CpuUnit::CpuUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source)
    : domain_(domain), stencil_(step_weights(stencil, precision)), precision_(precision), source_(source) {
  const std::vector<Index3> offsets = tap_offsets(stencil_, Axes(domain));
  std::vector<double> weights;
  for (const Tap& tap : stencil_.taps()) weights.push_back(tap.weight);
  one_row_ = make_tap_schedule(offsets, weights, 1);
  group_ = group_schedule(offsets, weights, precision);
}

void CpuUnit::fill_ghosts(const State& state, const Box& valid) const {
  Field& field = state.front();
  if (domain_.periodic(x_axis) || valid.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    const auto constant = ghost_values<Storage, Storage>(domain_)[x_axis];
    const Range memory{field.allocated().begin[x_axis], field.allocated().end[x_axis]};
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < row_count(valid); ++row) {
      const Index3 p = row_begin(valid, row);
      fill_row_ghosts(field.at<Storage>({p[z_axis], p[y_axis], 0}), domain_, stencil_.radius()[x_axis],
                      memory, memory, constant);
    }
  });
}

void CpuUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (region.empty()) return;
  with_storage(precision_, [&]<class Storage>() {
    StencilLaunch<Storage>(domain_, stencil_.radius(), one_row_, steps == 1 && group_ ? &*group_ : nullptr,
                           source_, in.front(), out.front(), steps)
        .run(region);
  });
}

}  // namespace spsolve
