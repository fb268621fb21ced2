// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

#include "io/input/config.hpp"
#include "io/input/toml_section.hpp"

namespace spsolve {

/// These functions read the sections that describe the problem. Each throws Error(invalid_input) that names
/// the line and the key.

/// Reads [grid], which is required, and [boundary].
Grid read_grid(const TomlSection& root, const std::filesystem::path& directory);

/// Returns true if the walls of an axis lie at the same positions as those of the grid. Their conditions
/// decide how far beyond the outermost points they lie.
bool has_walls_at_the_same_places(const Grid& grid, const std::array<std::array<Face, 2>, 3>& faces,
                                  const WallsConfig& walls, int axis);

/// Reads { file, dataset }. A relative file starts at `directory`. `valid` lists the keys that the section
/// may hold.
DatasetForm read_dataset(const TomlSection& section, const std::filesystem::path& directory,
                         const std::vector<std::string>& valid = {"file", "dataset"});

/// Reads a number, a formula in quotes, or { file, dataset }. Formulas are not checked.
FieldForm read_values(const TomlSection& section, const std::string& key,
                      const std::filesystem::path& directory);

/// Throws Error(invalid_input), naming line and key, if the formula of `key` uses other names than these, or
/// is no expression of one point.
void check_formula(const TomlSection& section, const std::string& key, const std::string& formula,
                   const ExpressionNames& names);

/// Reads [initial] or [source]. A relative file starts at `directory`. Expressions are checked. Formulas may
/// use dt. Those of a source, which `knows_time`, may also use t and step.
FieldForm read_field(const TomlSection& section, const Grid& grid, const std::filesystem::path& directory,
                     bool knows_time = false);

/// Returns a section, or throws if it is absent.
TomlSection required_section(const TomlSection& root, std::string_view name);

/// Limits the number of points and all other counts, so that products of a few of them stay below 2^63.
constexpr std::int64_t max_points = std::int64_t{1} << 48;

/// Returns a list with one value per axis of the grid, as {z, y, x}; absent axes take `absent`.
template <class Value>
std::array<Value, 3> per_axis(const TomlSection& section, std::string_view key,
                              const std::vector<Value>& values, int dimensions, Value absent) {
  if (values.size() != static_cast<std::size_t>(dimensions))
    section.fail(key, "'" + std::string(key) + "' has " + std::to_string(values.size()) +
                          (values.size() == 1 ? " value" : " values") + "; the grid has " +
                          std::to_string(dimensions) + (dimensions == 1 ? " axis" : " axes"));
  std::array<Value, 3> result{absent, absent, absent};
  std::copy(values.begin(), values.end(), result.end() - dimensions);
  return result;
}

}  // namespace spsolve
