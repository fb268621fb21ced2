// SPDX-License-Identifier: Apache-2.0
#pragma once

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
};

}  // namespace spsolve
