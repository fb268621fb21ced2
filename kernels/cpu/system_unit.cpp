// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/system_unit.hpp"

#include <stdexcept>

#include "kernels/cpu/cpu_tiles.hpp"
#include "kernels/cpu/fill_walls.hpp"
#include "kernels/cpu/fused_system_launch.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/cpu/system_launch.hpp"
#include "kernels/operator/scalar_values.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {

CpuSystemUnit::CpuSystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt,
                             Precision precision, std::vector<const Field*> coefficients,
                             std::vector<FilledFace> filled)
    : canonical_(canonical),
      facts_(facts_of(canonical)),
      fields_(std::move(fields)),
      dt_(dt),
      precision_(format_of(precision)),
      coefficients_(std::move(coefficients)),
      filled_(std::move(filled)) {
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

void CpuSystemUnit::fill_ghosts(const State& state, const Box& valid) const {
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

void CpuSystemUnit::fill_row_ends(const State& state, const Box& valid) const {
  if (fields_.front().periodic(x_axis)) return;
  std::vector<int> field_of;  // field of every array of the state
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

std::optional<NoKernel> CpuSystemUnit::why_single_steps(const SystemFacts& facts,
                                                        const std::vector<Domain>& fields) {
  if (facts.groups.size() > 1) return NoKernel{"statements read .next of others at displaced points"};
  if (std::ranges::any_of(fields, &Domain::has_filled_faces))
    return NoKernel{"ghost points are filled before every step"};
  return {};
}

void CpuSystemUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (steps > 1)
    if (const auto none = why_single_steps(facts_, fields_))
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
