// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "app/values/values.hpp"
#include "io/input/config.hpp"
#include "io/language/row_program.hpp"

namespace spsolve {

/// Evaluates a formula of the state: of fields, coefficients, coordinates, t, dt, step and constants.
class StateFormula {
 public:
  /// The formula was checked when the input was read. `config` must outlive this object.
  StateFormula(const RunConfig& config, const std::string& formula);

  /// Returns the numbers of the fields that the formula uses, in the order of the problem.
  const std::vector<std::size_t>& fields() const { return fields_; }
  bool uses_coefficients() const { return uses_coefficients_; }

  /// Fills a row of a field with the values of the points along x from `begin` on. Each thread calls a copy
  /// of its own, because one reads a device's memory at a time.
  using FillRow = std::function<void(std::size_t field, const Index3& begin, std::span<double> row)>;

  /// Passes the values on `box` at `step` to `sink`, row by row, from up to `most_threads` threads.
  /// `coefficients` holds those of the box; it may be null if the formula uses none. If `fill` or `sink`
  /// throws, no more rows are computed, and the exception is thrown again.
  void evaluate(const Box& box, std::int64_t step, const FillRow& fill, const CoefficientValues* coefficients,
                const ValueSink& sink, int most_threads = std::numeric_limits<int>::max()) const;

 private:
  class FormulaRows;

  const RunConfig* config_;
  RowProgram program_;
  std::vector<std::size_t> fields_;
  bool uses_coefficients_ = false;
};

}  // namespace spsolve
