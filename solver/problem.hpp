// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// The problem to solve: u' = stencil(u) + source on the domain, with the accuracy that `precision` promises
/// (docs/design.md). It is the same on every rank, whatever the decomposition.
struct Problem {
  Domain domain;
  Stencil stencil;
  Precision precision = Precision::fp64;
  bool has_source = false;

  /// The farthest points that a step reads, per axis.
  Index3 radius() const { return stencil.radius(); }
  std::size_t field_count() const { return 1; }
  std::string field_name(std::size_t /*field*/) const { return "u"; }
  /// True if a step reads the values of a field one step before.
  bool has_previous(std::size_t /*field*/) const { return false; }
  /// Arrays that hold the fields: two per field, which take turns, or three with values one step before.
  std::size_t array_count() const {
    std::size_t count = 0;
    for (std::size_t field = 0; field < field_count(); ++field) count += has_previous(field) ? 3 : 2;
    return count;
  }
};

}  // namespace spsolve
