// SPDX-License-Identifier: Apache-2.0
#include "app/values/values.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "app/setup/terminal.hpp"
#include "kernels/operator/range.hpp"

namespace spsolve {
namespace {

std::size_t coefficients_of(const RunConfig& config) {
  return config.equations ? config.equations->coefficients.size() : 0;
}

/// Returns the ranges of consecutive numbers in a sorted list.
std::vector<Range> ranges_of(const std::vector<std::int64_t>& sorted) {
  std::vector<Range> ranges;
  for (const std::int64_t number : sorted)
    if (!ranges.empty() && ranges.back().end == number)
      ++ranges.back().end;
    else
      ranges.push_back({number, number + 1});
  return ranges;
}

}  // namespace

std::optional<ValueFacts> facts_of(const Communicator& communicator, const RunConfig& config,
                                   const ValueSection& section) try {
  const Grid& grid = config.grid;
  // Cut slabs across the slowest axis with a point for each rank, or across the longest axis if there is
  // none.
  const Index3& shape = grid.domain.shape;
  const auto enough =
      std::ranges::find_if(shape, [&](std::int64_t points) { return points >= communicator.size(); });
  const auto axis = (enough != shape.end() ? enough : std::ranges::max_element(shape)) - shape.begin();
  Box slab = grid.domain.box();
  slab.begin[axis] = shape[axis] * communicator.rank() / communicator.size();
  slab.end[axis] = shape[axis] * (communicator.rank() + 1) / communicator.size();
  ValueSummary summary(shape);
  read_values(communicator, config, section, {}, slab,
              [&](const Index3& begin, std::span<const double> values) { summary.add(begin, values); });
  return summary.of_all(communicator);
} catch (const Error&) {
  return std::nullopt;
}

std::map<std::string, ValueFacts> check_values(const Communicator& communicator, const Setup& setup) {
  const int rank = communicator.rank();
  const Box block = rank < setup.decomposition.ranks() ? setup.decomposition.block(rank) : Box{};
  const Index3& shape = setup.problem.domain.shape;
  std::map<std::string, ValueFacts> facts;
  std::optional<CoefficientValues> coefficients;
  if (setup.config.equations) coefficients.emplace(communicator, setup.config, block);
  std::size_t coefficient = 0;
  for (const ValueSection& section : value_sections(setup.config)) {
    if (coefficient < coefficients_of(setup.config)) {
      facts[section.name] = coefficients->facts(communicator, coefficient++, shape, block);
    } else {
      ValueSummary summary(shape);
      ReadingProgress reading(communicator, fmt::format("looking at [{}]", section.name), block.points());
      read_values(communicator, setup.config, section, {}, block,
                  [&](const Index3& begin, std::span<const double> values) {
                    summary.add(begin, values);
                    reading.advance(std::ssize(values));
                  });
      facts[section.name] = summary.of_all(communicator);
    }
  }
  return facts;
}

ValueFacts fill(const Communicator& communicator, const RunConfig& config, const ValueSection& section,
                Field& field) {
  ValueSummary summary(config.grid.domain.shape);
  with_storage(field.precision(), [&]<class Storage>() {
    read_values(communicator, config, section, {}, field.owned(),
                [&](const Index3& begin, std::span<const double> values) {
                  summary.add(begin, values);
                  std::ranges::transform(values, field.at<Storage>(begin), to_storage<Storage>);
                });
  });
  return summary.of_all(communicator);
}

CoefficientValues::CoefficientValues(const Communicator& communicator, const RunConfig& config,
                                     const Box& box)
    : box_(box) {
  const Domain& domain = config.grid.domain;
  std::array<std::vector<Range>, 3> ranges;
  Index3 most{1, 1, 1};  // ranges of any rank
  for (int axis = 0; axis < axis_count; ++axis) {
    std::vector<std::int64_t> of_box;
    for (std::int64_t p = box.begin[axis]; p < box.end[axis]; ++p) {
      Index3 at{};
      at[axis] = p;
      of_box.push_back(wrapped_or_reflected(domain, at)[axis]);
    }
    std::vector<std::int64_t>& places = places_[axis];
    places = of_box;
    std::ranges::sort(places);
    places.erase(std::ranges::unique(places).begin(), places.end());
    for (const std::int64_t place : of_box)
      columns_[axis].push_back(std::ranges::lower_bound(places, place) - places.begin());
    ranges[axis] = ranges_of(places);
    most[axis] = communicator.all_reduce(std::ssize(ranges[axis]), MPI_MAX);
  }
  for_each_point(box_of(most), [&](const Index3& i) {
    Box part;
    for (int axis = 0; axis < axis_count; ++axis) {
      const auto number = static_cast<std::size_t>(i[axis]);
      const Range held = number < ranges[axis].size() ? ranges[axis][number] : Range{};
      part.begin[axis] = held.begin;
      part.end[axis] = held.end;
    }
    parts_.push_back(part);
  });
  for (std::size_t i = 0; i < config.equations->coefficients.size(); ++i) read(communicator, config, i);
}

void CoefficientValues::read(const Communicator& communicator, const RunConfig& config,
                             std::size_t coefficient) {
  const auto& [name, form] = config.equations->coefficients[coefficient];
  const auto index_of = [&](const Index3& p) {
    std::size_t index = 0;
    for (int axis = 0; axis < axis_count; ++axis)
      index =
          index * places_[axis].size() +
          static_cast<std::size_t>(std::ranges::lower_bound(places_[axis], p[axis]) - places_[axis].begin());
    return index;
  };
  std::vector<GivenValues> above;
  for (std::size_t i = 0; i < coefficient; ++i)
    above.push_back({config.equations->coefficients[i].name,
                     [this, i, &index_of](const Index3& begin) { return &values_[i][index_of(begin)]; }});
  std::size_t points = 1;
  for (const auto& places : places_) points *= places.size();
  std::vector<double> values(points);
  for (const Box& part : parts_)
    read_values(communicator, config, {coefficient_section(config, name), form}, above, part,
                [&](const Index3& begin, std::span<const double> row) {
                  std::ranges::copy(row, values.begin() + static_cast<std::ptrdiff_t>(index_of(begin)));
                });
  values_.push_back(std::move(values));
}

ValueFacts CoefficientValues::facts(const Communicator& communicator, std::size_t coefficient,
                                    const Index3& shape, const Box& owned) const {
  ValueSummary summary(shape);
  std::vector<double> values(static_cast<std::size_t>(owned.extent()[x_axis]));
  for (std::int64_t row = 0; row < row_count(owned); ++row) {
    const Index3 begin = row_begin(owned, row);
    for (std::size_t x = 0; x < values.size(); ++x)
      values[x] = at(coefficient, begin + Index3{0, 0, static_cast<std::int64_t>(x)});
    summary.add(begin, values);
  }
  return summary.of_all(communicator);
}

}  // namespace spsolve
