// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/operator/system.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// A node of the canonical form, read at the point displaced by `offset`. What is read displaced is the node
/// as a whole, at that point: beyond faces it is made of ghost values of fields and of coefficients there.
struct Reading {
  int node = 0;
  Index3 offset{};

  friend bool operator==(const Reading&, const Reading&) = default;
};

/// A part of a chain: sum_k weight[k] * (node at the point displaced by offset[k]).
struct Link {
  int node;
  Stencil stencil;
};

/// What units compute, in the precision T of the run; operands have smaller numbers.
///
/// number       a number of the text, rounded to T
/// scalar       one value per step, from t, n and numbers: computed in double, rounded to T
/// coefficient  one value per point, from coefficients, coordinates and numbers: computed in double where it
///              is needed, beyond faces too, and rounded to T
/// field        a field at a level of time
/// chain        sum = start, or 0; then for each link in turn, for each tap in its order: sum = fma(weight,
///              value, sum), weights in double and rounded to T. Links to fields come first, those to
///              `previous` before those to `now` and `next`, then in the order of fields; links to other
///              nodes follow by number.
/// operation    as `apply` has it, every rounding to T once
struct CanonicalNode {
  enum class Kind : std::uint8_t { number, scalar, coefficient, field, chain, operation };
  Kind kind = Kind::number;
  double number = 0.0;
  int index = 0;  // of the scalar, the coefficient or the field
  Level level = Level::now;
  Operation operation = Operation::add;
  std::vector<Reading> operands = {};  // of an operation
  std::optional<Reading> start = {};   // of a chain: a number or a coefficient
  std::vector<Link> links = {};        // of a chain, one at least
};

/// The canonical form of a system: a function of its text alone.
///
/// 1. The largest sub-expressions that are linear in fields with constant weights become chains, also where a
///    term of coefficients, coordinates and numbers is added, which the chain starts from. Numbers are
///    combined in double on the way. d, mean, laplace and correlate of what is no such expression are chains
///    with links to it, and as linear in it as they would be in a field.
/// 2. What depends on coefficients, coordinates and numbers alone becomes one derived coefficient; what
///    depends on t, n and numbers alone one scalar per step.
/// 3. Powers with the constant exponents 2, 3 and 4 are products from left to right, those with -1 to -4
///    their reciprocals, 0.5 is a square root; factors and divisors of 1 are left out.
/// 4. What is left are operations in the order written.
///
/// Equal parts occur once, and chains that are displacements of one another are one node read at several
/// points.
struct Canonical {
  int dimensions = 3;
  Terms terms;                       // of the scalars and the coefficients
  std::vector<TermId> scalars;       // read only t, n and numbers
  std::vector<TermId> coefficients;  // read only coefficients, coordinates and numbers
  std::vector<CanonicalNode> nodes;
  std::vector<int> fields;         // per statement the field that it advances
  std::vector<Reading> equations;  // per statement its value
  std::vector<std::string> field_names, coefficient_names;
  int field_count() const { return static_cast<int>(field_names.size()); }
};

/// Throws Error(invalid_input) where weights are not finite, or reach over more than 10^6 points.
Canonical canonical_form(const System& system);

/// Returns the canonical form for `check`: a line per derived coefficient, scalar, shared node and equation.
std::string text_of(const Canonical& canonical);

}  // namespace spsolve
