// SPDX-License-Identifier: Apache-2.0
#include "io/input/expression.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "io/language/parser.hpp"
#include "io/language/row_program.hpp"
#include "kernels/error.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

namespace {

/// Returns a formula, shortened to the room that a message has.
std::string shown(const std::string& text) {
  constexpr std::size_t most = 120;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Returns the coordinates that the grid has, of which only x varies along a row, followed by the given
/// values.
ExpressionNames names_of(const Expression& expression, const Grid& grid) {
  ExpressionNames names;
  for (int axis = axis_count - 1; axis >= grid.domain.first_axis(); --axis)
    names.variables.push_back({axis_names[axis], axis == x_axis});
  for (const GivenValues& given : expression.given) names.variables.push_back({given.name});
  names.constants = expression.constants;
  return names;
}

RowProgram translate(const Expression& expression, const Grid& grid) {
  try {
    return {parse_expression(expression.text), names_of(expression, grid)};
  } catch (const SyntaxError& error) {
    const bool time = error.found() == "the unknown name 't'" || error.found() == "the unknown name 'time'";
    throw Error(
        Status::invalid_input,
        fmt::format("{} '{}': {}{}", expression.key, shown(expression.text), error.what(),
                    time ? "\nthis formula knows no time: its values are those of the beginning" : ""));
  }
}

/// Evaluates parts of rows; every thread has its own.
class RowEvaluator {
 public:
  RowEvaluator(const RowProgram& program, const Expression& expression, const Grid& grid)
      : program_(program), given_(expression.given), grid_(grid) {}

  /// Writes the values of out.size() points along x, from `begin` on.
  void evaluate(const Index3& begin, std::span<double> out) {
    std::array<double, axis_count> along{};  // {x, y, z} of the row
    x_.resize(out.size());
    for (std::size_t i = 0; i < out.size(); ++i)
      x_[i] = grid_.coordinate(x_axis, begin[x_axis] + static_cast<std::int64_t>(i));
    std::vector<const double*> variables{x_.data()};
    for (int i = 1; i < grid_.domain.dimensions; ++i) {
      along[i] = grid_.coordinate(axis_count - 1 - i, begin[axis_count - 1 - i]);
      variables.push_back(&along[i]);
    }
    for (const GivenValues& given : given_) variables.push_back(given.row(begin));
    program_.evaluate(variables, out, workspace_);
  }

 private:
  const RowProgram& program_;
  const std::vector<GivenValues>& given_;
  const Grid& grid_;
  std::vector<double> x_, workspace_;
};

[[noreturn]] void refuse_value(const Expression& expression, const Grid& grid, const Index3& p,
                               double value) {
  std::string place;
  for (int axis = axis_count - 1; axis >= grid.domain.first_axis(); --axis)
    place +=
        fmt::format("{}{} = {}", place.empty() ? "" : ", ", axis_names[axis], grid.coordinate(axis, p[axis]));
  throw Error(Status::invalid_input,
              fmt::format("{} '{}' is {} at {} (point [{}])", expression.key, shown(expression.text), value,
                          place, fmt::join(p.begin() + grid.domain.first_axis(), p.end(), ", ")));
}

}  // namespace

void Expression::check(const Grid& grid) const { translate(*this, grid); }

void Expression::evaluate(const Grid& grid, const Box& box, const ValueSink& sink) const {
  const RowProgram program = translate(*this, grid);
  if (box.empty()) return;

  // Rows are evaluated in parts, because a 1D grid is a single row of any length that all threads share.
  constexpr std::int64_t longest = 4096;  // points
  const std::int64_t parts = ceil_div(box.extent()[x_axis], longest), count = row_count(box) * parts;
  std::int64_t first_failure = count;
  std::exception_ptr failure;
#pragma omp parallel
  {
    RowEvaluator evaluator(program, *this, grid);
    std::vector<double> values;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const Index3 begin = row_begin(box, i / parts) + Index3{0, 0, i % parts * longest};
      values.resize(static_cast<std::size_t>(std::min(longest, box.end[x_axis] - begin[x_axis])));
      try {
        evaluator.evaluate(begin, values);
        for (std::int64_t x = 0; x < static_cast<std::int64_t>(values.size()); ++x)
          if (!std::isfinite(values[x])) refuse_value(*this, grid, begin + Index3{0, 0, x}, values[x]);
        sink(begin, values);
      } catch (...) {
        // The first failure is reported, whatever the number of threads.
#pragma omp critical
        if (i < first_failure) first_failure = i, failure = std::current_exception();
      }
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace spsolve
