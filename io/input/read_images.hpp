// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "io/input/config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// Reads [[images]]. `config` holds the grid, the fields and the coefficients. Throws Error(invalid_input)
/// naming line and key.
std::vector<ImagesConfig> read_images(const TomlSection& root, const RunConfig& config);

/// Returns the index of the point along the axis of a plane that is nearest to the plane. Throws
/// Error(invalid_input) if the grid is not 3D or all its points lie on one side of the plane, more than half
/// a spacing away.
std::int64_t nearest_point(const Grid& grid, const ImagePlane& plane);

}  // namespace spsolve
