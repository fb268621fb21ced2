// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/operator/terms.hpp"

namespace spsolve {

/// Represents field.next = value.
struct Statement {
  int field;
  TermId value;
};

/// Describes one time step: the statements in the order of the text, one per field. A value reads
/// `Level::next` only of fields whose statements stand above.
struct System {
  int dimensions = 3;
  std::vector<std::string> fields;
  std::vector<std::string> coefficients;
  Terms terms;
  std::vector<Statement> statements;
};

/// Returns true if two systems have the same fields and statements, whatever the names of shorthands, the
/// order of coefficients and the coefficients that no statement reads.
bool same_statements(const System& a, const System& b);

/// Returns the grid point whose coefficient is used at `p`: coefficients wrap where the axis is periodic (it
/// is for all fields or for none), and are mirrored elsewhere.
inline Index3 wrapped_or_reflected(const Domain& domain, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis)
    p[axis] =
        domain.periodic(axis) ? wrap(p[axis], domain.shape[axis]) : reflect(p[axis], domain.shape[axis]);
  return p;
}

}  // namespace spsolve
