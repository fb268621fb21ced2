// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/values/state_formula.hpp"
#include "app/values/values.hpp"
#include "io/input/config.hpp"
#include "solver/block.hpp"

namespace spsolve {

/// Computes the formulas of diagnostics.sums on the state of a block.
class FieldSums {
 public:
  /// Reads the coefficients. Collective.
  FieldSums(const Communicator& communicator, const RunConfig& config, const Block& block);

  /// Returns the names of the sums, in alphabetical order.
  std::vector<std::string> names() const;
  /// Returns the sums over the whole grid at `step`, in the order of the names. Values are in double, and any
  /// number of ranks gives the same bits. Copies the fields that formulas use to the host. Collective.
  std::vector<double> at(std::int64_t step, Block& block) const;

 private:
  Communicator communicator_;
  const RunConfig& config_;
  std::vector<StateFormula> formulas_;
  std::optional<CoefficientValues> coefficients_;
};

}  // namespace spsolve
