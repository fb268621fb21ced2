// SPDX-License-Identifier: Apache-2.0
#include "solver/evolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace spsolve {
namespace {

constexpr bool due(std::int64_t every, std::int64_t step) { return every > 0 && step % every == 0; }

/// Ends a run whose state at `step` is not finite at a point, after a checkpoint of the state `steps` before
/// if there is one and it is finite.
[[noreturn]] void end_diverged(Block& block, const Communicator& communicator, const Problem& problem,
                               const Observers& observers, const Index3& place, std::int64_t step,
                               std::int64_t steps) {
  const Domain& domain = problem.domain;
  std::string before;
  if (step == 0)
    before = fmt::format("; the initial values are beyond the range of {}", to_string(problem.precision));
  if (steps > 0) {
    const StateView view = block.view_previous();
    const Extremes found = extremes_of_all(communicator, domain.shape, block.owned(), view.scan().extremes);
    if (found.first_not_finite == no_point) {
      observers.checkpoint(step - steps, [&](const Sampling& kept) { return view.scan(kept).copy; });
      before = fmt::format("; the state of step {} was finite", step - steps);
    }
  }
  std::string indices;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    indices += fmt::format("{}{}={}", indices.empty() ? "" : ", ", "zyx"[axis], place[axis]);
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

std::set<int> launch_lengths(const Schedule& schedule) {
  std::set<int> lengths;
  std::int64_t step = schedule.first;
  for (int launch = 0; launch < 1000 && step < schedule.last; ++launch) {
    const std::int64_t stop = next_stop(schedule, step);
    lengths.insert(static_cast<int>(stop - step));
    step = stop;
  }
  return lengths;
}

Outcome evolve(Block& block, const Communicator& communicator, const Problem& problem,
               const Schedule& schedule, const Observers& observers) {
  const Index3& shape = problem.domain.shape;
  std::int64_t step = schedule.first;
  // The events of the state that a launch of `steps` has left; files and diagnostics share a scan of it.
  const auto attend = [&](std::int64_t steps, bool diagnostics, bool snapshot, bool checkpoint) {
    const StateView view = diagnostics && steps > 0 ? block.view_change() : block.view_state();
    std::optional<Extremes> found;
    const auto finite = [&](ScanResult scanned) {
      if (found) return scanned.copy;
      found = extremes_of_all(communicator, shape, block.owned(), scanned.extremes);
      if (const auto place = first_not_finite(*found, shape)) {
        scanned.copy = nullptr;  // its memory serves the state before
        end_diverged(block, communicator, problem, observers, *place, step, steps);
      }
      return scanned.copy;
    };
    const CopyState state = [&](const Sampling& kept) { return finite(view.scan(kept)); };
    if (snapshot) observers.snapshot(step, state);
    if (!found && (diagnostics || !checkpoint)) finite(view.scan());
    if (diagnostics) observers.diagnostics(step, measure(communicator, shape, view, *found));
    // Last: a restart from it repeats nothing of this step.
    if (checkpoint) observers.checkpoint(step, state);
  };
  // Rounding to storage may have overflowed.
  attend(0, step == 0, step == schedule.last || (step == 0 && schedule.snapshot_every > 0),
         step == schedule.last && schedule.final_checkpoint);
  while (step < schedule.last) {
    const std::int64_t taken = next_stop(schedule, step) - step;
    block.launch(static_cast<int>(taken));
    step += taken;

    const bool last = step == schedule.last;
    const bool diagnostics = last || due(schedule.diagnostics_every, step);
    const bool snapshot = last || due(schedule.snapshot_every, step);
    const Request request = last ? Request::none : observers.poll(step);
    const bool checkpoint = due(schedule.checkpoint_every, step) || request != Request::none ||
                            (last && schedule.final_checkpoint);
    if (diagnostics || snapshot || checkpoint) attend(taken, diagnostics, snapshot, checkpoint);
    if (request == Request::stop) return Outcome::stopped;
  }
  return Outcome::finished;
}

}  // namespace spsolve
