// SPDX-License-Identifier: Apache-2.0
#include "app/values/state_formula.hpp"

#include <algorithm>
#include <exception>

#include "io/language/parser.hpp"

namespace spsolve {
namespace {

bool uses(const Syntax& formula, const std::string& name) {
  return std::ranges::any_of(formula.nodes, [&](const SyntaxNode& node) {
    return node.kind == SyntaxNode::Kind::name && node.text == name;
  });
}

}  // namespace

StateFormula::StateFormula(const RunConfig& config, const std::string& formula)
    : config_(&config), program_(parse_expression(formula), names_of_state(config)) {
  const Syntax syntax = parse_expression(formula);
  const std::vector<std::string> names = field_names(config);
  for (std::size_t field = 0; field < names.size(); ++field)
    if (uses(syntax, names[field])) fields_.push_back(field);
  if (config.equations)
    uses_coefficients_ = std::ranges::any_of(
        config.equations->coefficients,
        [&](const CoefficientConfig& coefficient) { return uses(syntax, coefficient.name); });
}

void StateFormula::evaluate(const Box& box, std::int64_t step, const FillRow& fill,
                            const CoefficientValues* coefficients, const ValueSink& sink) const {
  const Grid& grid = config_->grid;
  const std::size_t fields = field_names(*config_).size();
  const std::size_t count = config_->equations ? config_->equations->coefficients.size() : 0;
  const auto length = static_cast<std::size_t>(box.extent()[x_axis]);
  const double n = static_cast<double>(step), dt = config_->time.dt, t = n * dt;
  std::exception_ptr failure;
#pragma omp parallel
  {
    const FillRow own_fill = fill;  // a device's memory is read by one thread at a time
    // The rows are in the order of names_of_state(): x, the fields and the coefficients have rows. Rows of
    // names that the formula does not use stay 0.
    std::vector<std::vector<double>> rows(1 + fields + count, std::vector<double>(length));
    std::vector<double> result(length), workspace;
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Index3 begin = row_begin(box, row);
      const auto point = [&](std::size_t i) { return begin + Index3{0, 0, static_cast<std::int64_t>(i)}; };
      for (std::size_t i = 0; i < length; ++i) rows[0][i] = grid.coordinate(x_axis, point(i)[x_axis]);
      try {
        for (const std::size_t field : fields_) own_fill(field, begin, rows[1 + field]);
      } catch (...) {
#pragma omp critical
        failure = std::current_exception();
      }
      for (std::size_t k = 0; uses_coefficients_ && k < count; ++k)
        for (std::size_t i = 0; i < length; ++i) rows[1 + fields + k][i] = coefficients->at(k, point(i));
      const double y = grid.coordinate(y_axis, begin[y_axis]), z = grid.coordinate(z_axis, begin[z_axis]);
      for (std::size_t first = 0; first < length; first += RowProgram::width) {
        std::vector<const double*> variables{rows[0].data() + first};
        if (grid.domain.dimensions > 1) variables.push_back(&y);
        if (grid.domain.dimensions > 2) variables.push_back(&z);
        for (std::size_t i = 1; i < rows.size(); ++i) variables.push_back(rows[i].data() + first);
        variables.insert(variables.end(), {&t, &dt, &n});
        const std::size_t points = std::min<std::size_t>(length - first, RowProgram::width);
        program_.evaluate(variables, {result.data() + first, points}, workspace);
      }
      sink(begin, result);
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace spsolve
