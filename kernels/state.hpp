// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/field.hpp"

namespace spsolve {

/// Refers to the fields of one block that a launch reads or writes, all of one geometry and precision. It is
/// a view: the fields belong to the caller. A single field is a state, too.
///
/// The state that a launch reads holds the problem's fields at the current step, in the order of the problem,
/// then the values one step before of those fields whose equations read `.previous`. The state that a launch
/// writes holds the problem's fields.
class State {
 public:
  State(Field& single) : fields_{&single} {}
  explicit State(std::vector<Field*> fields, std::int64_t step = 0)
      : fields_(std::move(fields)), step_(step) {}

  /// Returns the time step that the fields belong to.
  std::int64_t step() const { return step_; }

  std::size_t size() const { return fields_.size(); }
  Field& operator[](std::size_t i) const { return *fields_[i]; }
  /// Returns the first field, which is the only one of problems with a single stencil.
  Field& front() const { return *fields_.front(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<Field*> fields_;
  std::int64_t step_ = 0;
};

/// Refers to a state that is only read.
class ConstState {
 public:
  ConstState(const Field& single) : fields_{&single} {}
  ConstState(const State& state) : fields_(state.begin(), state.end()), step_(state.step()) {}

  std::int64_t step() const { return step_; }

  std::size_t size() const { return fields_.size(); }
  const Field& operator[](std::size_t i) const { return *fields_[i]; }
  const Field& front() const { return *fields_.front(); }
  auto begin() const { return fields_.begin(); }
  auto end() const { return fields_.end(); }

 private:
  std::vector<const Field*> fields_;
  std::int64_t step_ = 0;
};

}  // namespace spsolve
