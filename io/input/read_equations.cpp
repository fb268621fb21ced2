// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_equations.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "io/input/expression.hpp"
#include "io/input/read_boundary.hpp"
#include "io/input/read_points.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/read_stencil.hpp"
#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "io/language/row_program.hpp"
#include "kernels/operator/canonical.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// The first list holds sections that are valid only with [equations], the second those that [equations]
/// replaces.
constexpr std::array<const char*, 4> sections_of_equations{"fields", "coefficients", "constants", "stencils"};
constexpr std::array<const char*, 3> sections_of_stencil{"stencil", "initial", "source"};

/// Returns the keys of a table in the order of the text, followed by those that the command line sets.
std::vector<std::string> keys_in_order(const TomlSection& root, const char* name) {
  const auto section = root.section(name);
  std::vector<std::tuple<bool, toml::source_position, std::string>> keys;
  if (section)
    for (const auto& [key, value] : section->table()) {
      const toml::source_region& source = key.source();
      const bool is_override = source.path && source.path->starts_with(override_mark);
      keys.emplace_back(is_override, source.begin, std::string(key.str()));
    }
  std::ranges::sort(keys);
  std::vector<std::string> names;
  for (auto& [is_override, begin, key] : keys) names.push_back(std::move(key));
  return names;
}

/// Reads names and refuses those that are taken or reserved.
class UniqueNames {
 public:
  void add(const TomlSection& section, const std::string& name, const std::string& kind) {
    const auto [other, is_new] = kinds_.try_emplace(name, kind);
    if (!is_new) section.fail(name, fmt::format("'{}' is a {} already", name, other->second));
    if (const std::string why = why_invalid_name(name); !why.empty()) section.fail(name, why);
    if (name == "VTKHDF") section.fail(name, "'VTKHDF' is the name of a group in snapshots");
  }

 private:
  std::map<std::string, std::string> kinds_;
};

FieldConfig read_field(const TomlSection& fields, const std::string& name, const Grid& grid,
                       const EquationsConfig& equations, const fs::path& directory) {
  const auto found = fields.section(name);
  const TomlSection& section = *found;
  section.allow();
  FieldConfig field;
  field.name = name;
  const auto read = [&](const char* key) {
    const FieldForm form = read_values(section, key, directory);
    if (const auto* expression = std::get_if<ExpressionForm>(&form))
      Expression{expression->expression, expression->at.text, with_dt(equations.constants, 1.0)}.check(grid);
    return form;
  };
  if (section.has("initial")) field.initial = read("initial");
  if (section.has("previous")) field.previous = read("previous");
  return field;
}

/// Reads the walls of one field: those of [boundary], except those that [boundary.<field>] sets.
void read_walls(const TomlSection& root, FieldConfig& field, const Grid& grid, const fs::path& directory) {
  const auto boundary = root.section("boundary");
  const auto section = boundary ? boundary->section(field.name) : std::nullopt;
  Domain domain = grid.domain;
  field.walls = grid.walls;
  if (section) read_boundary(*section, domain, field.walls, {}, directory);
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (domain.periodic(axis) != grid.domain.periodic(axis))
      section->fail(axis_names[axis],
                    fmt::format("axis '{}' must be periodic for all fields or for none; in "
                                "[boundary] it is {}periodic",
                                axis_names[axis], grid.domain.periodic(axis) ? "" : "not "));
  field.faces = domain.faces;
  const bool has_extent = root.section("grid")->has("extent");
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (has_extent && !has_walls_at_the_same_places(grid, field.faces, field.walls, axis))
      section->fail(
          axis_names[axis],
          fmt::format("the walls of axis '{}' lie elsewhere than those of [boundary]; [grid] extent "
                      "is for walls at one place, so give spacing and origin instead",
                      axis_names[axis]));
}

/// Checks the formulas of walls that a section gives.
void check_walls(const TomlSection& section, const WallsConfig& walls, const Grid& grid,
                 const std::map<std::string, double, std::less<>>& constants) {
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis)
    for (const Side side : {low, high}) {
      const auto& wall = walls[axis][side];
      const auto* formula = wall ? std::get_if<ExpressionForm>(&wall->value) : nullptr;
      if (!formula) continue;
      try {
        RowProgram(parse_expression(formula->expression), names_on_face(grid, axis, constants));
      } catch (const SyntaxError& error) {
        section.fail(axis_names[axis],
                     fmt::format("{}.{}: {}", axis_names[axis], side == low ? "low" : "high", error.what()));
      }
    }
}

/// Returns the names that a formula uses.
std::set<std::string> names_in(const std::string& expression) {
  std::set<std::string> names;
  for (const SyntaxNode& node : parse_expression(expression).nodes)
    if (node.kind == SyntaxKind::name) names.insert(node.text);
  return names;
}

/// Orders coefficients so that each follows those that its formula uses.
std::vector<CoefficientConfig> ordered(const TomlSection& section,
                                       const std::vector<CoefficientConfig>& coefficients,
                                       const EquationsConfig& equations, const Grid& grid) {
  std::vector<CoefficientConfig> result;
  std::vector<bool> taken(coefficients.size(), false);
  const auto is_waiting_for = [&](const std::string& name) {
    for (std::size_t i = 0; i < coefficients.size(); ++i)
      if (!taken[i] && coefficients[i].name == name) return true;
    return false;
  };
  while (result.size() < coefficients.size()) {
    const std::size_t before = result.size();
    for (std::size_t i = 0; i < coefficients.size(); ++i) {
      if (taken[i]) continue;
      const CoefficientConfig& coefficient = coefficients[i];
      if (const auto* formula = std::get_if<ExpressionForm>(&coefficient.values)) {
        const std::string key = section.error_prefix(coefficient.name) + coefficient.name;
        std::set<std::string> names;
        try {
          names = names_in(formula->expression);
        } catch (const SyntaxError& error) {
          throw Error(Status::invalid_input, fmt::format("{}: {}", key, error.what()));
        }
        if (std::ranges::any_of(names, is_waiting_for)) continue;
        Expression expression{formula->expression, key, with_dt(equations.constants, 1.0)};
        for (const CoefficientConfig& above : result) expression.given.push_back({above.name, {}});
        expression.check(grid);
      }
      taken[i] = true;
      result.push_back(coefficient);
    }
    if (result.size() > before) continue;
    const auto stuck = std::ranges::find(taken, false) - taken.begin();
    section.fail(coefficients[static_cast<std::size_t>(stuck)].name,
                 fmt::format("coefficient '{}' uses itself, perhaps by way of others",
                             coefficients[static_cast<std::size_t>(stuck)].name));
  }
  return result;
}

}  // namespace

std::vector<std::string> field_names_of(const TomlSection& root) { return keys_in_order(root, "fields"); }

std::optional<EquationsConfig> read_equations(const TomlSection& root, const Grid& grid,
                                              const fs::path& directory) {
  const auto section = root.section("equations");
  if (!section) {
    for (const char* name : sections_of_equations)
      if (root.has(name))
        root.fail(name, fmt::format("[{}] needs [equations], which uses what it holds", name));
    return {};
  }
  for (const char* name : sections_of_stencil)
    if (root.has(name))
      root.fail(name,
                fmt::format("[{}] and [equations] contradict each other: equations have their own {}", name,
                            std::string_view(name) == "stencil"   ? "stencils, see [stencils]"
                            : std::string_view(name) == "initial" ? "initial values, see [fields]"
                                                                  : "terms"));
  section->allow();
  section->require("step");
  EquationsConfig equations;
  equations.step = *section->text("step");
  UniqueNames names;
  for (const std::string& name : keys_in_order(root, "constants")) {
    const TomlSection constants = *root.section("constants");
    names.add(constants, name, "constant");
    equations.constants[name] = *constants.number(name);
  }
  std::vector<CoefficientConfig> coefficients;
  for (const std::string& name : keys_in_order(root, "coefficients")) {
    const TomlSection given = *root.section("coefficients");
    names.add(given, name, "coefficient");
    coefficients.push_back({name, read_values(given, name, directory)});
  }
  if (!coefficients.empty())
    equations.coefficients = ordered(*root.section("coefficients"), coefficients, equations, grid);
  for (const std::string& name : keys_in_order(root, "stencils")) {
    const TomlSection stencils = *root.section("stencils");
    names.add(stencils, name, "stencil");
    equations.stencils[name] = read_stencil(*stencils.section(name), grid, directory);
  }
  const std::vector<std::string> fields = field_names_of(root);
  if (fields.empty())
    root.fail("fields", "[equations] needs a section [fields.<name>] for every unknown, such as [fields.u]");
  for (const std::string& name : fields) {
    const TomlSection section_of_fields = *root.section("fields");
    names.add(section_of_fields, name, "field");
    equations.fields.push_back(read_field(section_of_fields, name, grid, equations, directory));
    read_walls(root, equations.fields.back(), grid, directory);
    if (const auto boundary = root.section("boundary"))
      check_walls(boundary->section(name).value_or(*boundary), equations.fields.back().walls, grid,
                  equations.constants);
  }
  return equations;
}

ExpressionNames names_on_face(const Grid& grid, int axis,
                              const std::map<std::string, double, std::less<>>& constants) {
  ExpressionNames names;
  const int of_lines = axis == x_axis ? y_axis : x_axis;
  for (int along = axis_count - 1; along >= grid.domain.first_axis(); --along)
    if (along != axis) names.variables.push_back({axis_names[along], along == of_lines});
  for (const char* name : names_of_time) names.variables.push_back({name, false});
  names.constants = constants;
  return names;
}

std::optional<EquationsConfig> equations_of_stencil(const TomlSection& root, const RunConfig& config) {
  const auto* formula = config.source ? std::get_if<ExpressionForm>(&*config.source) : nullptr;
  const bool depends_on_time = formula && uses_any(formula->expression, {"t", "step"});
  if (!has_walls(config.grid.walls) && !depends_on_time) return {};
  if (const auto boundary = root.section("boundary"))
    check_walls(*boundary, config.grid.walls, config.grid, {});
  return equations_of_stencil(config);
}

EquationsConfig equations_of_stencil(const RunConfig& config) {
  const auto* formula = config.source ? std::get_if<ExpressionForm>(&*config.source) : nullptr;
  EquationsConfig equations;
  equations.of_stencil = true;
  equations.stencils["w"] = config.stencil;
  FieldConfig field;
  field.name = "u";
  field.initial = config.initial;
  field.faces = config.grid.domain.faces;
  field.walls = config.grid.walls;
  equations.fields.push_back(field);
  equations.step = "u.next = correlate(w, u)";
  const std::string factor = config.source_is_rate ? "dt*" : "";
  if (formula) equations.step += " + " + factor + "(" + formula->expression + ")";
  if (config.source && !formula) {
    equations.coefficients.push_back({"source", *config.source});
    equations.step += " + " + factor + "source";
  }
  return equations;
}

namespace {

/// Throws StatementError if the operations of a statement build on one another in more levels than units can
/// follow: their recursion would overflow the stack.
void check_depth(const Canonical& canonical) {
  constexpr int max_depth = 4000;
  std::vector<int> depths;
  for (const CanonicalNode& node : canonical.nodes) {  // nodes follow their operands
    int depth = 0;
    for (const Reading& operand : node.operands) depth = std::max(depth, depths[operand.node]);
    for (const ChainLink& link : node.links) depth = std::max(depth, depths[link.node]);
    depths.push_back(depth + 1);
  }
  for (std::size_t s = 0; s < canonical.equations.size(); ++s)
    if (const int depth = depths[canonical.equations[s].node]; depth > max_depth)
      throw StatementError(
          Error(Status::invalid_input,
                fmt::format("found operations that build on one another in {} levels; wanted at most {}: a "
                            "long sum or product has fewer levels as one of shorthands or brackets",
                            depth, max_depth)),
          s);
}

}  // namespace

void check_equations(const TomlSection& root, const EquationsConfig& equations, const Grid& grid, double dt,
                     bool has_dt) {
  const TomlSection section = *root.section("equations");
  Stencils stencils;
  for (const auto& [name, form] : equations.stencils)  // files are not opened here
    stencils.try_emplace(name, make_stencil(form, grid).value_or(Stencil({1, 1, 1}, {1.0}, {0, 0, 0})));
  Syntax syntax;
  try {
    syntax = parse_step(equations.step);
    check_depth(canonical_form(resolve_step(syntax, names_of(equations, grid, dt, std::move(stencils)))));
  } catch (const SyntaxError& error) {
    throw Error(Status::invalid_input,
                fmt::format("{}step: {}", section.error_prefix("step", error.position().line), error.what()));
  } catch (const StatementError& error) {
    std::size_t number = 0;
    for (const SyntaxStatement& statement : syntax.statements)
      if (statement.next && number++ == error.statement())
        throw Error(error.status(),
                    fmt::format("{}step: line {}, column {}: {}",
                                section.error_prefix("step", statement.position.line),
                                statement.position.line, statement.position.column, error.what()));
    throw;
  }
  if (!has_dt && uses_any(syntax, {"t", "dt"}))
    root.fail("time", "[time] needs 'dt', the length of a step, because the equations use it");
}

}  // namespace spsolve
