// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/catalogue/systems.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {

/// Returns the step of a system of the catalogue on a grid with spacing 1, with a time step of `dt`.
Canonical canonical_of(const CatalogueSystem& system, double dt);

}  // namespace spsolve
