// SPDX-License-Identifier: Apache-2.0
#include "io/expression.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <muParser.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <exception>
#include <memory>
#include <numbers>
#include <optional>
#include <ranges>

#include "kernels/error.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

namespace {

std::string coordinate_names(const Domain& domain) {
  std::string names;
  for (int axis = axis_count - 1; axis >= domain.first_axis(); --axis)
    names += std::string(names.empty() ? "" : ", ") + axis_names[axis];
  return names;
}

/// As much of a formula as a message has room for.
std::string shown(const std::string& text) {
  constexpr std::size_t most = 120;
  return text.size() <= most ? text : text.substr(0, most) + "...";
}

/// Functions of C and numpy that muParser has not, or has otherwise: its rint rounds 0.5 up instead of to
/// even.
void define_functions(mu::Parser& parser) {
  using Unary = double (*)(double);
  using Binary = double (*)(double, double);
  parser.DefineFun("rint", Unary{std::rint});
  parser.DefineFun("floor", Unary{std::floor});
  parser.DefineFun("ceil", Unary{std::ceil});
  parser.DefineFun("trunc", Unary{std::trunc});
  parser.DefineFun("fmod", Binary{std::fmod});
  parser.DefineFun("hypot", Binary{std::hypot});
  parser.DefineFun("pow", Binary{std::pow});
}

/// muParser bound to coordinates of its own: one per thread, as evaluation reads them by address.
class Evaluator {
 public:
  Evaluator(const Expression& expression, const Grid& grid) : grid_(grid) {
    try {
      parser_.DefineConst("pi", std::numbers::pi);
      define_functions(parser_);
      for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis)
        parser_.DefineVar(axis_names[axis], &coordinates_[axis]);
      parser_.SetExpr(expression.text);
      parser_.Eval();  // muParser translates on first use
    } catch (const mu::Parser::exception_type& error) {
      std::string message = error.GetMsg();
      while (!message.empty() && (message.back() == '.' || message.back() == ' ')) message.pop_back();
      if (error.GetPos() >= 0 && message.find("position") == std::string::npos)
        message += fmt::format(" at position {}", error.GetPos());
      if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN &&
          (error.GetToken() == "t" || error.GetToken() == "time"))
        message +=
            "; formulas know no time: the initial state is that of step 0, a source adds the same in every "
            "step";
      else if (error.GetCode() == mu::ecUNASSIGNABLE_TOKEN)
        message += fmt::format("; this grid has {}, and there are pi, {}", coordinate_names(grid.domain),
                               fmt::join(parser_.GetFunDef() | std::views::keys, ", "));
      throw Error(Status::invalid_input,
                  fmt::format("{} '{}': {}", expression.key, shown(expression.text), message));
    }
  }
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  double at(const Index3& p) {
    for (int axis = 0; axis < axis_count; ++axis)
      coordinates_[axis] = grid_.origin[axis] + static_cast<double>(p[axis]) * grid_.spacing[axis];
    return parser_.Eval();
  }

  int results() const { return parser_.GetNumResults(); }

 private:
  const Grid& grid_;
  std::array<double, 3> coordinates_{};
  mu::Parser parser_;
};

[[noreturn]] void refuse_value(const Expression& expression, const Grid& grid, const Index3& p,
                               double value) {
  std::string place, index;
  for (int axis = axis_count - 1; axis >= grid.domain.first_axis(); --axis)
    place += fmt::format("{}{} = {}", place.empty() ? "" : ", ", axis_names[axis],
                         grid.origin[axis] + static_cast<double>(p[axis]) * grid.spacing[axis]);
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis)
    index += fmt::format("{}{}", index.empty() ? "" : ", ", p[axis]);
  throw Error(Status::invalid_input, fmt::format("{} '{}' is {} at {} (point [{}])", expression.key,
                                                 shown(expression.text), value, place, index));
}

}  // namespace

void Expression::check(const Grid& grid) const {
  const Evaluator evaluator(*this, grid);
  if (evaluator.results() != 1)
    throw Error(Status::invalid_input,
                fmt::format("{} '{}' has {} results; wanted one formula without commas outside "
                            "of function calls",
                            key, shown(text), evaluator.results()));
  // muParser would assign to the coordinate itself, which the next point relies on.
  for (std::size_t i = text.find('='); i != std::string::npos; i = text.find('=', i + 1)) {
    if (i + 1 < text.size() && text[i + 1] == '=')
      ++i;
    else if (i == 0 || std::string_view("<>!").find(text[i - 1]) == std::string_view::npos)
      throw Error(
          Status::invalid_input,
          fmt::format("{} '{}': unexpected '=' at position {}; equality is '=='", key, shown(text), i));
  }
}

void Expression::evaluate(const Grid& grid, const Box& box, const ValueSink& sink) const {
  check(grid);
  if (box.empty()) return;
  std::vector<std::unique_ptr<Evaluator>> evaluators;
  const auto threads = static_cast<std::size_t>(omp_get_max_threads());
  evaluators.reserve(threads);
  while (evaluators.size() < threads) evaluators.push_back(std::make_unique<Evaluator>(*this, grid));

  // Rows in parts: a 1D grid is one row, for all threads and of any length.
  constexpr std::int64_t longest = 4096;  // points
  const std::int64_t parts = ceil_div(box.extent()[x_axis], longest), count = row_count(box) * parts;
  std::int64_t first_failure = count;
  std::exception_ptr failure;
#pragma omp parallel
  {
    Evaluator& evaluator = *evaluators[omp_get_thread_num()];
    std::vector<double> values;
#pragma omp for schedule(static)
    for (std::int64_t i = 0; i < count; ++i) {
      const Index3 begin = row_begin(box, i / parts) + Index3{0, 0, i % parts * longest};
      values.resize(static_cast<std::size_t>(std::min(longest, box.end[x_axis] - begin[x_axis])));
      try {
        for (std::int64_t x = 0; x < static_cast<std::int64_t>(values.size()); ++x) {
          const Index3 p = begin + Index3{0, 0, x};
          values[x] = evaluator.at(p);
          if (!std::isfinite(values[x])) refuse_value(*this, grid, p, values[x]);
        }
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
