// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/system_unit.hpp"

#include <unistd.h>

#include <atomic>
#include <map>
#include <span>
#include <stdexcept>
#include <tuple>

#include "kernels/cpu/bound_program.hpp"
#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/operator/interpret.hpp"
#include "kernels/operator/scalar_values.hpp"

namespace spsolve {

namespace {

bool has_row(const Box& box, std::int64_t z, std::int64_t y) {
  return z >= box.begin[z_axis] && z < box.end[z_axis] && y >= box.begin[y_axis] && y < box.end[y_axis];
}

/// Returns the number of planes along `stream` that a tile of the group keeps in cache: for every array those
/// that are read at each point, and the planes that are written.
std::int64_t planes_of(const StatementGroup& group, int stream) {
  std::map<std::tuple<ProgramOperand::Kind, int, Level>, Range> planes;
  for (const ProgramStage& stage : group.joint.stages)
    for (const ProgramOperand& operand : stage.operands) {
      if (operand.kind != ProgramOperand::Kind::field && operand.kind != ProgramOperand::Kind::coefficient)
        continue;
      const std::int64_t at = operand.offset[stream];
      Range& range =
          planes.try_emplace({operand.kind, operand.index, operand.level}, Range{at, at + 1}).first->second;
      range = {std::min(range.begin, at), std::max(range.end, at + 1)};
    }
  std::int64_t count = group.last - group.first;
  for (const auto& [array, range] : planes) count += range.end - range.begin;
  return count;
}

/// Holds the data that all rows of one launch on one region share.
template <class Storage>
class SystemLaunch {
  using T = Compute<Storage>;

 public:
  SystemLaunch(const std::vector<StatementGroup>& groups, const SystemArrays<Storage>& arrays,
               const Canonical& canonical, const SystemFacts& facts, bool bypasses_caches)
      : groups_(groups),
        arrays_(arrays),
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
      const CpuTiles tiles(all, axes, planes_of(group, axes.stream), radius_, sizeof(T));
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
        fill_walls(arrays_.out()[static_cast<std::size_t>(field)], arrays_.domains()[field], filled, field,
                   boxes[s], step);
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
      const Domain& domain = launch_.arrays_.domains()[field];
      const std::int64_t reach = launch_.radius_[x_axis], n = domain.shape[x_axis];
      if (domain.periodic(x_axis) || (known.begin >= std::max<std::int64_t>(reach, 1) &&
                                      known.end <= n - std::max<std::int64_t>(reach, 1)))
        return;
      Field& out = launch_.arrays_.out()[static_cast<std::size_t>(field)];
      Range memory{out.allocated().begin[x_axis], out.allocated().end[x_axis]};
      // Ghosts of constant value are left to the first and the last tile along x.
      const Box& box = boxes_[statement];
      const auto is_constant = [&](Side side) {
        return domain.faces[x_axis][side].kind == BoundaryKind::dirichlet;
      };
      if (is_constant(low) && known.begin > box.begin[x_axis])
        memory.begin = std::max<std::int64_t>(memory.begin, 0);
      if (is_constant(high) && known.end < box.end[x_axis]) memory.end = std::min(memory.end, n);
      fill_known_row_ghosts(out.at<Storage>({z, y, 0}), domain, reach, known, memory,
                            launch_.arrays_.ghosts(field)[x_axis]);
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
  if (steps != 1) throw std::invalid_argument("systems of equations are advanced one step at a time");
  if (region.empty()) return;
  // Fields that do not stay in the last-level cache until the next launch are written past it. Only half of
  // that cache counts, since others use it too.
  std::size_t bytes = 0;
  for (const Field* field : in) bytes += field->bytes();
  for (const Field* field : out) bytes += field->bytes();
  const bool bypasses_caches =
      static_cast<std::int64_t>(bytes) > cache_bytes(_SC_LEVEL3_CACHE_SIZE, 32 << 20) / 2;
  with_storage(precision_, [&]<class Storage>() {
    if constexpr (!std::is_same_v<Storage, Tf32>) {
      const std::vector<double> scalars = scalar_values(canonical_, dt_, in.step());
      const SystemArrays<Storage> arrays(fields_, coefficients_, previous_, {scalars.begin(), scalars.end()},
                                         in, out);
      SystemLaunch<Storage>(groups_, arrays, canonical_, facts_, bypasses_caches)
          .run(region, filled_, in.step() + 1);
    }
  });
}

}  // namespace spsolve
