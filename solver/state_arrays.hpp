// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/state.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Holds the arrays of every field of a problem on one block. A field has two arrays, three if equations read
/// its values one step before, and four if launches of several steps also write these values
/// (Problem::arrays_of). The roles of the arrays rotate with every launch, so no values are copied.
class StateArrays {
 public:
  /// Holds no fields.
  StateArrays() = default;
  /// Allocates zeroed arrays on `owned` grown by `halo`, for launches of up to `fuse` steps. `memory` must
  /// outlive them.
  StateArrays(const Problem& problem, int fuse, const Box& owned, const Index3& halo, Memory& memory);

  std::size_t field_count() const { return arrays_.size(); }
  /// Returns true if the values of a field one step before are part of the state.
  bool has_previous(std::size_t field) const { return arrays_[field].size() > 2; }

  /// Returns the array of the state.
  Field& now(std::size_t field = 0) const { return array(field, 0); }
  /// Returns the array of the values one step before. Without them it is the array of the state before the
  /// last launch, which the next launch overwrites.
  Field& before(std::size_t field) const { return array(field, 1); }
  /// Return the arrays that the next launch writes: its result and, of fields with four arrays, the values
  /// one step before the result.
  Field& next(std::size_t field = 0) const { return array(field, has_previous(field) ? 2 : 1); }
  Field& before_next(std::size_t field) const { return array(field, 3); }
  /// Return the arrays that hold the state with which the last launch began, and the values one step before
  /// that state.
  Field& at_launch(std::size_t field) const {
    return array(field, has_previous(field) && last_steps_ > 1 ? 2 : 1);
  }
  Field& before_launch(std::size_t field) const { return array(field, last_steps_ > 1 ? 3 : 2); }

  /// Returns what a launch from `step` on reads: all fields, then the previous values of those that have
  /// them.
  State in(std::int64_t step) const;
  /// Returns what a launch of `steps` steps from `step` on writes, in the same order. A single step writes no
  /// previous values.
  State out(std::int64_t step, int steps) const;

  /// Gives the arrays the roles that they have after a launch of `steps` steps.
  void rotate(int steps);

  /// Says which array has which role; launches are captured once for each.
  struct Roles {
    std::array<int, 2> of_two{0, 1};         // by role, for fields with two arrays
    std::array<int, 4> of_more{0, 1, 2, 3};  // for fields with three or four
    friend auto operator<=>(const Roles&, const Roles&) = default;
  };
  const Roles& roles() const { return roles_; }

 private:
  Field& array(std::size_t field, std::size_t role) const {
    const int number = has_previous(field) ? roles_.of_more[role] : roles_.of_two[role];
    return *arrays_[field][static_cast<std::size_t>(number)];
  }

  std::vector<std::vector<std::unique_ptr<Field>>> arrays_;  // by field
  Roles roles_;
  int last_steps_ = 1;  // steps of the last launch
};

}  // namespace spsolve
