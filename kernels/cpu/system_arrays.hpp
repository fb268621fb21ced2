// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <span>
#include <vector>

#include "kernels/cpu/row_ghosts.hpp"
#include "kernels/cpu/step_program.hpp"
#include "kernels/state.hpp"

namespace spsolve {

/// Refers to the arrays that one launch of a system reads and writes: fields, derived coefficients and
/// scalars.
template <class Storage>
class SystemArrays {
 public:
  using T = Compute<Storage>;

  /// `previous` holds, for each field, the index in `in` of its previous values. `scalars` hold the scalars
  /// of the canonical form at the step. `coefficients` are in compute precision.
  SystemArrays(const std::vector<Domain>& domains, std::span<const Field* const> coefficients,
               std::vector<std::size_t> previous, std::vector<T> scalars, const ConstState& in,
               const State& out)
      : domains_(domains),
        coefficients_(coefficients),
        previous_(std::move(previous)),
        scalars_(std::move(scalars)),
        in_(in),
        out_(out) {
    for (const Domain& domain : domains) ghosts_.push_back(ghost_values<Storage, Storage>(domain));
  }

  const std::vector<Domain>& domains() const { return domains_; }
  const State& out() const { return out_; }
  T scalar(int index) const { return scalars_[index]; }
  const std::array<std::array<Storage, 2>, 3>& ghosts(int field) const { return ghosts_[field]; }

  /// Returns the array that an operand reads or writes, of T for coefficients and of Storage for fields.
  const Field& array(const ProgramOperand& operand) const {
    const auto index = static_cast<std::size_t>(operand.index);
    if (operand.kind == ProgramOperand::Kind::coefficient) return *coefficients_[index];
    if (operand.kind == ProgramOperand::Kind::output || operand.level == Level::next) return out_[index];
    return operand.level == Level::previous ? in_[previous_[index]] : in_[index];
  }

  /// Locates a row of a field: the row {z, y, 0} that holds it, or a value for all of its points. Beyond
  /// walls the last axis of x, y, z decides first. A field has filled faces at all of its walls or at none.
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
  std::span<const Field* const> coefficients_;
  std::vector<std::size_t> previous_;
  std::vector<T> scalars_;
  const ConstState& in_;
  const State& out_;
  std::vector<std::array<std::array<Storage, 2>, 3>> ghosts_;  // [field][axis][side]
};

}  // namespace spsolve
