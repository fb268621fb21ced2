// SPDX-License-Identifier: Apache-2.0
#include "kernels/fused_unit.hpp"

#include <utility>
#include <vector>

namespace spsolve {

FusedUnit::FusedUnit(const Domain& domain, const Index3& radius, int steps, std::unique_ptr<Sweep> sweep,
                     std::unique_ptr<Branch> branch, std::unique_ptr<Unit> exact, const Field* fused_source)
    : domain_(domain),
      reach_(steps * radius),
      steps_(steps),
      sweep_(std::move(sweep)),
      branch_(std::move(branch)),
      exact_(std::move(exact)),
      fused_source_(fused_source) {}

void FusedUnit::fill_ghosts(const State& state, const Box& valid) const { exact_->fill_ghosts(state, valid); }

void FusedUnit::prepare(const ConstState& in, const Box& region, int steps) const {
  const Box core = this->core(region, steps);
  for_each_slab(region, core, [&](const Box& band) { exact_->prepare(in, band, steps); });
  if (!core.empty()) sweep_->prepare(fused_source_ != nullptr);
}

void FusedUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  const Box core = this->core(region, steps);
  const bool bands = core != region && !region.empty();
  if (bands) {
    // Bands come first, so that a device begins with the work that takes longest per point.
    branch_->fork();
    std::vector<Box> slabs;
    for_each_slab(region, core, [&](const Box& band) { slabs.push_back(band); });
    exact_->advance_all(in, out, slabs, steps);
  }
  if (!core.empty()) (*sweep_)(in.front(), out.front(), core, fused_source_);
  if (bands) branch_->join();
}

void make_fused_source(const Unit& exact, int steps, const Box& region, const Field& zero, Field& fused) {
  exact.advance(zero, State(fused), region, steps);
}

}  // namespace spsolve
