// SPDX-License-Identifier: Apache-2.0
#include "app/run/field_sums.hpp"

#include <algorithm>

#include "io/language/parser.hpp"

namespace spsolve {

FieldSums::FieldSums(const Communicator& communicator, const RunConfig& config, const Block& block)
    : communicator_(communicator), config_(config) {
  for (const auto& [name, formula] : config.diagnostics.sums)
    formulas_.emplace_back(parse_expression(formula), names_of_state(config));
  if (config.equations && !formulas_.empty()) coefficients_.emplace(communicator, config, block.owned());
}

std::vector<std::string> FieldSums::names() const {
  std::vector<std::string> names;
  for (const auto& [name, formula] : config_.diagnostics.sums) names.push_back(name);
  return names;
}

std::vector<double> FieldSums::at(std::int64_t step, Block& block) const {
  std::vector<double> sums;
  if (formulas_.empty()) return sums;
  const Grid& grid = config_.grid;
  const Box& owned = block.owned();
  const std::size_t coefficients = config_.equations ? config_.equations->coefficients.size() : 0;
  std::vector<std::shared_ptr<HostCopy>> copies;
  std::vector<const Field*> fields;
  for (std::size_t field = 0; field < block.field_count(); ++field) {
    const StateView view = block.view(field);
    copies.push_back(view.scan({1, view.state->precision()}).copy);
    fields.push_back(&copies.back()->wait());
  }
  const double n = static_cast<double>(step), dt = config_.time.dt, t = n * dt;
  const std::int64_t length = owned.extent()[x_axis];
  Field values(owned, {0, 0, 0}, Precision::fp64);
  for (const RowProgram& formula : formulas_) {
#pragma omp parallel
    {
      // The variables in the order of names_of_state(): those that vary along a row have rows of their own.
      std::vector<std::vector<double>> rows(1 + fields.size() + coefficients,
                                            std::vector<double>(static_cast<std::size_t>(length)));
      std::vector<double> workspace;
#pragma omp for schedule(static)
      for (std::int64_t i = 0; i < row_count(owned); ++i) {
        const Index3 begin = row_begin(owned, i);
        const auto coordinate = [&](int axis, std::int64_t p) {
          return grid.origin[axis] + static_cast<double>(p) * grid.spacing[axis];
        };
        for (std::int64_t x = 0; x < length; ++x) rows[0][x] = coordinate(x_axis, begin[x_axis] + x);
        for (std::size_t field = 0; field < fields.size(); ++field)
          with_storage(fields[field]->precision(), [&]<class Storage>() {
            std::transform(fields[field]->at<Storage>(begin), fields[field]->at<Storage>(begin) + length,
                           rows[1 + field].begin(), stored_value<Storage>);
          });
        for (std::size_t k = 0; k < coefficients; ++k)
          for (std::int64_t x = 0; x < length; ++x)
            rows[1 + fields.size() + k][x] = coefficients_->at(k, begin + Index3{0, 0, x});
        const double y = coordinate(y_axis, begin[y_axis]), z = coordinate(z_axis, begin[z_axis]);
        for (std::int64_t first = 0; first < length; first += RowProgram::width) {
          std::vector<const double*> variables{rows[0].data() + first};
          if (grid.domain.dimensions > 1) variables.push_back(&y);
          if (grid.domain.dimensions > 2) variables.push_back(&z);
          for (std::size_t row = 1; row < rows.size(); ++row) variables.push_back(rows[row].data() + first);
          variables.insert(variables.end(), {&t, &dt, &n});
          const auto count =
              static_cast<std::size_t>(std::min<std::int64_t>(length - first, RowProgram::width));
          formula.evaluate(variables, {values.at<double>(begin) + first, count}, workspace);
        }
      }
    }
    sums.push_back(sum_over_grid(communicator_, grid.domain.shape, values));
  }
  return sums;
}

}  // namespace spsolve
