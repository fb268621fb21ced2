// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// Holds a grid, the radius and shape of a stencil with random weights, and walls of one kind on all faces.
struct ShapeCase {
  const char* name;
  Index3 shape, radius;
  bool star;
  BoundaryKind walls;
  Precision precision;
};

/// Makes a domain, and random weights that are symmetric along the given axes. The field and the source are
/// empty.
RandomCase make_stencil_of(const ShapeCase& c, const std::array<bool, 3>& symmetric = {});

/// Adds a random field and a source to make_stencil_of().
RandomCase make_problem(const ShapeCase& c, const std::array<bool, 3>& symmetric = {});

}  // namespace spsolve::testing
