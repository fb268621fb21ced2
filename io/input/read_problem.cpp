// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_problem.hpp"

#include <fmt/core.h>

#include <cmath>
#include <optional>

#include "io/input/expression.hpp"
#include "io/input/read_boundary.hpp"
#include "io/input/read_equations.hpp"
#include "io/input/shell_word.hpp"
#include "io/language/parser.hpp"

namespace spsolve {

namespace fs = std::filesystem;

DatasetForm read_dataset(const TomlSection& section, const fs::path& directory,
                         const std::vector<std::string>& valid) {
  section.allow(valid);
  section.require({"file", "dataset"});
  DatasetForm form{*section.text("file"), *section.text("dataset")};
  if (form.file.empty()) section.fail("file", "'file' is empty");
  if (const std::string word = shell_word(form.file); !word.empty())
    section.fail("file",
                 fmt::format("'file' holds '{}', which only shells expand; give the whole path, or one "
                             "relative to the input",
                             word));
  if (form.dataset.empty()) section.fail("dataset", "'dataset' is empty");
  form.file = fs::absolute(directory / form.file).lexically_normal();
  form.at.text = section.error_prefix("file");
  return form;
}

TomlSection required_section(const TomlSection& root, std::string_view name) {
  if (const auto section = root.section(name)) return *section;
  root.fail(name, fmt::format("missing section [{}]", name));
}

namespace {

/// Returns the distance, in spacings, between a wall of an axis that is not periodic and the outermost point
/// beside it.
double spacings_to_wall(const Face& face, const std::optional<WallConfig>& wall) {
  const bool is_beyond =
      wall ? wall->condition == WallCondition::dirichlet : face.kind == BoundaryKind::dirichlet;
  return is_beyond ? 1.0 : 0.5;
}

/// Returns the positions of the walls of an axis from an element of `extent`, which is a length or a pair.
std::array<double, 2> read_places_of_walls(const TomlSection& section, const toml::node& node) {
  std::array<double, 2> places{};
  const toml::array* pair = node.as_array();
  if (pair && pair->size() != 2)
    section.fail(node, "'extent' must hold a length or [low, high] for each axis");
  if (!pair) places[high] = section.number_of("extent", node);
  for (const Side side : {low, high})
    if (pair) places[side] = section.number_of("extent", (*pair)[side]);
  if (!(places[low] < places[high] && std::isfinite(places[high] - places[low])))
    section.fail(node, fmt::format("'extent' must be above 0, not {}", places[high] - places[low]));
  return places;
}

/// Sets the spacing from the distance of the walls, and the origin from the position of the low walls.
void read_extent(const TomlSection& section, Grid& grid) {
  const toml::array* list = section.find("extent")->as_array();
  if (!list) section.fail("extent", "'extent' must be a list with a length or [low, high] for each axis");
  if (section.has("spacing"))
    section.fail("extent", "'extent' and 'spacing' contradict each other; give one of them");
  per_axis<int>(section, "extent", std::vector<int>(list->size()), grid.domain.dimensions, 0);
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis) {
    const toml::node& node = (*list)[static_cast<std::size_t>(axis - grid.domain.first_axis())];
    if (node.is_array() && section.has("origin"))
      section.fail(node, "'origin' and the places of walls contradict each other; give one of them");
    const auto [begin, end] = read_places_of_walls(section, node);
    const auto& faces = grid.domain.faces[axis];
    const auto& walls = grid.walls[axis];
    const bool is_periodic = grid.domain.periodic(axis);
    const double before = is_periodic ? 0.0 : spacings_to_wall(faces[low], walls[low]);
    const double after = is_periodic ? 1.0 : spacings_to_wall(faces[high], walls[high]);
    grid.spacing[axis] = (end - begin) / (static_cast<double>(grid.domain.shape[axis] - 1) + before + after);
    if (!(grid.spacing[axis] > 0)) section.fail(node, "'extent' is too small for the number of points");
    if (!section.has("origin")) grid.origin[axis] = begin + before * grid.spacing[axis];
  }
}

}  // namespace

Grid read_grid(const TomlSection& root, const fs::path& directory) {
  const TomlSection section = *root.section("grid");
  section.allow();
  section.require("shape");
  const auto shape = *section.integers("shape");
  if (shape.empty() || shape.size() > 3)
    section.fail("shape", fmt::format("'shape' has {} axes; wanted [z, y, x], [y, x] or [x]", shape.size()));
  if (!has_volume_within(shape, max_points)) section.fail("shape", "'shape' has more than 2^48 points");

  Grid grid;
  const auto dimensions = static_cast<int>(shape.size());
  grid.domain.dimensions = dimensions;
  grid.domain.shape = per_axis<std::int64_t>(section, "shape", shape, dimensions, 1);
  if (const auto spacing = section.numbers("spacing"))
    grid.spacing = per_axis(section, "spacing", *spacing, dimensions, 1.0);
  if (const auto origin = section.numbers("origin"))
    grid.origin = per_axis(section, "origin", *origin, dimensions, 0.0);
  if (const auto boundary = root.section("boundary"))
    read_boundary(*boundary, grid.domain, grid.walls, field_names_of(root), directory);
  if (section.has("extent")) read_extent(section, grid);
  return grid;
}

FieldForm read_field(const TomlSection& section, const Grid& grid, const fs::path& directory,
                     bool knows_time) {
  const std::string key = section.exactly_one_of({"expression", "file"});
  std::vector<std::string> valid =
      key == "file" ? std::vector<std::string>{"file", "dataset"} : std::vector<std::string>{"expression"};
  if (knows_time) valid.emplace_back("rate");
  section.allow(valid);
  if (key == "file") return read_dataset(section, directory, valid);
  ExpressionForm form{*section.text("expression"), {section.error_prefix("expression") + "expression"}};
  Expression expression{form.expression, form.at.text, {{"dt", 1.0}}};
  if (knows_time) expression.constants = {{"t", 0.0}, {"dt", 1.0}, {"step", 0.0}};
  expression.check(grid);
  return form;
}

FieldForm read_values(const TomlSection& section, const std::string& key, const fs::path& directory) {
  const toml::node& node = *section.find(key);
  if (node.is_table()) {
    const TomlSection dataset = *section.section(key);
    dataset.allow();
    return read_dataset(dataset, directory);
  }
  const InputLocation at{section.error_prefix(key) + key};
  if (node.is_number()) return ExpressionForm{fmt::format("{}", section.number_of(key, node)), at};
  if (!node.is_string())
    section.fail(key, fmt::format("'{}' must be a number, a formula in quotes, or {{ file = \"...\", dataset "
                                  "= \"...\" }}, not {}",
                                  key, type_name(node)));
  return ExpressionForm{*section.text(key), at};
}

void check_formula(const TomlSection& section, const std::string& key, const std::string& formula,
                   const ExpressionNames& names) {
  try {
    compile_rows(parse_expression(formula), names);
  } catch (const SyntaxError& error) {
    throw Error(Status::invalid_input, fmt::format("{}{}: {}", section.error_prefix(key), key, error.what()));
  }
}

bool has_walls_at_the_same_places(const Grid& grid, const std::array<std::array<Face, 2>, 3>& faces,
                                  const WallsConfig& walls, int axis) {
  for (const Side side : {low, high})
    if (spacings_to_wall(faces[axis][side], walls[axis][side]) !=
        spacings_to_wall(grid.domain.faces[axis][side], grid.walls[axis][side]))
      return false;
  return true;
}

}  // namespace spsolve
