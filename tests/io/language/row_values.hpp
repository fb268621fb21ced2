// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <string>
#include <vector>

#include "io/language/parser.hpp"
#include "io/language/row_program.hpp"

namespace spsolve::testing {

/// Returns the values of a formula of x, y and z, of which only x varies, at points x.
inline std::vector<double> values(const std::string& text, const std::vector<double>& x, double y, double z) {
  const RowProgram program(parse_expression(text), {{{"x"}, {"y", false}, {"z", false}}});
  std::vector<double> out(x.size()), workspace;
  const std::array<const double*, 3> rows{x.data(), &y, &z};
  program.evaluate(rows, out, workspace);
  return out;
}

}  // namespace spsolve::testing
