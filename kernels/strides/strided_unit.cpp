// SPDX-License-Identifier: Apache-2.0
#include "kernels/strides/strided_unit.hpp"

#include <utility>

namespace spsolve {

StridedUnit::StridedUnit(const Domain& domain, int steps, StrideSweeps sweeps,
                         std::unique_ptr<Unit> single_steps)
    : domain_(domain), steps_(steps), sweeps_(std::move(sweeps)), single_steps_(std::move(single_steps)) {}

void StridedUnit::fill_ghosts(const State& state, const Box& valid) const {
  single_steps_->fill_ghosts(state, valid);
}

void StridedUnit::prepare(const ConstState& in, const Box& region, int steps) const {
  if (steps != steps_) return single_steps_->prepare(in, region, steps);
  sweeps_.stride->prepare(true);
  sweeps_.state_from_state->prepare(false);
  sweeps_.state_from_difference->prepare(true);
  sweeps_.difference_from_state->prepare(false);
  sweeps_.difference_from_difference->prepare(true);
  sweeps_.minus_source->prepare(true);
}

Box StridedUnit::scaled_region(int steps) const {
  return steps == steps_ && sweeps_.stride->scales_data() ? domain_.box() : Box{};
}

void StridedUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  if (steps != steps_) return single_steps_->advance(in, out, region, steps);
  if (region.empty()) return;
  const Field &state = in[0], &difference = in[1];
  if (in.size() == 4) {
    (*sweeps_.stride)(state, out[0], region, &out[0]);
    (*sweeps_.stride)(difference, out[1], region, &out[1]);
    return;
  }
  (*sweeps_.state_from_state)(state, out[0], region, nullptr);
  (*sweeps_.state_from_difference)(difference, out[0], region, &out[0]);
  (*sweeps_.difference_from_state)(state, out[1], region, nullptr);
  (*sweeps_.difference_from_difference)(difference, out[1], region, &out[1]);
}

void StridedUnit::swap_difference(const Field& state, Field& other, const Box& region) const {
  (*sweeps_.minus_source)(state, other, region, &other);
}

}  // namespace spsolve
