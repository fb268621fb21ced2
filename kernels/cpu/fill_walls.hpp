// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>

#include "kernels/field.hpp"
#include "kernels/operator/filled_face.hpp"

namespace spsolve {

/// Fills the ghost points of a field in host memory beyond those faces of `faces` that belong to `field`, in
/// the order x, y, z. A ghost point is filled if its mirror image lies in `known`, a box of points of the
/// grid (and of periodic copies beyond it). A later axis covers the corners. `step` is the time level of the
/// values.
void fill_walls(Field& values, const Domain& domain, std::span<const FilledFace> faces, int field,
                const Box& known, std::int64_t step);

}  // namespace spsolve
