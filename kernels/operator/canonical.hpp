// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/error.hpp"
#include "kernels/operator/system.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Refers to a node of the canonical form, read at the point displaced by `offset`. The node as a whole is
/// evaluated at that point: beyond faces it is computed from the ghost values of fields and coefficients
/// there.
struct Reading {
  int node = 0;
  Index3 offset{};

  friend auto operator<=>(const Reading&, const Reading&) = default;
};

/// Describes a part of a chain: sum_k weight[k] * (node at the point displaced by offset[k]).
struct ChainLink {
  int node;
  Stencil stencil;
};

/// Tells what a node of the canonical form computes (CanonicalNode).
enum class NodeKind : std::uint8_t { number, scalar, coefficient, field, chain, operation };

/// Holds one operation of a unit, computed in the precision T of the run. Nodes have larger numbers than
/// their operands.
///
/// number       a number of the text, rounded to T
/// scalar       one value per step, from t, n and numbers: computed in double, rounded to T
/// coefficient  one value per point, from coefficients, coordinates and numbers: computed in double where it
///              is needed, beyond faces too, and rounded to T
/// field        a field at a time level
/// chain        sum = start, or -0, to which the first product is added exactly; then for each link in turn,
///              for each tap in its order: sum = fma(weight, value, sum), weights in double and rounded to T.
///              Links to fields come first, those to `previous` before those to `now` and `next`, then in the
///              order of fields; links to other nodes follow by number.
/// operation    the result of apply(), with each rounding once to T
struct CanonicalNode {
  NodeKind kind = NodeKind::number;
  double number = 0.0;
  int index = 0;  // number of the scalar, the coefficient or the field
  Level level = Level::now;
  Operation operation = Operation::add;
  std::vector<Reading> operands = {};  // operands of an operation
  std::optional<Reading> start = {};   // first value of a chain: a number or a coefficient
  std::vector<ChainLink> links = {};   // links of a chain, one at least
};

/// Holds the canonical form of a system, which depends on its text alone. It is made by these rules:
///
/// 1. The largest sub-expressions that are linear in fields with constant weights become chains. A chain may
///    start from an added term of coefficients, coordinates and numbers. Numbers are combined in double on
///    the way. Other expressions that are added to the sub-expression are links of its chain, with the
///    number by which they are multiplied as weight. The weights of that sum are not combined further: a
///    number times the sum, and d, mean, laplace and correlate of it or of any other expression, become
///    chains with links to its node.
/// 2. An expression of coefficients, coordinates and numbers alone becomes one derived coefficient. An
///    expression of t, n and numbers alone becomes one scalar per step.
/// 3. Powers with the constant exponents 2, 3 and 4 become products from left to right, and those with -1 to
///    -4 the reciprocals of such products; 0.5 becomes a square root. Factors and divisors of 1 are left out.
/// 4. All other expressions become operations in the order written.
///
/// Equal parts occur once, and chains that are displacements of one another are one node read at several
/// points.
struct Canonical {
  int dimensions = 3;
  Terms terms;                       // terms of the scalars and the coefficients
  std::vector<TermId> scalars;       // read only t, n and numbers
  std::vector<TermId> coefficients;  // read only coefficients, coordinates and numbers
  std::vector<CanonicalNode> nodes;
  std::vector<int> fields;         // per statement the field that it advances
  std::vector<Reading> equations;  // per statement its value
  std::vector<std::string> field_names, coefficient_names;
  int field_count() const { return static_cast<int>(field_names.size()); }
};

/// Reports an error in the statement with a given number.
class StatementError : public Error {
 public:
  StatementError(const Error& error, std::size_t statement) : Error(error), statement_(statement) {}
  std::size_t statement() const { return statement_; }

 private:
  std::size_t statement_;
};

/// Returns the canonical form of a system. Throws StatementError where weights are not finite, or where a
/// chain reaches over more than 10^6 points.
Canonical canonical_form(const System& system);

/// Returns the canonical form as the verb `check` prints it: a line per derived coefficient, scalar, shared
/// node and equation.
std::string text_of(const Canonical& canonical);

}  // namespace spsolve
