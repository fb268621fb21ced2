// SPDX-License-Identifier: Apache-2.0
#include "solver/plan/lost_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kernels/reference.hpp"
#include "kernels/sparse/accuracy.hpp"

namespace spsolve {
namespace {

/// Returns the root mean square of the judged points.
double root_mean_square(const InitialSample& sample) {
  double sum = 0, points = 0;
  for (const SampledPart& part : sample.parts) {
    for_each_point(part.judged, [&](const Index3& p) {
      sum += std::pow(part.field[static_cast<std::size_t>(index_of(p, part.domain.shape))], 2);
    });
    points += static_cast<double>(part.judged.points());
  }
  return std::sqrt(sum / std::max(points, 1.0));
}

/// Returns true if a value, rounded to the numbers of Storage that sums read, is the same after a change.
template <class Storage>
bool is_lost(double value, double change) {
  const auto rounded = [](double exact) {
    return static_cast<double>(static_cast<Compute<Storage>>(to_storage<Storage>(exact)));
  };
  const double before = rounded(value);
  return rounded(before + change) == before;
}

}  // namespace

LostChanges::LostChanges(const Stencil& stencil, const InitialSample& sample, double accuracy,
                         std::int64_t run_steps)
    : stencil_(stencil),
      sample_(sample),
      accepted_per_step_(accuracy / static_cast<double>(std::max<std::int64_t>(run_steps, 1))),
      norm_(sum_abs(stencil) * root_mean_square(sample)),
      states_(1) {
  for (const SampledPart& part : sample.parts) states_.front().push_back(part.field);
}

std::optional<Refusal> LostChanges::why_frozen(Precision precision, int steps) {
  const int steps_of_launch = steps;
  steps = std::min(steps, sample_.steps);
  if (steps == 0) return {};
  advance_to(steps);
  // What fp64 loses itself is no change.
  const double least =
      norm_ * std::max(accepted_per_step_ * steps, scalar_error(stencil_, steps, Precision::fp64).total());
  std::int64_t changed = 0, lost = 0;
  with_storage(precision, [&]<class Storage>() {
    for (std::size_t i = 0; i < sample_.parts.size(); ++i) {
      const SampledPart& part = sample_.parts[i];
      for_each_point(part.judged, [&](const Index3& p) {
        const auto at = static_cast<std::size_t>(index_of(p, part.domain.shape));
        const double value = part.field[at];
        const double change = states_[static_cast<std::size_t>(steps)][i][at] - value;
        if (std::abs(change) <= least) return;
        ++changed;
        lost += is_lost<Storage>(value, change);
      });
    }
  });
  if (2 * lost <= changed) return {};
  return Refusal{
      Obstacle::rounding,
      fmt::format("{} would lose the changes of {} of {} points that change in a sample: they are less than "
                  "half the distance of two neighbouring numbers",
                  steps == steps_of_launch
                      ? "the first launch"
                      : fmt::format("the first {} of its {} steps", steps, steps_of_launch),
                  lost, changed)};
}

void LostChanges::advance_to(int steps) {
  while (states_.size() <= static_cast<std::size_t>(steps)) {
    auto next = states_.back();
#pragma omp parallel for schedule(dynamic)
    for (std::size_t i = 0; i < next.size(); ++i) {
      const SampledPart& part = sample_.parts[i];
      next[i] = reference_step(part.domain, stencil_, next[i], part.source.empty() ? nullptr : &part.source);
    }
    states_.push_back(std::move(next));
  }
}

}  // namespace spsolve
