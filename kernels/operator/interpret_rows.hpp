// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <span>
#include <tuple>
#include <vector>

#include "kernels/operator/interpret.hpp"
#include "kernels/operator/range.hpp"

namespace spsolve {

/// Fills `values` with those of a leaf (a coordinate, a coefficient, a time or a field) at the points
/// `first`, `first` + 1, ... along x, which may lie beyond the faces of the grid.
using LeafRow = std::function<void(const Term& leaf, const Index3& first, std::span<double> values)>;

/// Evaluates a term row by row, with the bits of interpret() at every point. Memory holds only the rows from
/// which one row of the result is computed.
class RowInterpreter {
 public:
  /// `terms` must outlive the interpreter.
  RowInterpreter(const Terms& terms, TermId id);

  /// Holds the memory of one thread.
  using Workspace = std::vector<std::vector<double>>;

  /// Fills `out` with the values of the term at the points `first`, `first` + 1, ... along x.
  void evaluate(const Index3& first, const LeafRow& leaf, std::span<double> out, Workspace& workspace) const;

 private:
  /// Identifies a term at the row displaced by {z, y}.
  using RowKey = std::tuple<TermId, std::int64_t, std::int64_t>;
  struct Read {
    int row;
    std::int64_t x;  // displacement along x
    double weight;
  };
  struct TermRow {
    TermId term;
    std::int64_t z, y;
    Range columns;  // around each point
    std::vector<Read> reads;
  };

  void compute(const TermRow& row, std::int64_t points, const Index3& first, const LeafRow& leaf,
               const Workspace& workspace, double* out) const;

  const Terms& terms_;
  std::vector<TermRow> rows_;  // operands before the rows computed from them
};

/// Calls `use` with the first point and the values of every row of `box`, from all threads. Neither `leaf`
/// nor `use` may throw; rows are independent of each other.
void interpret_rows(const Terms& terms, TermId id, const Box& box, const LeafRow& leaf,
                    const std::function<void(const Index3& first, std::span<const double> values)>& use);

}  // namespace spsolve
