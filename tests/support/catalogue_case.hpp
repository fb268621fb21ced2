// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/catalogue/catalogue.hpp"
#include "tests/support/random_case.hpp"

namespace spsolve::testing {

/// Returns an entry of the catalogue on an awkward grid: odd extents, thinner than some radii in 3D, with
/// walls in y and values in [-1, 1].
RandomCase catalogue_case(const CatalogueEntry& entry);

}  // namespace spsolve::testing
