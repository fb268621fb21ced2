// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/system_unit.hpp"

#include <atomic>
#include <span>
#include <stdexcept>

#include "kernels/cpu/bound_program.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cpu/fused_system_launch.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/scalar_values.hpp"

namespace spsolve {

namespace {

/// Holds the data that all rows of one launch on one region share.
template <class Storage>
class SystemLaunch {
  using T = Compute<Storage>;

 public:
  SystemLaunch(const std::vector<StatementGroup>& groups, const SystemArrays<Storage>& arrays,
               const State& out, const Canonical& canonical, const SystemFacts& facts, bool bypasses_caches)
      : groups_(groups),
        arrays_(arrays),
        out_(out),
        canonical_(canonical),
        facts_(facts),
        radius_(halo_radius(facts, arrays.domains().front())),
        bypasses_caches_(bypasses_caches) {}

  /// `step` is the time level of the results.
  void run(const Box& region, std::span<const FilledFace> filled, std::int64_t step) const {
    const Domain& domain = arrays_.domains().front();
    const Axes axes(domain);
    const std::vector<Box> boxes = statement_boxes(facts_, domain, region);
    for (const StatementGroup& group : groups_) {
      Box all, common = boxes[group.first];
      for (int s = group.first; s < group.last; ++s) {
        all = hull_of(all, boxes[s]);
        common = intersect(common, boxes[s]);
      }
      const CpuTiles tiles(all, axes, planes_of(group.joint, axes.stream), radius_, sizeof(T));
#pragma omp parallel
      {
        Work work(*this, group, boxes, common, all.extent()[x_axis]);
#pragma omp for schedule(static)
        for (std::int64_t i = 0; i < tiles.count(); ++i) work.tile(tiles[i], axes);
        // Non-temporal stores must be visible before another thread, or a message, reads them.
        std::atomic_thread_fence(std::memory_order_seq_cst);
      }
      // Later groups may read results beyond walls, so ghosts are filled between groups. The ghosts that the
      // next step reads are filled before that step.
      if (filled.empty() || group.last == static_cast<int>(boxes.size())) continue;
      for (int s = group.first; s < group.last; ++s) {
        const int field = canonical_.fields[s];
        fill_walls(out_[static_cast<std::size_t>(field)], arrays_.domains()[field], filled, field, boxes[s],
                   step);
      }
    }
  }

 private:
  /// Holds the memory that one thread needs for the tiles of a group.
  class Work {
   public:
    Work(const SystemLaunch& launch, const StatementGroup& group, const std::vector<Box>& boxes,
         const Box& common, std::int64_t longest)
        : launch_(launch),
          group_(group),
          boxes_(boxes),
          common_(common),
          joint_(group.joint, launch.arrays_, longest, launch.bypasses_caches_) {
      for (const StepProgram& program : group.single)
        single_.emplace_back(program, launch.arrays_, longest, false);
    }

    void tile(const Box& tile, const Axes& axes) {
      for (std::int64_t s = tile.begin[axes.stream]; s < tile.end[axes.stream]; ++s)
        for (std::int64_t c = tile.begin[axes.cross]; c < tile.end[axes.cross]; ++c) {
          const Index3 p = axes.point(s, c, 0);
          row(p[z_axis], p[y_axis], {tile.begin[x_axis], tile.end[x_axis]});
        }
    }

   private:
    /// All statements are computed together where all are needed; points that only one needs follow.
    void row(std::int64_t z, std::int64_t y, const Range& x) {
      Range together{x.begin, x.begin};
      if (has_row(common_, z, y)) {
        together = {std::max(x.begin, common_.begin[x_axis]), std::min(x.end, common_.end[x_axis])};
        if (together.begin < together.end)
          joint_.run(z, y, together);
        else
          together = {x.begin, x.begin};
      }
      for (int s = group_.first; s < group_.last; ++s) {
        const Box& box = boxes_[s];
        if (!has_row(box, z, y)) continue;
        const Range own{std::max(x.begin, box.begin[x_axis]), std::min(x.end, box.end[x_axis])};
        if (own.begin >= own.end) continue;
        if (together.begin < together.end) {
          run_single(s, z, y, {own.begin, together.begin});
          run_single(s, z, y, {together.end, own.end});
        } else {
          run_single(s, z, y, own);
        }
        fill_ghosts(s, z, y, own);
      }
    }

    void run_single(int statement, std::int64_t z, std::int64_t y, const Range& x) {
      if (x.begin >= x.end) return;
      if (single_.empty())
        joint_.run(z, y, x);
      else
        single_[static_cast<std::size_t>(statement - group_.first)].run(z, y, x);
    }

    void fill_ghosts(int statement, std::int64_t z, std::int64_t y, const Range& known) const {
      const int field = launch_.canonical_.fields[statement];
      const Box& box = boxes_[statement];
      fill_row_ends(
          launch_.arrays_, field, {z, y, 0}, launch_.radius_[x_axis], known,
          ends_to_fill(launch_.out_[static_cast<std::size_t>(field)], launch_.arrays_.domains()[field], known,
                       {box.begin[x_axis], box.end[x_axis]}));
    }

    const SystemLaunch& launch_;
    const StatementGroup& group_;
    const std::vector<Box>& boxes_;
    const Box& common_;
    BoundProgram<Storage> joint_;
    std::vector<BoundProgram<Storage>> single_;
  };

  const std::vector<StatementGroup>& groups_;
  const SystemArrays<Storage>& arrays_;
  const State& out_;
  const Canonical& canonical_;
  const SystemFacts& facts_;
  Index3 radius_;
  bool bypasses_caches_;
};

}  // namespace

SystemUnit::SystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt, Precision precision,
                       std::vector<const Field*> coefficients, std::vector<FilledFace> filled)
    : canonical_(canonical),
      facts_(facts_of(canonical)),
      fields_(std::move(fields)),
      dt_(dt),
      precision_(precision),
      coefficients_(std::move(coefficients)),
      filled_(std::move(filled)) {
  if (precision == Precision::tf32)
    throw std::invalid_argument("systems of equations are not computed in tf32");
  const bool converts = storage_bytes(precision) == 2;
  for (const auto& [first, last] : facts_.groups) {
    StatementGroup group{first, last, step_program(canonical, first, last, converts), {}};
    for (int s = first; s < last && last - first > 1; ++s)
      group.single.push_back(step_program(canonical, s, s + 1, converts));
    groups_.push_back(std::move(group));
  }
  std::size_t next = fields_.size();
  for (std::size_t field = 0; field < fields_.size(); ++field)
    previous_.push_back(facts_.reach_previous[field].empty() ? 0 : next++);
}

void SystemUnit::fill_ghosts(const State& state, const Box& valid) const {
  if (valid.empty()) return;
  fill_row_ends(state, valid);
  if (filled_.empty()) return;
  std::size_t previous = fields_.size();
  for (std::size_t field = 0; field < fields_.size(); ++field) {
    const auto fill = [&](Field& values, std::int64_t step) {
      Box known = fields_[field].clip_to_walls(values.allocated());
      for (const int axis : {z_axis, y_axis}) {
        known.begin[axis] = valid.begin[axis];
        known.end[axis] = valid.end[axis];
      }
      fill_walls(values, fields_[field], filled_, static_cast<int>(field), known, step);
    };
    fill(state[field], state.step());
    if (!facts_.reach_previous[field].empty()) fill(state[previous++], state.step() - 1);
  }
}

void SystemUnit::fill_row_ends(const State& state, const Box& valid) const {
  if (fields_.front().periodic(x_axis)) return;
  std::vector<int> field_of;  // of every array of the state
  for (std::size_t field = 0; field < fields_.size(); ++field) field_of.push_back(static_cast<int>(field));
  for (std::size_t field = 0; field < fields_.size(); ++field)
    if (!facts_.reach_previous[field].empty()) field_of.push_back(static_cast<int>(field));
  with_storage(precision_, [&]<class Storage>() {
    for (std::size_t i = 0; i < state.size(); ++i) {
      Field& field = state[i];
      const Domain& domain = fields_[field_of[i]];
      const auto constant = ghost_values<Storage, Storage>(domain)[x_axis];
      const Range memory{field.allocated().begin[x_axis], field.allocated().end[x_axis]};
#pragma omp parallel for schedule(static)
      for (std::int64_t row = 0; row < row_count(valid); ++row) {
        const Index3 p = row_begin(valid, row);
        fill_row_ghosts(field.at<Storage>({p[z_axis], p[y_axis], 0}), domain,
                        halo_radius(facts_, fields_.front())[x_axis], memory, memory, constant);
      }
    }
  });
}

void SystemUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (steps > 1)
    if (const auto none = why_single_steps(canonical_, facts_, fields_, steps))
      throw std::invalid_argument("equations are advanced one step at a time: " + none->why);
  if (region.empty()) return;
  std::size_t bytes = 0;
  for (const Field* field : in) bytes += field->bytes();
  for (const Field* field : out) bytes += field->bytes();
  const bool bypasses_caches = exceeds_cache(bytes);
  with_storage(precision_, [&]<class Storage>() {
    if constexpr (!std::is_same_v<Storage, Tf32>) {
      std::vector<std::vector<Compute<Storage>>> scalars;
      for (int step = 0; step < steps; ++step) {
        const std::vector<double> values = scalar_values(canonical_, dt_, in.step() + step);
        scalars.emplace_back(values.begin(), values.end());
      }
      if (steps > 1)
        return FusedSystemLaunch<Storage>(groups_.front(), facts_, fields_, coefficients_, previous_,
                                          std::move(scalars), in, out, bypasses_caches)
            .run(region);
      using Arrays = SystemArrays<Storage>;
      typename Arrays::Levels levels{{}, Arrays::rows_of(in), Arrays::rows_of(out)};
      for (const std::size_t previous : previous_) levels.previous.emplace_back(in[previous]);
      const Arrays arrays(fields_, coefficients_, std::move(levels), std::move(scalars.front()));
      SystemLaunch<Storage>(groups_, arrays, out, canonical_, facts_, bypasses_caches)
          .run(region, filled_, in.step() + 1);
    }
  });
}

}  // namespace spsolve
