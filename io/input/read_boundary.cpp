// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_boundary.hpp"

#include <fmt/core.h>

#include <optional>

#include "io/input/read_problem.hpp"

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

}  // namespace spsolve
