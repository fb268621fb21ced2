// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/cpu/array_rows.hpp"
#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/cpu/step_program.hpp"

namespace spsolve {

/// Refers to the arrays that one step of a system reads and writes: fields, derived coefficients and scalars.
template <class Storage>
class SystemArrays {
 public:
  using T = Compute<Storage>;

  /// Holds the rows of every field at one time level.
  using FieldRows = std::vector<ArrayRows>;
  /// Holds the fields that a step reads and writes. The rows in `previous` are not used for fields whose
  /// previous values no equation reads.
  struct Levels {
    FieldRows previous, now, next;
  };

  /// `coefficients` are in compute precision. `scalars` hold the scalars of the canonical form at the step.
  SystemArrays(const std::vector<Domain>& domains, std::span<const Field* const> coefficients, Levels levels,
               std::vector<T> scalars)
      : domains_(domains),
        coefficients_(rows_of(coefficients)),
        levels_(std::move(levels)),
        scalars_(std::move(scalars)) {
    for (const Domain& domain : domains) ghosts_.push_back(ghost_values<Storage, Storage>(domain));
  }

  /// Locates the rows of some fields.
  template <class Fields>
  static FieldRows rows_of(const Fields& fields) {
    FieldRows rows;
    for (const Field* field : fields) rows.emplace_back(*field);
    return rows;
  }

  const std::vector<Domain>& domains() const { return domains_; }
  T scalar(int index) const { return scalars_[index]; }
  const std::array<std::array<Storage, 2>, 3>& ghosts(int field) const { return ghosts_[field]; }

  /// Returns the rows of the array that an operand reads or writes, of T for coefficients and of Storage for
  /// fields.
  const ArrayRows& array(const ProgramOperand& operand) const {
    const auto index = static_cast<std::size_t>(operand.index);
    if (operand.kind == OperandKind::coefficient) return coefficients_[index];
    if (operand.kind == OperandKind::output || operand.level == Level::next) return levels_.next[index];
    return operand.level == Level::previous ? levels_.previous[index] : levels_.now[index];
  }
  /// Returns the row {z, y} of a field after the step.
  Storage* next_row(int field, std::int64_t z, std::int64_t y) const {
    return reinterpret_cast<Storage*>(levels_.next[static_cast<std::size_t>(field)].row(z, y));
  }

  /// Locates a row of a field: the row {z, y, 0} that holds it, or a value for all of its points. Beyond
  /// the walls of both axes z decides before y. A field has filled faces at all of its walls or at none.
  struct FieldRow {
    Index3 row;
    const Storage* constant = nullptr;
  };
  FieldRow field_row(const ProgramOperand& operand, std::int64_t z, std::int64_t y) const {
    const Domain& domain = domains_[operand.index];
    Index3 p{z + operand.offset[z_axis], y + operand.offset[y_axis], 0};
    for (const int axis : {z_axis, y_axis}) {
      const std::int64_t n = domain.shape[axis];
      if ((p[axis] >= 0 && p[axis] < n) || domain.periodic(axis)) continue;
      const Side side = p[axis] < 0 ? low : high;
      if (domain.faces[axis][side].kind == BoundaryKind::filled) continue;
      if (domain.faces[axis][side].kind == BoundaryKind::dirichlet)
        return {p, &ghosts_[operand.index][axis][side]};
      p[axis] = reflect(p[axis], n);
    }
    return {p};
  }

 private:
  const std::vector<Domain>& domains_;
  FieldRows coefficients_;
  Levels levels_;
  std::vector<T> scalars_;
  std::vector<std::array<std::array<Storage, 2>, 3>> ghosts_;  // [field][axis][side]
};

/// Returns true if a box holds points of the row {z, y}.
inline bool has_row(const Box& box, std::int64_t z, std::int64_t y) {
  return z >= box.begin[z_axis] && z < box.end[z_axis] && y >= box.begin[y_axis] && y < box.end[y_axis];
}

/// Returns the x at which a tile that computes `known` of a row of `field` may fill ghost points. Ghost
/// points of constant value are filled by the first and the last tile of the range `whole` alone.
inline Range ends_to_fill(const Field& field, const Domain& domain, const Range& known, const Range& whole) {
  const auto& faces = domain.faces[x_axis];
  Range ends{field.allocated().begin[x_axis], field.allocated().end[x_axis]};
  if (faces[low].kind == BoundaryKind::dirichlet && known.begin > whole.begin)
    ends.begin = std::max<std::int64_t>(ends.begin, 0);
  if (faces[high].kind == BoundaryKind::dirichlet && known.end < whole.end)
    ends.end = std::min(ends.end, domain.shape[x_axis]);
  return ends;
}

/// Fills ghost points of a field after the step, in the row {z, y, 0} at the x of `ends`: those within
/// `reach` of an x wall that are constant or reflect a point of `known`.
template <class Storage>
void fill_row_ends(const SystemArrays<Storage>& arrays, int field, const Index3& row, std::int64_t reach,
                   const Range& known, const Range& ends) {
  const Domain& domain = arrays.domains()[static_cast<std::size_t>(field)];
  const std::int64_t n = domain.shape[x_axis], near = std::max<std::int64_t>(reach, 1);
  if (domain.periodic(x_axis) || (known.begin >= near && known.end <= n - near)) return;
  fill_known_row_ghosts(arrays.next_row(field, row[z_axis], row[y_axis]), domain, reach, known, ends,
                        arrays.ghosts(field)[x_axis]);
}

}  // namespace spsolve
