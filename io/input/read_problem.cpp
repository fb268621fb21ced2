// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_problem.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>

#include "io/input/expression.hpp"
#include "io/input/read_equations.hpp"
#include "io/nearest_name.hpp"

namespace spsolve {

namespace {

namespace fs = std::filesystem;

/// Holds a face, and how its ghost points are filled if Face cannot express it.
struct FaceAndWall {
  Face face;
  std::optional<WallConfig> wall = {};
};

/// Returns a table with one key that names a condition.
FaceAndWall read_wall(const TomlSection& section, const char* key, const fs::path& directory) {
  const TomlSection face = *section.section(key);
  face.allow({"dirichlet", "value", "flux", "robin"});
  const std::string condition = face.exactly_one_of({"dirichlet", "value", "flux", "robin"});
  if (condition == "dirichlet" && face.find("dirichlet")->is_number())
    return {{BoundaryKind::dirichlet, *face.number("dirichlet")}};
  WallConfig wall;
  if (condition == "robin") {
    const auto robin = face.section("robin");
    robin->allow();
    for (const char* needed : {"h", "value"}) robin->require(needed);
    wall.condition = WallCondition::robin;
    wall.robin = *robin->number("h");
    wall.value = read_values(*robin, "value", directory);
  } else {
    wall.condition = condition == "dirichlet" ? WallCondition::dirichlet
                     : condition == "value"   ? WallCondition::value
                                              : WallCondition::flux;
    wall.value = read_values(face, condition, directory);
  }
  return {{BoundaryKind::filled}, wall};
}

FaceAndWall read_face(const TomlSection& section, const char* key, const fs::path& directory) {
  const toml::node& node = *section.find(key);
  if (node.is_table()) return read_wall(section, key, directory);
  const std::string name = node.value_or(std::string());
  const auto kind = parse_boundary(name);
  if (kind == BoundaryKind::dirichlet) section.fail(key, "dirichlet needs a value: { dirichlet = 0.0 }");
  if (kind) return {{*kind}};
  section.fail(key,
               fmt::format("'{}' is {}; valid values: \"periodic\", \"neumann\", {{ dirichlet = c }}, "
                           "{{ value = c }}, {{ flux = g }}, {{ robin = {{ h = h, value = c }} }}, "
                           "{{ low = <face>, high = <face> }}",
                           key, node.is_string() ? fmt::format("'{}'", name) : std::string(type_name(node))));
}

std::array<FaceAndWall, 2> read_faces(const TomlSection& section, const char* axis,
                                      const fs::path& directory) {
  const toml::table* table = section.find(axis)->as_table();
  if (!table || !(table->contains("low") || table->contains("high"))) {
    const FaceAndWall both = read_face(section, axis, directory);
    return {both, both};
  }
  const TomlSection sides = *section.section(axis);
  sides.allow({"low", "high"});
  for (const char* side : {"low", "high"}) sides.require(side);
  const std::array<FaceAndWall, 2> faces{read_face(sides, "low", directory),
                                         read_face(sides, "high", directory)};
  if ((faces[low].face.kind == BoundaryKind::periodic) != (faces[high].face.kind == BoundaryKind::periodic))
    section.fail(axis, fmt::format("axis '{}' is periodic on one face only", axis));
  return faces;
}

}  // namespace

void read_boundary(const TomlSection& section, Domain& domain, WallsConfig& walls,
                   const std::vector<std::string>& fields, const fs::path& directory) {
  for (int axis = 0; axis < domain.first_axis(); ++axis)
    if (section.has(axis_names[axis]))
      section.fail(axis_names[axis],
                   fmt::format("the grid is {}D and has no axis '{}'", domain.dimensions, axis_names[axis]));
  std::vector<std::string> valid(axis_names.rbegin(), axis_names.rend() - domain.first_axis());
  valid.insert(valid.end(), fields.begin(), fields.end());
  section.allow(valid);
  for (int axis = domain.first_axis(); axis < axis_count; ++axis) {
    if (!section.has(axis_names[axis])) continue;
    const auto faces = read_faces(section, axis_names[axis], directory);
    for (const Side side : {low, high}) {
      domain.faces[axis][side] = faces[side].face;
      walls[axis][side] = faces[side].wall;
    }
  }
}

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

namespace {

PresetForm read_preset(const TomlSection& section) {
  PresetForm form{*section.text("preset"), {}};
  const auto preset = find_preset(form.preset);
  if (!preset) {
    std::vector<std::string> families;
    for (const Preset& family : parameter_presets()) families.push_back(family.name);
    section.fail(
        "preset",
        fmt::format("there is no preset '{}'{}presets: {}, any (star|box|random)<d>d<r>r or 1d<r>r, and the "
                    "catalogue that spsolve bench --list shows",
                    form.preset, did_you_mean(form.preset, preset_names()), fmt::join(families, ", ")));
  }
  std::vector<std::string> valid{"preset"};
  for (const PresetParameter& parameter : preset->parameters) valid.emplace_back(parameter.name);
  section.allow(valid);
  std::vector<std::string> missing;
  for (const PresetParameter& parameter : preset->parameters) {
    const std::string name(parameter.name);
    if (const auto values = section.numbers(name))
      form.parameters[name] = *values;
    else if (parameter.required)
      missing.push_back(fmt::format("'{}': {}", name, parameter.meaning));
  }
  if (!missing.empty())
    section.fail("", fmt::format("preset '{}' needs {}", form.preset, fmt::join(missing, "; and ")));
  return form;
}

/// Appends one level of the nested list; an extent of 0 is not yet known.
void append_weights(const TomlSection& section, const toml::node& node, int axis, WeightsForm& form) {
  const toml::array* list = node.as_array();
  if (axis == axis_count) {
    if (list) section.fail(node, "'weights' is nested deeper than the grid has axes");
    form.weights.push_back(section.number_of("weights", node));
    return;
  }
  if (!list)
    section.fail(
        node,
        fmt::format("'weights' must be lists nested once per axis of the grid; found {} in place of a list",
                    type_name(node)));
  const auto extent = static_cast<std::int64_t>(list->size());
  if (extent == 0) section.fail(node, "'weights' holds an empty list");
  if (form.extent[axis] == 0) form.extent[axis] = extent;
  if (form.extent[axis] != extent)
    section.fail(node, fmt::format("'weights' is not rectangular: a list of {} beside one of {}", extent,
                                   form.extent[axis]));
  for (const toml::node& element : *list) append_weights(section, element, axis + 1, form);
}

WeightsForm read_weights(const TomlSection& section, const Domain& domain) {
  section.allow({"weights", "center"});
  WeightsForm form;
  std::fill(form.extent.begin() + domain.first_axis(), form.extent.end(), 0);
  append_weights(section, *section.find("weights"), domain.first_axis(), form);
  for (int axis = 0; axis < axis_count; ++axis) form.center[axis] = form.extent[axis] / 2;
  if (const auto center = section.integers("center"))
    form.center = per_axis<std::int64_t>(section, "center", *center, domain.dimensions, 0);
  for (int axis = 0; axis < axis_count; ++axis)
    if (form.center[axis] >= form.extent[axis])
      section.fail("center", fmt::format("'center' is outside of 'weights', whose extent is {} on axis '{}'",
                                         form.extent[axis], axis_names[axis]));
  return form;
}

}  // namespace

namespace {

/// Returns the first "%NAME%" of a text, as Windows writes variables, or an empty text.
std::string variable_of_windows(const std::string& text) {
  for (std::size_t begin = text.find('%'); begin != std::string::npos; begin = text.find('%', begin + 1)) {
    std::size_t end = begin + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_' ||
                                 text[end] == '(' || text[end] == ')'))
      ++end;
    const bool named = end > begin + 1 && !std::isdigit(static_cast<unsigned char>(text[begin + 1]));
    if (named && end < text.size() && text[end] == '%') return text.substr(begin, end - begin + 1);
  }
  return "";
}

}  // namespace

std::string shell_word(const std::filesystem::path& path) {
  const std::string text = path.string();
  if (const std::string variable = variable_of_windows(text); !variable.empty()) return variable;
  if (text.starts_with('~')) return text.substr(0, text.find('/'));
  if (const std::size_t tick = text.find('`'); tick != std::string::npos)
    if (const std::size_t end = text.find('`', tick + 1); end != std::string::npos)
      return text.substr(tick, end - tick + 1);
  for (std::size_t i = text.find('$'); i != std::string::npos; i = text.find('$', i + 1)) {
    const char next = i + 1 < text.size() ? text[i + 1] : ' ';
    if (next == '{' || next == '(') return text.substr(i, text.find(next == '{' ? '}' : ')', i) - i + 1);
    std::size_t end = i + 1;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
      ++end;
    if (!std::isdigit(static_cast<unsigned char>(next)) && end > i + 1) return text.substr(i, end - i);
  }
  return "";
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
    if (!(grid.spacing[axis] > 0)) section.fail(node, "'extent' is too small for so many points");
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

StencilForm read_stencil(const TomlSection& section, const Grid& grid, const fs::path& directory) {
  const std::string key = section.exactly_one_of({"preset", "file", "weights"});
  StencilForm form;
  if (key == "file")
    form = read_dataset(section, directory);
  else if (key == "preset")
    form = read_preset(section);
  else
    form = read_weights(section, grid.domain);
  try {
    make_stencil(form, grid);
  } catch (const PresetError& error) {
    const bool is_there = !error.parameter.empty() && section.has(error.parameter);
    section.fail(is_there ? error.parameter : key, error.what());
  } catch (const std::invalid_argument& error) {
    section.fail(key, error.what());
  }
  return form;
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

bool has_walls_at_the_same_places(const Grid& grid, const std::array<std::array<Face, 2>, 3>& faces,
                                  const WallsConfig& walls, int axis) {
  for (const Side side : {low, high})
    if (spacings_to_wall(faces[axis][side], walls[axis][side]) !=
        spacings_to_wall(grid.domain.faces[axis][side], grid.walls[axis][side]))
      return false;
  return true;
}

std::optional<Stencil> make_stencil(const StencilForm& form, const Grid& grid) {
  if (const auto* preset = std::get_if<PresetForm>(&form))
    return make_preset(preset->preset, grid.domain.dimensions, grid.spacing, preset->parameters);
  if (const auto* weights = std::get_if<WeightsForm>(&form))
    return Stencil(weights->extent, weights->weights, weights->center);
  return {};
}

}  // namespace spsolve
