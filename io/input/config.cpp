// SPDX-License-Identifier: Apache-2.0
#include "io/input/config.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "io/input/read_equations.hpp"
#include "io/input/read_images.hpp"
#include "io/input/read_outputs.hpp"
#include "io/input/read_points.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/read_stencil.hpp"
#include "io/input/toml_document.hpp"
#include "io/input/toml_section.hpp"
#include "io/language/resolve.hpp"
#include "kernels/error.hpp"

namespace spsolve {

namespace {

namespace fs = std::filesystem;

std::string read_name(const TomlSection& root, const fs::path& file_name) {
  std::string name = root.text("name").value_or(file_name.stem().string());
  for (const char c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || c == '/')
      root.fail("name", "'name' must not hold '/' or control characters");
  if (name.empty()) root.fail("name", "'name' is empty");
  if (name == "." || name == "..")
    root.fail("name", fmt::format("'name' is '{}', no name of a directory", name));
  return name;
}

/// Returns the fewest steps of dt that reach `end`. A quotient that is whole up to the rounding of end, dt
/// and the division is meant to be whole.
double steps_until(double end, double dt) {
  const double steps = end / dt, whole = std::round(steps);
  const double rounding = 2.0 * std::numeric_limits<double>::epsilon() * steps;
  return std::abs(steps - whole) <= rounding ? whole : std::ceil(steps);
}

TimeConfig read_time(const TomlSection& section, const StencilForm& stencil) {
  section.allow();
  TimeConfig time;
  const bool of_preset = has_own_time_step(stencil), has_dt = of_preset || section.has("dt");
  if (of_preset && section.has("dt"))
    section.fail("dt", "'dt' is that of the preset: give it in [stencil] alone");
  time.dt = of_preset ? std::get<PresetForm>(stencil).parameters.at("dt").front()
                      : section.number("dt").value_or(time.dt);
  if (section.exactly_one_of({"steps", "end"}) == "steps") {
    time.steps = *section.integer("steps");
  } else {
    const double end = *section.number("end");
    if (!has_dt)
      section.fail("end", "'end' needs 'dt', the time that a step takes; give it here, or 'steps' instead");
    const double steps = steps_until(end, time.dt);
    if (!(steps <= static_cast<double>(max_steps)))
      section.fail("end",
                   fmt::format("'end' takes {} steps of dt = {}, more than {}", steps, time.dt, max_steps));
    time.steps = static_cast<std::int64_t>(steps);
  }
  if (!section.is_auto("fuse", "an integer of at least 1"))
    time.fuse = static_cast<int>(*section.integer("fuse"));
  time.wall_limit_minutes = section.number("wall_limit_minutes");
  time.until_change = section.number("until_change");
  return time;
}

ComputeConfig read_compute(const TomlSection& section) {
  section.allow();
  ComputeConfig compute;
  compute.device = section.one_of("device").value_or(compute.device);
  compute.unit = parse_unit_kind(section.one_of("unit").value_or("auto"));
  compute.layout = parse_layout(section.one_of("layout").value_or("auto"));
  if (const auto name = section.one_of("precision")) compute.precision = *parse_precision(*name);
  compute.accuracy = section.number("accuracy");
  if (!section.is_auto("tune", "true or false")) compute.tune = *section.boolean("tune");
  if (compute.unit == UnitKind::scalar && compute.layout)
    section.fail("layout", fmt::format("layout '{}' is for tensor units, and unit is 'scalar'",
                                       to_string(*compute.layout)));
  return compute;
}

ParallelConfig read_parallel(const TomlSection& section, const Domain& domain) {
  section.allow();
  ParallelConfig parallel;
  parallel.transport = section.one_of("transport").value_or(parallel.transport);
  if (!section.is_auto("exchange_every", "a number of launches"))
    parallel.exchange_every = static_cast<int>(*section.integer("exchange_every"));
  parallel.share_gpus = section.boolean("share_gpus").value_or(parallel.share_gpus);
  parallel.graphs = section.boolean("graphs").value_or(parallel.graphs);
  parallel.timeout_seconds = section.number("timeout_seconds").value_or(parallel.timeout_seconds);
  if (section.is_auto("ranks", "a list with one integer per axis")) return parallel;
  parallel.ranks = per_axis<std::int64_t>(section, "ranks", *section.integers("ranks"), domain.dimensions, 1);
  for (int axis = 0; axis < axis_count; ++axis)
    if ((*parallel.ranks)[axis] > domain.shape[axis])
      section.fail("ranks", fmt::format("'ranks' cuts the {} points of axis '{}' into {} blocks",
                                        domain.shape[axis], axis_names[axis], (*parallel.ranks)[axis]));
  return parallel;
}

/// Throws if sections are absent that every input has, and names all of these.
void require_sections(const TomlSection& root) {
  std::vector<std::string> wanted{"grid", "time"}, missing;
  const auto has = [&](const char* name) { return root.has(name); };
  if (std::ranges::none_of(std::array{"equations", "fields", "coefficients", "constants", "stencils"}, has))
    wanted.insert(wanted.begin() + 1, {"stencil", "initial"});
  for (const std::string& name : wanted)
    if (!root.has(name)) missing.push_back(fmt::format("[{}]", name));
  if (!missing.empty())
    root.fail("",
              fmt::format("missing section{} {}", missing.size() > 1 ? "s" : "", fmt::join(missing, ", ")));
}

}  // namespace

RunConfig parse_config(std::string_view text, const fs::path& file_name,
                       const std::vector<std::string>& overrides) {
  const toml::table document = parse_toml(text, file_name.string(), overrides);
  const TomlSection root = TomlSection::of_input(document, file_name.string());
  root.allow();
  require_sections(root);
  const fs::path directory = file_name.parent_path();
  RunConfig config;
  config.name = read_name(root, file_name);
  config.grid = read_grid(root, directory);
  config.equations = read_equations(root, config.grid, directory);
  if (!config.equations) {
    config.stencil = read_stencil(*root.section("stencil"), config.grid, directory);
    config.initial = read_field(*root.section("initial"), config.grid, directory);
    if (const auto section = root.section("source")) {
      config.source = read_field(*section, config.grid, directory, true);
      config.source_is_rate = section->boolean("rate").value_or(false);
    }
  }
  if (!config.equations) config.equations = equations_of_stencil(root, config);
  const TomlSection time = *root.section("time");
  config.time = read_time(time, config.stencil);
  if (config.source_is_rate && !time.has("dt") && !has_own_time_step(config.stencil))
    time.fail("", "[source] rate needs 'dt', the time that a step takes");
  if (config.states_equations())
    check_equations(root, *config.equations, config.grid, config.time.dt, time.has("dt"));
  if (const auto section = root.section("compute")) config.compute = read_compute(*section);
  if (const auto section = root.section("parallel"))
    config.parallel = read_parallel(*section, config.grid.domain);
  config.output = read_output(root.section("output"), config);
  if (const auto section = root.section("diagnostics"))
    config.diagnostics = read_diagnostics(*section, config);
  if (const auto section = root.section("checkpoint")) config.checkpoint = read_checkpoint(*section);
  if (config.time.until_change && config.diagnostics.every == 0)
    time.fail("until_change", "'until_change' is looked for at diagnostics: give [diagnostics] every");
  config.outputs = read_outputs(root, config);
  config.point_sources = read_point_sources(root, config, directory);
  config.probes = read_probes(root, config, directory);
  config.images = read_images(root, config);
  return config;
}

std::vector<std::string> field_names(const RunConfig& config) {
  if (!config.equations) return {"u"};
  std::vector<std::string> names;
  for (const FieldConfig& field : config.equations->fields) names.push_back(field.name);
  return names;
}

void add_coefficients_and_time(const RunConfig& config, ExpressionNames& names) {
  if (config.equations) {
    names.constants = config.equations->constants;
    for (const CoefficientConfig& coefficient : config.equations->coefficients)
      names.variables.push_back({coefficient.name});
  }
  for (const char* name : names_of_time) names.variables.push_back({name, false});
}

ExpressionNames names_of_state(const RunConfig& config) {
  ExpressionNames names;
  for (int axis = axis_count - 1; axis >= config.grid.domain.first_axis(); --axis)
    names.variables.push_back({axis_names[axis], axis == x_axis});
  for (const std::string& field : field_names(config)) names.variables.push_back({field});
  add_coefficients_and_time(config, names);
  return names;
}

}  // namespace spsolve
