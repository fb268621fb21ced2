// SPDX-License-Identifier: Apache-2.0
#include "app/run/point_sources.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "app/values/values.hpp"
#include "io/input/read_points.hpp"
#include "io/language/parser.hpp"
#include "kernels/operator/interpret.hpp"

namespace spsolve {

PointSources::PointSources(const Communicator& communicator, const RunConfig& config, Tables& tables,
                           const Problem& problem, const Block& block)
    : dt_(config.time.dt), steps_(config.time.steps) {
  const Grid& grid = config.grid;
  std::vector<std::vector<std::vector<Corner>>> corners;  // by source and point, those of this rank
  Box reached;
  const auto images = [&](const Corner& corner) {
    return periodic_copies_of(corner.p, problem.domain, block.advanced());
  };
  for (std::size_t i = 0; i < config.point_sources.size(); ++i) {
    const PointSourceConfig& given = config.point_sources[i];
    Source source{key_of_source(config, i), {}, {}, nullptr, nullptr};
    const std::vector<Coordinates> points = read_points(tables, grid, given.at, source.key + ".at");
    if (const auto* formula = std::get_if<ExpressionForm>(&given.value)) {
      source.formula =
          std::make_unique<RowProgram>(parse_expression(formula->expression), names_at_point(config));
    } else {
      source.table = read_signals(tables, config, i, points.size());
    }
    auto& of_source = corners.emplace_back();
    for (int axis = axis_count - 1; axis >= grid.domain.first_axis(); --axis) source.along.emplace_back();
    for (std::size_t point = 0; point < points.size(); ++point) {
      std::vector<Corner> around = corners_of(grid, points[point], given.interpolation);
      if (std::ranges::all_of(around, [&](const Corner& corner) { return images(corner).empty(); })) continue;
      for (const Corner& corner : around) reached = hull_of(reached, {corner.p, corner.p + Index3{1, 1, 1}});
      for (std::size_t k = 0; k < source.along.size(); ++k)
        source.along[k].push_back(points[point][axis_count - 1 - k]);
      source.numbers.push_back(static_cast<std::int64_t>(point));
      of_source.push_back(std::move(around));
    }
    sources_.push_back(std::move(source));
  }
  const bool has_formula =
      std::ranges::any_of(sources_, [](const Source& source) { return source.formula != nullptr; });
  if (has_formula && config.equations && !config.equations->coefficients.empty()) {
    const CoefficientValues coefficients(communicator, config, reached);
    for (std::size_t i = 0; i < sources_.size(); ++i)
      for (std::size_t k = 0; k < config.equations->coefficients.size(); ++k) {
        auto& values = sources_[i].along.emplace_back();
        for (const auto& around : corners[i]) {
          double value = 0;
          for (const Corner& corner : around) value += corner.weight * coefficients.at(k, corner.p);
          values.push_back(value);
        }
      }
  }
  std::map<std::pair<std::size_t, Index3>, std::size_t> columns;  // by field and grid point
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const std::size_t field = problem.field_number(config.point_sources[i].field);
    for (std::size_t point = 0; point < corners[i].size(); ++point)
      for (const Corner& corner : corners[i][point]) {
        const auto [column, is_new] = columns.try_emplace({field, corner.p}, columns.size());
        if (is_new)
          for (const Index3& image : images(corner)) added_.push_back({{field, image}, column->second});
        shares_.push_back({column->second, i, point, corner.weight});
      }
  }
  columns_ = columns.size();
  values_.resize(sources_.size());
}

void PointSources::evaluate(const Source& source, std::int64_t step, std::vector<double>& values) {
  values.resize(source.points());
  if (!source.formula) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::int64_t column = source.table->columns == 1 ? 0 : source.numbers[i];
      values[i] = source.table->values[static_cast<std::size_t>(step * source.table->columns + column)];
    }
    return;
  }
  const double n = static_cast<double>(step), t = n * dt_;
  std::vector<const double*> variables;
  for (const auto& values_of_points : source.along) variables.push_back(values_of_points.data());
  variables.insert(variables.end(), {&t, &dt_, &n});
  source.formula->evaluate(variables, values, workspace_);
}

void PointSources::for_each_value(std::int64_t step,
                                  const std::function<void(const std::string& key, double value)>& use) {
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    evaluate(sources_[i], step, values_[i]);
    for (const double value : values_[i]) use(sources_[i].key, value);
  }
}

void PointSources::amounts(std::int64_t step, std::span<double> amounts) {
  std::ranges::fill(amounts, 0.0);
  if (step >= steps_) return;
  for (std::size_t i = 0; i < sources_.size(); ++i) evaluate(sources_[i], step, values_[i]);
  for (const Share& share : shares_)
    amounts[share.column] += share.weight * values_[share.source][share.point];
}

}  // namespace spsolve
