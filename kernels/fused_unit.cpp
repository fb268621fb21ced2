// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_unit.hpp"

#include <utility>

namespace spsolve {

FusedUnit::FusedUnit(const Domain& domain, const Index3& radius, int steps, std::unique_ptr<Sweep> sweep,
                     ExactUnits exact, const Field* source, Memory& memory)
    : domain_(domain),
      reach_(steps * radius),
      steps_(steps),
      sweep_(std::move(sweep)),
      exact_(std::move(exact)),
      source_(source),
      memory_(&memory) {}

void FusedUnit::fill_ghosts(Field& field, const Box& valid) const { exact_.state->fill_ghosts(field, valid); }

void FusedUnit::advance(const Field& in, Field& out, const Box& region, int steps) const {
  const Box core = steps == steps_ ? inside(region) : Box{};
  if (source_ && !fused_source_ && !core.empty()) make_source(in);
  const bool bands = core != region && !region.empty();
  if (bands) {
    // First, so that a device begins with what takes longest per point.
    exact_.branch->fork();
    for_each_slab(region, core, [&](const Box& band) { exact_.state->advance(in, out, band, steps); });
  }
  if (!core.empty()) (*sweep_)(in, out, core, fused_source_.get());
  if (bands) exact_.branch->join();
}

Box FusedUnit::inside(const Box& region) const {
  Box core = region;
  for (int axis = 0; axis < axis_count; ++axis)
    if (!domain_.periodic(axis)) {
      core.begin[axis] = std::max(core.begin[axis], reach_[axis]);
      core.end[axis] = std::min(core.end[axis], domain_.shape[axis] - reach_[axis]);
    }
  return core.empty() ? Box{} : core;
}

void FusedUnit::make_source(const Field& like) const {
  const Field zero(like.owned(), like.halo(), source_->precision(), *memory_);
  fused_source_ = std::make_unique<Field>(like.owned(), like.halo(), source_->precision(), *memory_);
  exact_.branch->fork();
  exact_.sums->advance(zero, *fused_source_, inside(grow(like.owned(), like.halo() - reach_)), steps_);
  exact_.branch->join();
}

}  // namespace spsolve
