// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "app/setup/options.hpp"

namespace spsolve {

/// Draws a group of probes.h5 and returns the bytes of a PNG file: up to eight points as curves over time
/// with a legend, more of them as an image of points (horizontal) over time (vertical). Rows that the run has
/// not reached are left out. `request.field` is a field of the first group that has it, or "group/field".
/// Throws Error(invalid_input) if there is none, or no row; Error(file_failure) if the file is damaged.
std::string draw_probes(const std::filesystem::path& file, const PlotRequest& request);

}  // namespace spsolve
