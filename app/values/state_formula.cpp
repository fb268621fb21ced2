// SPDX-License-Identifier: Apache-2.0
#include "app/values/state_formula.hpp"

#include <omp.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <optional>

#include "io/language/parser.hpp"

namespace spsolve {
namespace {

bool uses(const Syntax& formula, const std::string& name) {
  return std::ranges::any_of(formula.nodes, [&](const SyntaxNode& node) {
    return node.kind == SyntaxKind::name && node.text == name;
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

/// Computes rows of a formula on one thread.
class StateFormula::FormulaRows {
 public:
  FormulaRows(const StateFormula& formula, std::size_t length, std::int64_t step, const FillRow& fill,
              const CoefficientValues* coefficients)
      : formula_(formula),
        fill_(fill),
        coefficients_(coefficients),
        n_(static_cast<double>(step)),
        dt_(formula.config_->time.dt),
        t_(n_ * dt_),
        fields_(field_names(*formula.config_).size()),
        coefficient_count_(formula.config_->equations ? formula.config_->equations->coefficients.size() : 0),
        rows_(1 + fields_ + coefficient_count_, std::vector<double>(length)),
        result_(length) {}

  /// Returns the values of the row that begins at `begin`, until the next call.
  std::span<const double> at(const Index3& begin) {
    const Grid& grid = formula_.config_->grid;
    const std::size_t length = result_.size();
    const auto point = [&](std::size_t i) { return begin + Index3{0, 0, static_cast<std::int64_t>(i)}; };
    for (std::size_t i = 0; i < length; ++i) rows_[0][i] = grid.coordinate(x_axis, point(i)[x_axis]);
    for (const std::size_t field : formula_.fields_) fill_(field, begin, rows_[1 + field]);
    for (std::size_t k = 0; formula_.uses_coefficients_ && k < coefficient_count_; ++k)
      for (std::size_t i = 0; i < length; ++i) rows_[1 + fields_ + k][i] = coefficients_->at(k, point(i));
    const double y = grid.coordinate(y_axis, begin[y_axis]), z = grid.coordinate(z_axis, begin[z_axis]);
    std::vector<const double*> variables{rows_[0].data()};
    if (grid.domain.dimensions > 1) variables.push_back(&y);
    if (grid.domain.dimensions > 2) variables.push_back(&z);
    for (std::size_t i = 1; i < rows_.size(); ++i) variables.push_back(rows_[i].data());
    variables.insert(variables.end(), {&t_, &dt_, &n_});
    formula_.program_.evaluate(variables, result_, workspace_);
    return result_;
  }

 private:
  const StateFormula& formula_;
  const FillRow fill_;
  const CoefficientValues* coefficients_;
  double n_, dt_, t_;
  std::size_t fields_, coefficient_count_;
  // The rows are in the order of names_of_state(): x, the fields and the coefficients have rows. Rows of
  // names that the formula does not use stay 0.
  std::vector<std::vector<double>> rows_;
  std::vector<double> result_, workspace_;
};

void StateFormula::evaluate(const Box& box, std::int64_t step, const FillRow& fill,
                            const CoefficientValues* coefficients, const ValueSink& sink,
                            int most_threads) const {
  const auto length = static_cast<std::size_t>(box.extent()[x_axis]);
  std::exception_ptr failure;  // no exception may leave a thread
  std::atomic<bool> failed = false;
  const auto guarded = [&](const auto& work) {
    if (failed) return;
    try {
      work();
    } catch (...) {
#pragma omp critical
      failure = std::current_exception();
      failed = true;
    }
  };
#pragma omp parallel num_threads(std::min(most_threads, omp_get_max_threads()))
  {
    std::optional<FormulaRows> rows;
    guarded([&] { rows.emplace(*this, length, step, fill, coefficients); });
#pragma omp for schedule(static)
    for (std::int64_t row = 0; row < row_count(box); ++row)
      guarded([&] { sink(row_begin(box, row), rows->at(row_begin(box, row))); });
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace spsolve
