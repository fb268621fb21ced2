// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "io/grid.hpp"

namespace spsolve {

/// Describes an array of a snapshot or a checkpoint that can be drawn.
struct PlotArray {
  std::string name;  // the name of the field
  std::string run;   // the name of the run
  std::int64_t step = 0;
  double time = 0;
  Grid grid;                                         // the grid of the points in the file
  std::array<std::string, 3> labels{"z", "y", "x"};  // names of the axes of that grid
};

/// Names the kind of a file.
enum class PlotKind { snapshot, checkpoint, probes };

/// Returns the file to draw for a name: the last snapshot of a directory or of a series (.series), else the
/// file itself. Throws Error(file_failure) if there is none.
std::filesystem::path file_to_plot(const std::filesystem::path& name);

/// Returns the kind of a file. Throws Error(invalid_input) if it is none of these.
PlotKind kind_of(const std::filesystem::path& file);

/// Finds an array, by default the first field. Throws Error(file_failure) if the file cannot be read,
/// Error(invalid_input) if it has no array of that name.
PlotArray find_array(const std::filesystem::path& file, PlotKind kind,
                     const std::optional<std::string>& field);

/// Throws Error(invalid_input) that names the file, the array that was wanted and the arrays of the file.
[[noreturn]] void refuse_array(const std::filesystem::path& file, const std::string& wanted,
                               const std::vector<std::string>& there);

}  // namespace spsolve
