// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "kernels/domain.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {

/// Returns a form with the bits of the given one whose derived coefficients repeat beyond the ends of
/// periodic axes, as fields do. Units may then compute a statement beyond these ends: it has the value of the
/// grid point that repeats there. Coordinates do not repeat, but continue: in d(x*u, x) the last point reads
/// the coordinate of the point behind it, not of the first one. So a coefficient with the coordinate of a
/// periodic axis becomes one coefficient for each displacement along that axis, which holds the displaced
/// value and is read at the point itself.
Canonical repeating_form(const Canonical& canonical, const Domain& domain);

/// Returns what to write to save arrays in a system in its repeating form: it names the formula that the form
/// holds displaced in most arrays. Returns an empty text if that saves fewer than `least` arrays.
std::string advice_on_displaced_formulas(const Canonical& repeating, int least);

}  // namespace spsolve
