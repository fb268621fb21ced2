// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "kernels/domain.hpp"
#include "kernels/precision.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// The domain with those axes `mirrored` between whose walls `steps` fused steps are exact if memory beyond
/// the walls holds images of the field, and with walls' values as `precision` stores them. A step keeps the
/// symmetry of a field that is even about a face where its weights are the same at mirrored offsets along the
/// axis, so beyond neumann faces the field goes on as its mirror image. It keeps a field that is odd about
/// the first ghost point, but for the value c of the wall there, where also its weights sum to 1 or c is 0;
/// with radius 1 a step from the grid reads no other ghost point, so beyond dirichlet faces the field goes on
/// as 2 c less its mirror image about that point. A single step needs nothing of its weights, since ghost
/// points are such images before it. Such reflections of two axes must commute: their values are the same.
/// Grids are at least as wide as images.
Domain with_wall_images(Domain domain, const Stencil& stencil, int steps, Precision precision);

/// The same domain without what walls give: those of `mirrored` axes have the value 0.
Domain homogeneous(Domain domain);

}  // namespace spsolve
