// SPDX-License-Identifier: Apache-2.0
#include "app/run/values_of_time.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "kernels/operator/scalar_values.hpp"

namespace spsolve {
namespace {

/// Holds a value and its name in messages.
struct NamedValue {
  std::string name;
  double value;
};

/// Appends the values at the first line of points of every wall that depends on time.
void add_walls(std::vector<NamedValue>& values, const Setup& setup, std::int64_t step) {
  const Equations& equations = *setup.problem.equations;
  for (const FilledFace& face : equations.filled) {
    if (!face.varies_in_time) continue;
    std::vector<double> line(static_cast<std::size_t>(setup.problem.domain.shape[face.line_axis()]));
    face.evaluate({0, 0, 0}, step, line);
    for (const double value : line)
      values.push_back({fmt::format("the value of {} at the {} wall of {}",
                                    equations.canonical.field_names[static_cast<std::size_t>(face.field)],
                                    face.side == low ? "low" : "high", axis_names[face.axis]),
                        value});
  }
}

void add_sources(std::vector<NamedValue>& values, PointSources& sources, std::int64_t step) {
  sources.for_each_value(step, [&](const std::string& key, double value) {
    values.push_back({fmt::format("the value of [{}]", key), value});
  });
}

/// Returns the values of a step in the order in which they are looked at.
std::vector<NamedValue> values_at(const Setup& setup, PointSources& sources, std::int64_t step) {
  std::vector<NamedValue> values;
  if (setup.problem.equations) {
    const Canonical& canonical = setup.problem.equations->canonical;
    const std::vector<double> scalars = scalar_values(canonical, setup.config.time.dt, step);
    for (std::size_t i = 0; i < scalars.size(); ++i)
      values.push_back(
          {fmt::format("{} in [equations] step",
                       text_of(canonical.terms, canonical.scalars[i],
                               {canonical.dimensions, canonical.field_names, canonical.coefficient_names})),
           scalars[i]});
    add_walls(values, setup, step);
  }
  add_sources(values, sources, step);
  return values;
}

/// Describes the first of the values values_of(step), of steps `first` to `last` - 1, that the format of sums
/// cannot hold. Collective.
std::string first_beyond_range(const Communicator& communicator, const Setup& setup, std::int64_t first,
                               std::int64_t last,
                               const std::function<std::vector<NamedValue>(std::int64_t)>& values_of) {
  const Precision sums = sum_precision(setup.problem.precision);
  const auto is_beyond = [&](const NamedValue& named) {
    return with_storage(sums, [&]<class Storage>() {
      return !std::isfinite(stored_value(to_storage<Storage>(named.value)));
    });
  };
  std::int64_t step = first;
  std::string text;
  for (; step < last && text.empty(); ++step) {
    const std::vector<NamedValue> values = values_of(step);
    if (const auto found = std::ranges::find_if(values, is_beyond); found != values.end())
      text = fmt::format(
          "{} is {:g}{} at step {} (t = {:g})", found->name, found->value,
          std::isfinite(found->value) ? ", beyond the range of " + std::string(to_string(sums)) : "", step,
          static_cast<double>(step) * setup.config.time.dt);
  }
  const std::int64_t own = text.empty() ? std::numeric_limits<std::int64_t>::max() : step;
  const std::int64_t earliest = communicator.all_reduce(own, MPI_MIN);
  const int rank =
      communicator.all_reduce(own == earliest ? communicator.rank() : communicator.size(), MPI_MIN);
  return communicator.broadcast(text, rank);
}

}  // namespace

std::string value_beyond_range(const Communicator& communicator, const Setup& setup, PointSources& sources,
                               std::int64_t first, std::int64_t last) {
  return first_beyond_range(communicator, setup, first, last,
                            [&](std::int64_t step) { return values_at(setup, sources, step); });
}

std::string source_beyond_range(const Communicator& communicator, const Setup& setup, PointSources& sources,
                                std::int64_t step) {
  return first_beyond_range(communicator, setup, step, step + 1, [&](std::int64_t at) {
    std::vector<NamedValue> values;
    add_sources(values, sources, at);
    return values;
  });
}

}  // namespace spsolve
