// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stdexcept>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/interpret.hpp"

namespace spsolve {

/// Returns the scalars of a system (Canonical::scalars) at a step, in double.
inline std::vector<double> scalar_values(const Canonical& canonical, double dt, std::int64_t step) {
  const LeafValue leaf = [&](const Term& term, const Index3&) {
    if (term.kind != TermKind::time && term.kind != TermKind::step)
      throw std::logic_error("a scalar depends on t and n only");
    return static_cast<double>(step) * (term.kind == TermKind::time ? dt : 1.0);
  };
  std::vector<double> values;
  for (const TermId scalar : canonical.scalars)
    values.push_back(interpret(canonical.terms, scalar, box_of({1, 1, 1}), leaf).front());
  return values;
}

}  // namespace spsolve
