// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

#include "kernels/catalogue/systems.hpp"
#include "kernels/domain.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {

/// Returns the step of a system of the catalogue on a grid with spacing 1, with a time step of `dt`.
Canonical canonical_of(const CatalogueSystem& system, double dt);

/// Returns the condition at the walls that records of benchmarks name by a letter: "p" for periodic, "n" for
/// neumann, any other for dirichlet.
BoundaryKind recorded_walls(std::string_view letter);

}  // namespace spsolve
