// SPDX-License-Identifier: Apache-2.0
#include "app/setup/walls.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "io/input/read_equations.hpp"
#include "io/language/parser.hpp"
#include "io/language/row_program.hpp"
#include "kernels/operator/system.hpp"

namespace spsolve {
namespace {

/// Returns the grid point for a point that a face asks for: coordinates continue beyond walls, and repeat
/// along periodic axes.
Index3 repeated(const Domain& domain, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (domain.periodic(axis)) p[axis] = wrap(p[axis], domain.shape[axis]);
  return p;
}

/// Evaluates a formula of the coordinates along a face, t, dt and step.
auto values_by_formula(const RunConfig& config, const FilledFace& face, const Syntax& formula) {
  const auto program = std::make_shared<const RowProgram>(
      formula, names_on_face(config.grid, face.axis, config.equations->constants));
  return [program, along = face.line_axis(), slow = face.slow_axis(), grid = config.grid,
          dt = config.time.dt](const Index3& first, std::int64_t step, std::span<double> values) {
    const double n = static_cast<double>(step), t = n * dt;
    const double of_line = grid.coordinate(slow, repeated(grid.domain, first)[slow]);
    std::vector<double> on_line(values.size()), workspace;
    for (std::size_t i = 0; i < on_line.size(); ++i) {
      Index3 p = first;
      p[along] += static_cast<std::int64_t>(i);
      on_line[i] = grid.coordinate(along, repeated(grid.domain, p)[along]);
    }
    std::vector<const double*> variables;
    if (along >= grid.domain.first_axis()) variables.push_back(on_line.data());
    if (slow >= grid.domain.first_axis()) variables.push_back(&of_line);
    for (const double* const of_time : {&t, &dt, &n}) variables.push_back(of_time);
    program->evaluate(variables, values, workspace);
  };
}

/// Looks up values in a table with one value for each point of the face; beyond its ends they repeat along
/// periodic axes and are mirrored elsewhere.
auto values_by_table(const Domain& domain, const FilledFace& face, std::shared_ptr<const Table> table) {
  return [domain, along = face.line_axis(), slow = face.slow_axis(), table = std::move(table)](
             const Index3& first, std::int64_t, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      Index3 p = first;
      p[along] += static_cast<std::int64_t>(i);
      p = wrapped_or_reflected(domain, p);
      values[i] = table->values[static_cast<std::size_t>(p[slow] * domain.shape[along] + p[along])];
    }
  };
}

std::shared_ptr<const Table> read_face(Tables& tables, const Domain& domain, int axis,
                                       const DatasetForm& form, const std::string& key) {
  std::shared_ptr<const Table> table = tables.read(form, key);
  std::vector<std::int64_t> wanted;
  for (int along = domain.first_axis(); along < axis_count; ++along)
    if (along != axis) wanted.push_back(domain.shape[along]);
  wanted.resize(2, 1);  // a face of a 1D grid is one point
  if (table->rows != wanted[0] || table->columns != wanted[1])
    throw Error(Status::invalid_input,
                fmt::format("{}{}: dataset {} has {} x {} values; wanted {} x {}, those of the face",
                            error_prefix_of(form, key), form.file.string(), form.dataset, table->rows,
                            table->columns, wanted[0], wanted[1]));
  return table;
}

/// Sets the function that computes the values of a face, from a formula or a dataset.
void set_values(FilledFace& face, Tables& tables, const RunConfig& config, const Domain& domain,
                const FieldForm& form, const std::string& key) {
  if (const auto* formula = std::get_if<ExpressionForm>(&form)) {
    const Syntax syntax = parse_expression(formula->expression);
    face.values = values_by_formula(config, face, syntax);
    face.varies_along_face = uses_any(syntax, {"x", "y", "z"});
    face.varies_in_time = uses_any(syntax, {"t", "step"});
  } else {
    face.values =
        values_by_table(domain, face, read_face(tables, domain, face.axis, std::get<DatasetForm>(form), key));
    face.varies_in_time = false;
  }
}

}  // namespace

std::vector<FilledFace> filled_faces(Tables& tables, const RunConfig& config) {
  std::vector<FilledFace> filled;
  const std::vector<Domain> domains = domains_of(*config.equations, config.grid);
  for (std::size_t field = 0; field < domains.size(); ++field) {
    const Domain& domain = domains[field];
    const FieldConfig& given = config.equations->fields[field];
    if (!domain.has_filled_faces()) continue;
    for (int axis = domain.first_axis(); axis < axis_count; ++axis)
      for (const Side side : {low, high}) {
        if (domain.periodic(axis)) continue;
        FilledFace face{static_cast<int>(field), axis, side, WallCondition::flux, config.grid.spacing[axis]};
        const Face& plain = given.faces[axis][side];
        const std::string key =
            fmt::format("boundary{}.{}.{}", config.equations->of_stencil ? "" : "." + given.name,
                        axis_names[axis], side == low ? "low" : "high");
        if (const auto& wall = given.walls[axis][side]) {
          face.condition = wall->condition;
          face.robin = wall->robin;
          set_values(face, tables, config, domain, wall->value, key);
        } else if (plain.kind == BoundaryKind::dirichlet) {
          face.condition = WallCondition::dirichlet;
          face.values = [value = plain.value](const Index3&, std::int64_t, std::span<double> values) {
            std::ranges::fill(values, value);
          };
          face.varies_along_face = face.varies_in_time = false;
        }
        filled.push_back(std::move(face));
      }
  }
  return filled;
}

BytesOfWalls bytes_of_walls(const RunConfig& config, const std::vector<FilledFace>& faces,
                            const Index3& extent) {
  // kernels/cuda/system/wall_filler takes several time levels together if they have no more than this size.
  constexpr std::size_t together = 4 << 20, max_needed = 3, stagings = 2;
  BytesOfWalls bytes;
  const auto bytes_of = [](Index3 shape, int axis) {
    shape[axis] = 1;
    return static_cast<std::size_t>(volume(shape)) * sizeof(double);
  };
  if (config.equations)
    for (const FieldConfig& field : config.equations->fields)
      for (int axis = 0; axis < axis_count; ++axis)
        for (const auto& wall : field.walls[axis])
          if (wall && std::holds_alternative<DatasetForm>(wall->value))
            bytes.datasets += bytes_of(config.grid.domain.shape, axis);
  std::size_t level = 0;
  for (const FilledFace& face : faces)
    if (face.values && face.varies_along_face)
      (face.varies_in_time ? level : bytes.device) += bytes_of(extent, face.axis);
  if (level == 0) return bytes;
  bytes.device += std::max(together, level) + max_needed * level;
  bytes.staging = stagings * std::max(together, max_needed * level);
  return bytes;
}

}  // namespace spsolve
