// SPDX-License-Identifier: Apache-2.0
#include "solver/evolve.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spsolve {
namespace {

constexpr bool due(std::int64_t every, std::int64_t step) { return every > 0 && step % every == 0; }

/// The extremes that `survey` finds at `step`. Throws if the state is not finite; saves the state of `steps`
/// before if that is.
Extremes finite_extremes(Block& block, const Communicator& communicator, const Problem& problem,
                         const Survey& survey, const Observers& observers, std::int64_t step,
                         std::int64_t steps) {
  const Index3& shape = problem.domain.shape;
  const Extremes found = extremes(communicator, shape, survey);
  const auto place = first_not_finite(found, shape);
  if (!place) return found;
  std::string before;
  if (steps > 0 && extremes(communicator, shape, block.survey_of_previous()).first_not_finite == no_point) {
    observers.checkpoint(step - steps, [&] { return block.copy_previous(); });
    before = fmt::format("; the state of step {} was finite", step - steps);
  }
  std::string indices;
  for (int axis = problem.domain.first_axis(); axis < axis_count; ++axis)
    indices += fmt::format("{}{}={}", indices.empty() ? "" : ", ", "zyx"[axis], (*place)[axis]);
  throw Error(Status::diverged, fmt::format("the solution is NaN or infinite at step {}, first at point {}{}",
                                            step, indices, before));
}

}  // namespace

std::int64_t next_stop(const Schedule& schedule, std::int64_t step) {
  const auto following = [&](std::int64_t every) {
    return every > 0 ? (step / every + 1) * every : schedule.last;
  };
  std::int64_t stop = std::min({schedule.last, step + schedule.fuse, following(schedule.snapshot_every),
                                following(schedule.checkpoint_every)});
  const std::int64_t diagnostics = std::min(schedule.last, following(schedule.diagnostics_every));
  if (step + 1 < diagnostics) stop = std::min(stop, diagnostics - 1);
  return std::min(stop, diagnostics);
}

Outcome evolve(Block& block, const Communicator& communicator, const Problem& problem,
               const Schedule& schedule, const Observers& observers) {
  const Index3& shape = problem.domain.shape;
  const CopyState state = [&] { return block.copy_state(); };
  std::int64_t step = schedule.first;
  // Rounding to storage may have overflowed.
  const Extremes first = finite_extremes(block, communicator, problem, block.survey(), observers, step, 0);
  if (step == 0) observers.diagnostics(0, measure(communicator, shape, block.survey(), first));
  if (step == schedule.last || (step == 0 && schedule.snapshot_every > 0)) observers.snapshot(step, state);
  while (step < schedule.last) {
    const std::int64_t taken = next_stop(schedule, step) - step;
    block.launch(static_cast<int>(taken));
    step += taken;

    const bool last = step == schedule.last;
    const bool diagnostics = last || due(schedule.diagnostics_every, step);
    const bool snapshot = last || due(schedule.snapshot_every, step);
    const Request request = last ? Request::none : observers.poll(step);
    const bool checkpoint = due(schedule.checkpoint_every, step) || request != Request::none;
    if (diagnostics || snapshot || checkpoint) {
      const Survey survey = diagnostics ? block.survey_of_change() : block.survey();
      const Extremes found = finite_extremes(block, communicator, problem, survey, observers, step, taken);
      if (diagnostics) observers.diagnostics(step, measure(communicator, shape, survey, found));
    }
    if (snapshot) observers.snapshot(step, state);
    if (checkpoint) observers.checkpoint(step, state);
    if (request == Request::stop) return Outcome::stopped;
  }
  return Outcome::finished;
}

}  // namespace spsolve
