// SPDX-License-Identifier: Apache-2.0
#include "kernels/wall_images.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace spsolve {
namespace {

bool is_symmetric(const Stencil& stencil, int axis) {
  const std::vector<Tap>& taps = stencil.taps();
  return std::all_of(taps.begin(), taps.end(), [&](const Tap& tap) {
    Index3 mirrored = tap.offset;
    mirrored[axis] = -mirrored[axis];
    const auto other = std::lower_bound(taps.begin(), taps.end(), mirrored,
                                        [](const Tap& a, const Index3& b) { return a.offset < b; });
    return other != taps.end() && *other == Tap{mirrored, tap.weight};
  });
}

/// Whether a step keeps constants but for the rounding of weights and of their sum.
bool keeps_constants(const Stencil& stencil) {
  double sum = 0;
  for (const Tap& tap : stencil.taps()) sum += tap.weight;
  return std::abs(sum - 1) <= static_cast<double>(stencil.taps().size()) *
                                  std::numeric_limits<double>::epsilon() * sum_abs(stencil);
}

}  // namespace

Domain with_wall_images(Domain domain, const Stencil& stencil, int steps, Precision precision) {
  const Index3& radius = stencil.radius();
  std::set<double> values;           // of dirichlet faces between which images may be
  std::array<bool, 3> has_values{};  // axes of these
  for (int axis = 0; axis < axis_count; ++axis) {
    if (domain.periodic(axis)) continue;
    bool& mirrored = domain.mirrored[axis];
    mirrored = steps * radius[axis] <= domain.shape[axis] && is_symmetric(stencil, axis);
    for (Face& face : domain.faces[axis]) {
      if (face.kind != BoundaryKind::dirichlet) continue;
      face.value = with_storage(
          precision, [&]<class Storage>() { return stored_value(to_storage<Storage>(face.value)); });
      mirrored = mirrored && radius[axis] <= 1 && (face.value == 0 || keeps_constants(stencil));
      has_values[axis] = true;
    }
    if (mirrored && has_values[axis])
      for (const Face& face : domain.faces[axis])
        if (face.kind == BoundaryKind::dirichlet) values.insert(face.value);
  }
  const auto valued = std::count_if(has_values.begin(), has_values.end(), [](bool has) { return has; });
  for (int axis = 0; axis < axis_count; ++axis)
    if (has_values[axis] && valued > 1 && values.size() > 1) domain.mirrored[axis] = false;
  return domain;
}

Domain homogeneous(Domain domain) {
  for (int axis = 0; axis < axis_count; ++axis)
    for (Face& face : domain.faces[axis])
      if (domain.mirrored[axis]) face.value = 0;
  return domain;
}

}  // namespace spsolve
