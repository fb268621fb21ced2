// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "kernels/operator/interpret_rows.hpp"
#include "tests/support/step_context.hpp"

namespace spsolve::testing {

/// Returns coordinates, coefficients, t and n of the context by rows; given_values() returns them by points.
inline LeafRow given_rows(const StepContext& context, std::int64_t step) {
  return [&context, step, point = given_values(context, step)](const Term& leaf, const Index3& first,
                                                               std::span<double> values) {
    if (leaf.kind == TermKind::coefficient) {
      const Domain& domain = context.fields.front();
      const std::int64_t n = domain.shape[x_axis];
      const Index3 row = wrapped_or_reflected(domain, {first[z_axis], first[y_axis], 0});
      const double* const given = context.coefficients[leaf.index].data() + index_of(row, domain.shape);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const std::int64_t x = first[x_axis] + static_cast<std::int64_t>(i);
        values[i] = given[x >= 0 && x < n ? x : domain.periodic(x_axis) ? wrap(x, n) : reflect(x, n)];
      }
      return;
    }
    if (leaf.kind == TermKind::coordinate && leaf.index == x_axis) {
      for (std::size_t i = 0; i < values.size(); ++i)
        values[i] =
            context.origin[x_axis] +
            static_cast<double>(first[x_axis] + static_cast<std::int64_t>(i)) * context.spacing[x_axis];
      return;
    }
    std::fill(values.begin(), values.end(), point(leaf, first));
  };
}

}  // namespace spsolve::testing
