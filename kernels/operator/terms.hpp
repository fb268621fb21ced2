// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <map>
#include <string>
#include <vector>

#include "kernels/operator/operation.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Names the time level at which a field is read: one step before the current one, at it, or after the
/// statements so far.
enum class Level : std::uint8_t { previous, now, next };

/// Numbers the terms of a `Terms`.
using TermId = int;

/// Tells what a term is, and which of its members describe it.
enum class TermKind : std::uint8_t {
  number,       // number
  coordinate,   // coordinate of the point along axis `index`
  coefficient,  // `index`
  time,         // t
  step,         // n
  field,        // `index` at `level`
  operation,    // operation(operands)
  displaced,    // operands[0] at the point displaced by `offset`
  weighted,     // sum_k weight[k] operands[0] at the point displaced by offset[k]: weights number `index`
};

/// Holds one node of an expression as it was written, independent of its text.
struct Term {
  TermKind kind = TermKind::number;
  Operation operation = Operation::add;
  Level level = Level::now;
  int index = 0;
  double number = 0.0;
  Index3 offset{};
  std::vector<TermId> operands = {};
};

/// Holds expressions that share their equal parts. Terms have larger numbers than their operands, so loops
/// over the numbers replace recursion. Expressions of numbers alone are evaluated at once, in double.
class Terms {
 public:
  TermId number(double value);
  TermId coordinate(int axis) { return add({.kind = TermKind::coordinate, .index = axis}); }
  TermId coefficient(int index) { return add({.kind = TermKind::coefficient, .index = index}); }
  TermId time() { return add({.kind = TermKind::time}); }
  TermId step() { return add({.kind = TermKind::step}); }
  TermId field(int index, Level level) {
    return add({.kind = TermKind::field, .level = level, .index = index});
  }
  TermId operation(Operation operation, std::vector<TermId> operands);
  TermId displaced(TermId operand, const Index3& offset);
  TermId weighted(TermId operand, const std::vector<Tap>& taps);
  /// Adds all terms of `others` and returns their numbers here. `coefficients` holds the numbers that the
  /// coefficients of `others` have here.
  std::vector<TermId> add_all(const Terms& others, const std::vector<int>& coefficients);

  const Term& operator[](TermId id) const { return terms_[id]; }
  TermId size() const { return static_cast<TermId>(terms_.size()); }
  const std::vector<Tap>& weights(int index) const { return weights_[index]; }

 private:
  struct Less {
    bool operator()(const Term& a, const Term& b) const;
  };
  TermId add(Term term);

  std::vector<Term> terms_;
  std::map<Term, TermId, Less> numbers_;
  std::vector<std::vector<Tap>> weights_;
};

/// Marks, by number, `roots` and all terms that they depend on.
std::vector<bool> reachable(const Terms& terms, const std::vector<TermId>& roots);

/// Holds the number of axes that offsets have, and the names of fields and coefficients, for texts.
struct TermNames {
  int dimensions;
  const std::vector<std::string>& fields;
  const std::vector<std::string>& coefficients;
};

/// Returns a term as text in the language of equations, except that weighted sums are written
/// "weights<number>(...)". Long texts are shortened with "...".
std::string text_of(const Terms& terms, TermId id, const TermNames& names);

}  // namespace spsolve
