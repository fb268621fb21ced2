// SPDX-License-Identifier: Apache-2.0
#include "app/setup/walls.hpp"

#include <fmt/format.h>

#include <memory>

#include "app/setup/points.hpp"
#include "io/input/read_equations.hpp"
#include "io/language/parser.hpp"
#include "kernels/operator/system.hpp"

namespace spsolve {
namespace {

/// Where a point lies that a face is asked for: coordinates go on beyond walls, and repeat along periodic
/// axes.
Index3 repeated(const Domain& domain, Index3 p) {
  for (int axis = 0; axis < axis_count; ++axis)
    if (domain.periodic(axis)) p[axis] = wrap(p[axis], domain.shape[axis]);
  return p;
}

/// Evaluates a formula of the coordinates along a face, t, dt and step.
auto values_by_formula(const RunConfig& config, int axis, const std::string& formula) {
  const auto program = std::make_shared<const RowProgram>(
      parse_expression(formula), names_on_face(config.grid, axis, config.equations->constants));
  return [program, axis, grid = config.grid, dt = config.time.dt](const Index3& first, std::int64_t step,
                                                                  std::span<double> values) {
    const double n = static_cast<double>(step), t = n * dt;
    std::array<double, axis_count> of_row{};
    std::vector<double> x(values.size()), workspace;
    for (std::size_t i = 0; i < x.size(); ++i)
      x[i] = grid.coordinate(
          x_axis, repeated(grid.domain, first + Index3{0, 0, static_cast<std::int64_t>(i)})[x_axis]);
    const Index3 row = repeated(grid.domain, first);
    for (const int along : {y_axis, z_axis}) of_row[along] = grid.coordinate(along, row[along]);
    for (std::size_t begin = 0; begin < values.size(); begin += RowProgram::width) {
      std::vector<const double*> variables;
      if (axis != x_axis) variables.push_back(x.data() + begin);
      for (const int along : {y_axis, z_axis})
        if (along != axis && along >= grid.domain.first_axis()) variables.push_back(&of_row[along]);
      variables.insert(variables.end(), {&t, &dt, &n});
      program->evaluate(
          variables, values.subspan(begin, std::min<std::size_t>(values.size() - begin, RowProgram::width)),
          workspace);
    }
  };
}

/// Looks up values in a table that holds one for each point of the face; beyond its ends they repeat along
/// periodic axes and are mirrored elsewhere.
auto values_by_table(const Domain& domain, int axis, Table table) {
  return [domain, axis, table = std::make_shared<const Table>(std::move(table))](
             const Index3& first, std::int64_t, std::span<double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const Index3 p = wrapped_or_reflected(domain, first + Index3{0, 0, static_cast<std::int64_t>(i)});
      std::int64_t index = 0;
      for (int along = 0; along < axis_count; ++along)
        if (along != axis) index = index * domain.shape[along] + p[along];
      values[i] = table->values[static_cast<std::size_t>(index)];
    }
  };
}

Table read_face(const Communicator& communicator, const Domain& domain, int axis, const DatasetForm& form,
                const std::string& key) {
  Table table = read_table(communicator, form, key);
  std::vector<std::int64_t> wanted;
  for (int along = domain.first_axis(); along < axis_count; ++along)
    if (along != axis) wanted.push_back(domain.shape[along]);
  wanted.resize(2, 1);  // a face of a 1D grid is one point
  if (table.rows != wanted[0] || table.columns != wanted[1])
    throw Error(
        Status::invalid_input,
        fmt::format("{}{}: dataset {} has {} x {} values; wanted {} x {}, those of the face", blame_of(form, key),
                    form.file.string(), form.dataset, table.rows, table.columns, wanted[0], wanted[1]));
  return table;
}

}  // namespace

std::vector<FilledFace> filled_faces(const Communicator& communicator, const RunConfig& config) {
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
          if (const auto* formula = std::get_if<ExpressionForm>(&wall->value))
            face.values = values_by_formula(config, axis, formula->expression);
          else
            face.values = values_by_table(
                domain, axis, read_face(communicator, domain, axis, std::get<DatasetForm>(wall->value), key));
        } else if (plain.kind == BoundaryKind::dirichlet) {
          face.condition = WallCondition::dirichlet;
          face.values = [value = plain.value](const Index3&, std::int64_t, std::span<double> values) {
            std::ranges::fill(values, value);
          };
        }
        filled.push_back(std::move(face));
      }
  }
  return filled;
}

}  // namespace spsolve
