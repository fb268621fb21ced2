// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
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

/// Describes what a step needs besides the state: the grid, with the walls of each field, the time step and
/// the coefficients.
struct StepContext {
  std::array<double, 3> origin{}, spacing{1.0, 1.0, 1.0};  // {z, y, x}
  double dt = 1.0;
  std::vector<Domain> fields;                     // one per field, all of one shape
  std::vector<std::vector<double>> coefficients;  // values of each coefficient, in that shape, x fastest

  const Index3& shape() const { return fields.front().shape; }
};

/// Holds the fields at step n and one step before, of the shape of the grid, x fastest.
template <class T>
struct SystemState {
  std::vector<std::vector<T>> now, previous;
  std::int64_t step = 0;
};

/// Returns the grid point whose coefficient is used at `p`: coefficients wrap where the axis is periodic (it
/// is for all fields or for none), and are mirrored elsewhere.
inline Index3 wrapped_or_reflected(const Domain& domain, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis)
    p[axis] =
        domain.periodic(axis) ? wrap(p[axis], domain.shape[axis]) : reflect(p[axis], domain.shape[axis]);
  return p;
}

}  // namespace spsolve
