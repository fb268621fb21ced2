// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/bound_program.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/plane_ring.hpp"
#include "kernels/cpu/program_queries.hpp"
#include "kernels/cpu/statement_group.hpp"
#include "kernels/cpu/stream_levels.hpp"
#include "kernels/cpu/system_arrays.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/operator/system_facts.hpp"
#include "kernels/state.hpp"

namespace spsolve {

/// Takes a region through several steps of a system whose statements are one group. Each tile is streamed
/// along the slowest axis once (stream_levels()). Rings in cache hold the newest planes of the levels between
/// the first and the last. Neighbouring tiles compute the points of these levels around them again.
///
/// All steps are single steps, so results have their bits.
template <class Storage>
class FusedSystemLaunch {
  using T = Compute<Storage>;
  using Arrays = SystemArrays<Storage>;

 public:
  /// `previous` holds, for each field, the index in `in` of its previous values. `scalars` hold the scalars
  /// of each step. `out` holds the fields, then the previous values in the order of `in`.
  FusedSystemLaunch(const StatementGroup& group, const SystemFacts& facts, const std::vector<Domain>& fields,
                    const std::vector<const Field*>& coefficients, const std::vector<std::size_t>& previous,
                    std::vector<std::vector<T>> scalars, const ConstState& in, const State& out,
                    bool bypasses_caches)
      : group_(group),
        facts_(facts),
        fields_(fields),
        coefficients_(coefficients),
        previous_(previous),
        scalars_(std::move(scalars)),
        steps_(static_cast<int>(scalars_.size())),
        in_(in),
        out_(out),
        bypasses_caches_(bypasses_caches),
        axes_(fields.front()),
        radius_(halo_radius(facts, fields.front())),
        leading_(leading_operands(group.joint, axes_.stream)) {}

  void run(const Box& region) const {
    // Few of the planes stream in, so the others may fill most of the cache.
    constexpr double share = 0.75;
    const std::int64_t planes = planes_of(group_.joint, axes_.stream, facts_, radius_[axes_.stream], steps_);
    const auto tiles = CpuTiles::for_steps(region, axes_, radius_, steps_, planes, share, sizeof(T));
#pragma omp parallel for schedule(dynamic)
    for (std::int64_t i = 0; i < tiles.count(); ++i)
      stream(tiles[i], {region.begin[x_axis], region.end[x_axis]});
  }

 private:
  /// Returns whether equations read the values of a field one step before.
  bool has_previous(std::size_t field) const { return !facts_.reach_previous[field].empty(); }

  /// Returns true if a tile has whole periodic rows, whose ghost points are copies of the points at the other
  /// end.
  bool wraps_rows(const Box& tile) const {
    const Domain& domain = fields_.front();
    return domain.periodic(x_axis) && tile.extent()[x_axis] == domain.shape[x_axis];
  }

  using Rings = std::vector<std::vector<PlaneRing<Storage>>>;  // [level][field]

  /// Returns the rows of every time level, from the level before the state to the last one. The function
  /// makes the rings of the levels between.
  std::vector<typename Arrays::FieldRows> make_rows(const Box& tile, const std::vector<Box>& boxes,
                                                    Rings& rings) const {
    std::vector<typename Arrays::FieldRows> rows(boxes.size() + 2);
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      rows[0].emplace_back(in_[has_previous(field) ? previous_[field] : field]);
      rows[1].emplace_back(in_[field]);
      rows.back().emplace_back(out_[field]);
    }
    for (std::size_t level = 0; level + 1 < boxes.size(); ++level) {
      auto& of_level = rings.emplace_back();
      for (std::size_t field = 0; field < fields_.size(); ++field)
        rows[level + 2].emplace_back(
            of_level.emplace_back(planes_of_ring(facts_, field, radius_[axes_.stream]), axes_, boxes[level],
                                  radius_[x_axis], tile.begin[x_axis]),
            axes_);
    }
    return rows;
  }

  /// `whole` is the range of the region along x.
  void stream(const Box& tile, const Range& whole) const {
    Index3 around = radius_;
    if (wraps_rows(tile)) around[x_axis] = 0;
    const std::vector<Box> boxes = level_boxes(fields_.front(), tile, around, steps_);
    Rings rings;
    const auto rows = make_rows(tile, boxes, rings);
    std::vector<Arrays> arrays;
    std::vector<BoundProgram<Storage>> programs;
    arrays.reserve(boxes.size());  // programs refer to them
    for (std::size_t step = 0; step < boxes.size(); ++step) {
      arrays.emplace_back(fields_, coefficients_,
                          typename Arrays::Levels{rows[step], rows[step + 1], rows[step + 2]},
                          scalars_[step]);
      programs.emplace_back(group_.joint, arrays.back(), boxes[step].extent()[x_axis], radius_[x_axis],
                            bypasses_caches_ && step + 1 == boxes.size(), false);
    }
    const std::int64_t reach = radius_[axes_.stream];
    stream_levels(boxes, axes_.stream, reach, [&](int level, std::int64_t s) {
      const auto step = static_cast<std::size_t>(level - 1);
      const Box& box = boxes[step];
      const Range known{box.begin[x_axis], box.end[x_axis]};
      const std::int64_t next = s + (level - 1) * reach + 1;  // plane of the first level
      for (std::int64_t c = box.begin[axes_.cross]; c < box.end[axes_.cross]; ++c) {
        const Index3 row = axes_.point(s, c, 0);
        if (next < boxes.front().end[axes_.stream]) fetch(arrays.front(), next, c, level, boxes.front());
        programs[step].run(row[z_axis], row[y_axis], known);
        finish_row(arrays[step], level, row, known, tile, whole);
      }
    });
  }

  /// Starts to load the part of row `c` of the plane that the first level reads next into the cache, so that
  /// memory is busy while later levels are computed. Each level takes an equal part.
  void fetch(const Arrays& arrays, std::int64_t plane, std::int64_t c, int level, const Box& box) const {
    constexpr std::int64_t line = 64;  // bytes
    for (const ProgramOperand& leading : leading_) {
      const std::int64_t s = plane + leading.offset[axes_.stream], n = fields_.front().shape[axes_.stream];
      if (s >= n && !fields_.front().periodic(axes_.stream)) continue;
      const Index3 p = axes_.point(s, c, 0);
      const auto element =
          static_cast<std::int64_t>(leading.kind == OperandKind::coefficient ? sizeof(T) : sizeof(Storage));
      const std::byte* const row =
          arrays.array(leading).row(p[z_axis], p[y_axis]) + box.begin[x_axis] * element;
      const std::int64_t bytes = box.extent()[x_axis] * element;
      for (std::int64_t at = bytes * (level - 1) / steps_ / line * line; at < bytes * level / steps_;
           at += line)
        __builtin_prefetch(row + at, 0, 2);
    }
  }

  /// Copies points, past the caches if the launch bypasses them.
  void copy_row(const Storage* from, Storage* to, std::int64_t points) const {
    std::int64_t x = 0;
    if constexpr (std::is_same_v<Storage, T>)
      if (bypasses_caches_) {
        using V = std::experimental::native_simd<T>;
        constexpr auto lanes = static_cast<std::int64_t>(V::size());
        for (; x < points && reinterpret_cast<std::uintptr_t>(to + x) % sizeof(V) != 0; ++x) to[x] = from[x];
        for (; x + lanes <= points; x += lanes)
          detail::store_non_temporal(V(from + x, std::experimental::element_aligned), to + x);
      }
    std::copy(from + x, from + points, to + x);
  }

  /// Copies the points of a periodic row to the ghost points beyond its ends.
  static void copy_ends(Storage* row, const Range& points, std::int64_t ghosts) {
    const std::int64_t n = points.end - points.begin;
    for (std::int64_t i = 0; i < ghosts; ++i) {
      row[points.end + i] = row[points.begin + i % n];
      row[points.begin - 1 - i] = row[points.end - 1 - i % n];
    }
  }

  /// Returns the range of a tile along x, with the ghost points beyond walls that a field has there.
  Range with_ghosts(const Box& tile, const Field& field, const Domain& domain) const {
    Range range{tile.begin[x_axis], tile.end[x_axis]};
    if (domain.periodic(x_axis)) return range;
    if (range.begin == 0) range.begin = std::max(-radius_[x_axis], field.allocated().begin[x_axis]);
    if (range.end == domain.shape[x_axis])
      range.end = std::min(range.end + radius_[x_axis], field.allocated().end[x_axis]);
    return range;
  }

  /// Fills the ghost points at the ends of a row, and copies what the state keeps of the last level but one.
  void finish_row(const Arrays& arrays, int level, const Index3& row, const Range& known, const Box& tile,
                  const Range& whole) const {
    const std::int64_t ghosts = radius_[x_axis];
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      const int number = static_cast<int>(field);
      const Range all{known.begin - ghosts, known.end + ghosts};
      Storage* const values = arrays.next_row(number, row[z_axis], row[y_axis]);
      if (level < steps_ && wraps_rows(tile)) copy_ends(values, known, ghosts);
      fill_row_ends(arrays, number, row, ghosts, known,
                    level == steps_ ? ends_to_fill(out_[field], fields_[field], known, whole) : all);
      if (level + 1 != steps_ || !has_previous(field) || !has_row(tile, row[z_axis], row[y_axis])) continue;
      const Range kept = with_ghosts(tile, out_[previous_[field]], fields_[field]);
      copy_row(values + kept.begin,
               out_[previous_[field]].template at<Storage>({row[z_axis], row[y_axis], kept.begin}),
               kept.end - kept.begin);
    }
  }

  const StatementGroup& group_;
  const SystemFacts& facts_;
  const std::vector<Domain>& fields_;
  const std::vector<const Field*>& coefficients_;
  const std::vector<std::size_t>& previous_;
  std::vector<std::vector<T>> scalars_;
  int steps_;
  const ConstState& in_;
  const State& out_;
  bool bypasses_caches_;
  Axes axes_;
  Index3 radius_;
  std::vector<ProgramOperand> leading_;  // one for every array that a step reads
};

}  // namespace spsolve
