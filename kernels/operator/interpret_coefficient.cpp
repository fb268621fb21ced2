// SPDX-License-Identifier: Apache-2.0
#include "kernels/operator/interpret_coefficient.hpp"

#include <algorithm>

#include "kernels/rounding.hpp"

namespace spsolve {

void interpret_coefficient(
    const Canonical& canonical, std::size_t coefficient, const Domain& domain, const Box& box,
    const LeafRow& leaf,
    const std::function<void(const Index3& first, std::span<const double> values)>& use) {
  if (box.empty()) return;
  Box copies = box_of({1, 1, 1});  // copies of the grid, counted along periodic axes
  for (int axis = 0; axis < axis_count; ++axis)
    if (domain.periodic(axis)) {
      copies.begin[axis] = floor_div(box.begin[axis], domain.shape[axis]);
      copies.end[axis] = floor_div(box.end[axis] - 1, domain.shape[axis]) + 1;
    }
  for_each_point(copies, [&](const Index3& copy) {
    Index3 shift{};
    Box part = box;
    for (int axis = 0; axis < axis_count; ++axis) {
      if (!domain.periodic(axis)) continue;
      shift[axis] = copy[axis] * domain.shape[axis];
      part.begin[axis] = std::max(part.begin[axis], shift[axis]);
      part.end[axis] = std::min(part.end[axis], shift[axis] + domain.shape[axis]);
    }
    // Coefficients of the input repeat by themselves.
    const LeafRow repeated = [&](const Term& term, const Index3& first, std::span<double> values) {
      leaf(term, term.kind == TermKind::coordinate ? first - shift : first, values);
    };
    interpret_rows(canonical.terms, canonical.coefficients[coefficient], part, repeated, use);
  });
}

}  // namespace spsolve
