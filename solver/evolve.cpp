// SPDX-License-Identifier: Apache-2.0
#include "solver/evolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

namespace spsolve {
namespace {

/// Calls `now(field)` for every field and, if `with_previous`, `previous(field)` for the fields that have
/// previous values.
template <class Now, class Previous>
void for_each_array(const Block& block, bool with_previous, Now&& now, Previous&& previous) {
  for (std::size_t field = 0; field < block.field_count(); ++field) now(field);
  for (std::size_t field = 0; with_previous && field < block.field_count(); ++field)
    if (block.has_previous(field)) previous(field);
}

/// Calls take(view) for the arrays of the state that the last launch began with.
template <class Take>
void for_each_array_before(Block& block, bool with_previous, Take&& take) {
  for_each_array(
      block, with_previous, [&](std::size_t field) { take(block.view_begin(field)); },
      [&](std::size_t field) { take(block.view_begin_previous(field)); });
}

/// Ends a run with an error because its state at `step` is not finite at point `place` of a field. If there
/// is a state `steps` steps earlier and it is finite, a checkpoint of it is written first.
[[noreturn]] void end_diverged(Block& block, const Communicator& communicator, const Problem& problem,
                               const Observers& observers, std::size_t field, const Index3& place,
                               std::int64_t step, std::int64_t steps) {
  const Domain& domain = problem.domain;
  std::string before;
  if (step == 0)
    before = fmt::format("; the initial values are beyond the range of {}", to_string(problem.precision));
  if (steps > 0) {
    bool is_finite = true;
    for_each_array_before(block, true, [&](const StateView& view) {
      const Extremes found = extremes_of_all(communicator, domain.shape, block.owned(), view.scan().extremes);
      is_finite = is_finite && found.first_not_finite == no_point;
    });
    if (is_finite) {
      observers.checkpoint(step - steps, [&](const Sampling& sampling, bool with_previous) {
        Copies copies;
        for_each_array_before(block, with_previous,
                              [&](const StateView& view) { copies.push_back(view.scan(sampling).copy); });
        return copies;
      });
      before = fmt::format("; the state of step {} was finite", step - steps);
    }
  }
  const std::string cause = observers.cause ? observers.cause(step) : "";
  if (!cause.empty()) before += "; " + cause;
  std::string indices;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    indices += fmt::format("{}{}={}", indices.empty() ? "" : ", ", "zyx"[axis], place[axis]);
  const std::string of_field = problem.field_count() > 1 ? " of " + problem.field_name(field) : "";
  throw Error(Status::diverged,
              fmt::format("the solution is NaN or infinite at step {}, first at point {}{}{}", step, indices,
                          of_field, before));
}

/// Returns the norm of the difference to the values one step before, which a block keeps.
double norm_of_difference(Block& block, const Communicator& communicator, const Index3& shape) {
  const StateView view = block.view_difference();
  const Extremes found = extremes_of_all(communicator, shape, block.owned(), view.scan().extremes);
  return measure(communicator, shape, view, found).l2;
}

/// Names the events that are due at a step.
struct Events {
  bool diagnostics = false, snapshot = false, checkpoint = false;

  bool any() const { return diagnostics || snapshot || checkpoint; }
};

/// Handles the events of one state of a block: `step` is that of the state, and the launch that made it took
/// `steps` steps (0: the state is the initial one). Files and diagnostics share one scan of the state.
class StateEvents {
 public:
  StateEvents(Block& block, const Communicator& communicator, const Problem& problem,
              const Observers& observers, std::int64_t step, std::int64_t steps)
      : block_(block),
        communicator_(communicator),
        problem_(problem),
        observers_(observers),
        step_(step),
        steps_(steps),
        found_(block.field_count()) {}

  /// Calls the observers. Returns the diagnostics, which are empty if they are not due.
  std::vector<Diagnostics> handle(const Events& due) {
    compares_ = due.diagnostics && (steps_ > 0 || restored_with_previous()) && !block_.keeps_difference();
    const CopyState state = [&](const Sampling& sampling, bool with_previous) {
      return copies(sampling, with_previous);
    };
    if (due.snapshot) observers_.snapshot(step_, state);
    if (!found_.front() && (due.diagnostics || !due.checkpoint))
      for (std::size_t field = 0; field < found_.size(); ++field) require_finite(field, view(field).scan());
    std::vector<Diagnostics> by_field;
    if (due.diagnostics) {
      by_field = diagnostics();
      observers_.diagnostics(step_, by_field);
    }
    // The checkpoint comes last, so that a restart from it repeats nothing of this step.
    if (due.checkpoint) observers_.checkpoint(step_, state);
    return by_field;
  }

 private:
  const Index3& shape() const { return problem_.domain.shape; }
  StateView view(std::size_t field) { return compares_ ? block_.view_change(field) : block_.view(field); }

  /// Returns the copy of a scanned field. Ends the run if its values are not finite.
  std::shared_ptr<HostCopy> require_finite(std::size_t field, ScanResult scanned) {
    if (found_[field]) return scanned.copy;
    found_[field] = extremes_of_all(communicator_, shape(), block_.owned(), scanned.extremes);
    if (const auto place = first_not_finite(*found_[field], shape())) {
      scanned.copy = nullptr;  // releases its memory for the state before
      end_diverged(block_, communicator_, problem_, observers_, field, *place, step_, steps_);
    }
    return scanned.copy;
  }

  Copies copies(const Sampling& sampling, bool with_previous) {
    Copies copies;
    for_each_array(
        block_, with_previous,
        [&](std::size_t field) { copies.push_back(require_finite(field, view(field).scan(sampling))); },
        [&](std::size_t field) { copies.push_back(block_.view_previous(field).scan(sampling).copy); });
    return copies;
  }

  std::vector<Diagnostics> diagnostics() {
    std::vector<Diagnostics> by_field;
    for (std::size_t field = 0; field < found_.size(); ++field)
      by_field.push_back(measure(communicator_, shape(), view(field), *found_[field]));
    if (block_.keeps_difference())
      by_field.front().change_l2 = norm_of_difference(block_, communicator_, shape());
    else if (step_ > 0 && !compares_)  // a checkpoint without the values one step before
      for (Diagnostics& field : by_field) field.change_l2 = std::numeric_limits<double>::quiet_NaN();
    return by_field;
  }
  /// Returns true if the state is that of a checkpoint that holds the values one step before as well.
  bool restored_with_previous() const { return steps_ == 0 && step_ > 0 && problem_.keeps_previous(); }

  Block& block_;
  const Communicator& communicator_;
  const Problem& problem_;
  const Observers& observers_;
  std::int64_t step_, steps_;
  bool compares_ = false;                       // diagnostics need the change since the step before
  std::vector<std::optional<Extremes>> found_;  // by field, when it has been scanned
};

}  // namespace

std::int64_t next_stop(const Schedule& schedule, std::int64_t step) {
  const auto following = [&](std::int64_t every) { return Interval{every}.following(step); };
  std::int64_t stop =
      std::min({schedule.last, following(schedule.snapshot_every), following(schedule.checkpoint_every)});
  for (const Interval& interval : schedule.launches_end_every)
    stop = std::min(stop, interval.following(step));
  const std::int64_t diagnostics = std::min(schedule.last, following(schedule.diagnostics_every));
  if (step + 1 < diagnostics && !schedule.keeps_previous) stop = std::min(stop, diagnostics - 1);
  stop = std::min(stop, diagnostics);
  if (schedule.keeps_previous && (stop - step) % schedule.fuse != 0) return step + 1;
  return std::min(stop, step + schedule.fuse);
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

double largest_change(const std::vector<Diagnostics>& by_field) {
  double largest = 0;
  for (const Diagnostics& field : by_field)
    if (field.change_l2 != 0) {
      const double change = field.change_l2 / field.l2;  // NaN if both norms are beyond the range of a double
      largest = std::max(largest, std::isnan(change) ? std::numeric_limits<double>::infinity() : change);
    }
  return largest;
}

EvolveResult evolve(Block& block, const Communicator& communicator, const Problem& problem,
                    const Schedule& schedule, const Observers& observers) {
  std::int64_t step = schedule.first;
  const auto handle = [&](std::int64_t steps, const Events& due) {
    return StateEvents(block, communicator, problem, observers, step, steps).handle(due);
  };
  const auto is_steady = [&](std::optional<double> change) {
    return schedule.until_change && change && *change < *schedule.until_change && step < schedule.last;
  };
  const bool ends_here = step == schedule.last || is_steady(schedule.change);
  // Check the initial state too, since rounding to storage may have overflowed.
  handle(0,
         {(step == 0 || ends_here) && !schedule.measured,
          ends_here || (step == 0 && schedule.snapshot_every > 0), ends_here && schedule.final_checkpoint});
  if (is_steady(schedule.change)) return {Outcome::steady, step};
  while (step < schedule.last) {
    std::int64_t taken = next_stop(schedule, step) - step;
    if (problem.equations && taken < schedule.fuse) taken = 1;  // kernels take `fuse` steps, or one
    block.launch(static_cast<int>(taken));
    if (observers.launched) observers.launched(step, step + taken);
    step += taken;

    const bool last = step == schedule.last;
    const Request request = last ? Request::none : observers.poll(step);
    const Events due{last || Interval{schedule.diagnostics_every}.due(step),
                     last || Interval{schedule.snapshot_every}.due(step),
                     Interval{schedule.checkpoint_every}.due(step) || request != Request::none ||
                         (last && schedule.final_checkpoint)};
    const std::vector<Diagnostics> by_field = due.any() ? handle(taken, due) : std::vector<Diagnostics>{};
    if (!by_field.empty() &&
        is_steady(largest_change(by_field))) {  // the state that the last step would have written
      const Events left{false, !due.snapshot, schedule.final_checkpoint && !due.checkpoint};
      if (left.any()) handle(taken, left);
      return {Outcome::steady, step};
    }
    if (request == Request::stop) return {Outcome::stopped, step};
  }
  return {Outcome::finished, step};
}

}  // namespace spsolve
