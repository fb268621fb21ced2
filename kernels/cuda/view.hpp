// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>

#include "kernels/cuda/arguments.hpp"
#include "kernels/field.hpp"

namespace spsolve::cuda {

/// The device memory of a field, its rows with their padding, in kernel axes: axes[k] is the grid axis of
/// kernel axis k.
View view_of(const Field& field, const std::array<int, 3>& axes);

/// A box of points, in kernel axes.
Region region_of(const Box& box, const std::array<int, 3>& axes);

/// Of rows longer than launches take, the columns of a view within 2^20 of a region: farther than weights
/// reach.
View near(View view, const Region& region, std::int64_t element_bytes);

}  // namespace spsolve::cuda
