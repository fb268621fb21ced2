// SPDX-License-Identifier: Apache-2.0
#include "solver/state_arrays.hpp"

#include <utility>

namespace spsolve {

StateArrays::StateArrays(const Problem& problem, int fuse, const Box& owned, const Index3& halo,
                         Memory& memory)
    : arrays_(problem.field_count()) {
  for (std::size_t field = 0; field < arrays_.size(); ++field)
    while (arrays_[field].size() < problem.arrays_of(field, fuse))
      arrays_[field].push_back(std::make_unique<Field>(owned, halo, problem.precision, memory));
}

State StateArrays::in(std::int64_t step) const {
  std::vector<Field*> fields;
  for (std::size_t field = 0; field < arrays_.size(); ++field) fields.push_back(&now(field));
  for (std::size_t field = 0; field < arrays_.size(); ++field)
    if (has_previous(field)) fields.push_back(&before(field));
  return State(std::move(fields), step);
}

State StateArrays::out(std::int64_t step, int steps) const {
  std::vector<Field*> fields;
  for (std::size_t field = 0; field < arrays_.size(); ++field) fields.push_back(&next(field));
  if (steps > 1)
    for (std::size_t field = 0; field < arrays_.size(); ++field)
      if (has_previous(field)) fields.push_back(&before_next(field));
  return State(std::move(fields), step);
}

void StateArrays::rotate(int steps) {
  std::swap(roles_.of_two[0], roles_.of_two[1]);
  const auto [now, before, next, before_next] = roles_.of_more;
  if (steps == 1)
    roles_.of_more = {next, now, before, before_next};
  else
    roles_.of_more = {next, before_next, now, before};
  last_steps_ = steps;
}

}  // namespace spsolve
