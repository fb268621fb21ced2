// SPDX-License-Identifier: Apache-2.0
#include "io/input/config.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <limits>

#include "io/compressed_array.hpp"
#include "io/input/read_boundary.hpp"
#include "io/input/read_equations.hpp"
#include "io/input/read_images.hpp"
#include "io/input/read_points.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/read_stencil.hpp"
#include "io/input/shell_word.hpp"
#include "io/input/toml_document.hpp"
#include "io/input/toml_section.hpp"
#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "io/nearest_name.hpp"
#include "kernels/error.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {

namespace {

namespace fs = std::filesystem;

/// Returns true if a key is absent or "auto"; any other string is an error.
bool is_auto(const TomlSection& section, std::string_view key, std::string_view otherwise) {
  if (!section.has(key)) return true;
  if (!section.find(key)->is_string()) return false;
  if (*section.text(key) == "auto") return true;
  section.fail(key, fmt::format("'{}' is '{}'; wanted \"auto\" or {}", key, *section.text(key), otherwise));
}

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
  if (!is_auto(section, "fuse", "an integer of at least 1"))
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
  if (!is_auto(section, "tune", "true or false")) compute.tune = *section.boolean("tune");
  if (compute.unit == UnitKind::scalar && compute.layout)
    section.fail("layout", fmt::format("layout '{}' is for tensor units, and unit is 'scalar'",
                                       to_string(*compute.layout)));
  return compute;
}

ParallelConfig read_parallel(const TomlSection& section, const Domain& domain) {
  section.allow();
  ParallelConfig parallel;
  parallel.transport = section.one_of("transport").value_or(parallel.transport);
  if (!is_auto(section, "exchange_every", "a number of launches"))
    parallel.exchange_every = static_cast<int>(*section.integer("exchange_every"));
  parallel.share_gpus = section.boolean("share_gpus").value_or(parallel.share_gpus);
  parallel.graphs = section.boolean("graphs").value_or(parallel.graphs);
  parallel.timeout_seconds = section.number("timeout_seconds").value_or(parallel.timeout_seconds);
  if (is_auto(section, "ranks", "a list with one integer per axis")) return parallel;
  parallel.ranks = per_axis<std::int64_t>(section, "ranks", *section.integers("ranks"), domain.dimensions, 1);
  for (int axis = 0; axis < axis_count; ++axis)
    if ((*parallel.ranks)[axis] > domain.shape[axis])
      section.fail("ranks", fmt::format("'ranks' cuts the {} points of axis '{}' into {} blocks",
                                        domain.shape[axis], axis_names[axis], (*parallel.ranks)[axis]));
  return parallel;
}

/// Returns the fields that snapshots hold.
std::vector<std::string> read_output_fields(const TomlSection& section,
                                            const std::vector<std::string>& known) {
  std::vector<std::string> fields;
  for (const std::string& name : section.texts("fields")) {
    if (std::ranges::find(known, name) == known.end())
      section.fail("fields", fmt::format("there is no field '{}'{}fields: {}", name,
                                         did_you_mean(name, known), fmt::join(known, ", ")));
    if (std::ranges::find(fields, name) != fields.end())
      section.fail("fields", fmt::format("'fields' holds '{}' twice", name));
    fields.push_back(name);
  }
  if (fields.empty()) section.fail("fields", "'fields' is empty; leave it out for all fields");
  return fields;
}

Compression read_compression(const TomlSection& section) {
  const std::string name = section.one_of("compression").value_or("none");
  const auto place = std::ranges::find(compression_names, name) - compression_names.begin();
  const auto compression = static_cast<Compression>(place);
  if (const std::string why = why_unavailable(compression); !why.empty()) section.fail("compression", why);
  return compression;
}

OutputConfig read_output(const std::optional<TomlSection>& section, const RunConfig& config) {
  OutputConfig output;
  output.directory = fs::path("out") / config.name;
  output.precision = config.compute.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  if (!section) return output;
  section->allow();
  if (section->has("fields")) output.fields = read_output_fields(*section, field_names(config));
  if (const auto directory = section->text("directory")) output.directory = *directory;
  if (output.directory.empty()) section->fail("directory", "'directory' is empty");
  if (const std::string word = shell_word(output.directory); !word.empty())
    section->fail("directory", fmt::format("'directory' holds '{}', which only shells expand; give the whole "
                                           "path, or --output on the command line",
                                           word));
  output.every = section->integer("every").value_or(output.every);
  output.stride = section->integer("stride").value_or(output.stride);
  output.compression = read_compression(*section);
  if (const auto precision = section->one_of("precision")) output.precision = *parse_precision(*precision);
  if (!is_auto(*section, "background", "true or false")) output.background = *section->boolean("background");
  return output;
}

std::array<double, 2> read_range(const TomlSection& region, const char* axis) {
  const auto range = region.numbers(axis);
  if (range->size() != 2 || !((*range)[0] <= (*range)[1]))
    region.fail(axis, fmt::format("'{}' must be two coordinates, the lower one first", axis));
  return {(*range)[0], (*range)[1]};
}

/// Reads [[outputs]].
std::vector<OutputStreamConfig> read_outputs(const TomlSection& root, const RunConfig& config) {
  std::vector<OutputStreamConfig> streams;
  const Domain& domain = config.grid.domain;
  for (const TomlSection& section : root.sections("outputs")) {
    section.allow();
    OutputStreamConfig stream;
    section.require("name");
    stream.name = *section.text("name");
    const bool plain = std::ranges::all_of(
        stream.name, [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '-'; });
    if (stream.name.empty() || !plain || stream.name == "snapshot" || stream.name == "snapshots" ||
        stream.name == "checkpoint")
      section.fail("name",
                   fmt::format("'name' is '{}'; wanted letters, digits, '_' and '-', and none "
                               "of 'snapshot', 'snapshots' and 'checkpoint', which other files are called",
                               stream.name));
    if (std::ranges::find(streams, stream.name, &OutputStreamConfig::name) != streams.end())
      section.fail("name", fmt::format("there is an output '{}' already", stream.name));
    if (section.has("fields")) stream.fields = read_output_fields(section, field_names(config));
    if (section.has("every") && section.has("every_time"))
      section.fail("every_time", "'every' and 'every_time' contradict each other; give one of them");
    stream.every = section.integer("every").value_or(0);
    stream.every_time = section.number("every_time");
    stream.stride = section.integer("stride").value_or(1);
    stream.precision = config.compute.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
    if (const auto precision = section.one_of("precision")) stream.precision = *parse_precision(*precision);
    stream.compression = read_compression(section);
    if (const auto region = section.section("region")) {
      region->allow({axis_names.rbegin(), axis_names.rend() - domain.first_axis()});
      for (int axis = domain.first_axis(); axis < axis_count; ++axis)
        if (region->has(axis_names[axis])) stream.region[axis] = read_range(*region, axis_names[axis]);
    }
    if (points_of(stream, config.grid).empty())
      section.fail("region", "no point of the grid lies in 'region'");
    streams.push_back(std::move(stream));
  }
  return streams;
}

DiagnosticsConfig read_diagnostics(const TomlSection& section, const RunConfig& config) {
  section.allow();
  DiagnosticsConfig diagnostics{section.integer("every").value_or(0), {}};
  const auto sums = section.section("sums");
  if (!sums) return diagnostics;
  for (const auto& [key, value] : sums->table()) {
    const std::string name(key.str());
    if (const std::string why = why_invalid_name(name); !why.empty()) sums->fail(name, why);
    for (const char* column : {"step", "time", "min", "max", "mean", "l2", "change_l2"})
      if (name == column || name.starts_with(std::string(column) + "_"))
        sums->fail(name,
                   fmt::format("'{}' is or begins like a column that diagnostics.csv has anyway", name));
    const std::string formula = *sums->text(name);
    try {
      RowProgram(parse_expression(formula), names_of_state(config));
    } catch (const SyntaxError& error) {
      throw Error(Status::invalid_input,
                  fmt::format("{}{}: {}", sums->error_prefix(name), name, error.what()));
    }
    diagnostics.sums[name] = formula;
  }
  return diagnostics;
}

CheckpointConfig read_checkpoint(const TomlSection& section) {
  section.allow();
  CheckpointConfig checkpoint;
  checkpoint.every = section.integer("every").value_or(checkpoint.every);
  checkpoint.minutes = section.number("minutes");
  checkpoint.keep = static_cast<int>(section.integer("keep").value_or(checkpoint.keep));
  checkpoint.final = section.boolean("final").value_or(checkpoint.final);
  return checkpoint;
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
  if (config.equations && !config.equations->of_stencil)
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

Box points_of(const OutputStreamConfig& output, const Grid& grid) {
  Box box = Sampling{output.stride}.sampled(grid.domain.box());
  for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis) {
    if (!output.region[axis]) continue;
    const auto [first, last] = *output.region[axis];
    const double step = grid.spacing[axis] * static_cast<double>(output.stride);
    const double begin = (first - grid.origin[axis]) / step, end = (last - grid.origin[axis]) / step;
    const std::int64_t all = box.end[axis];
    if (first == last) {
      // Positions are valid that are nearer to a point of the grid, whether sampled or not, than to any point
      // beyond it.
      const double place = (first - grid.origin[axis]) / grid.spacing[axis];
      if (!(place > -0.5 && place < static_cast<double>(grid.domain.shape[axis]) - 0.5)) return {};
      box.begin[axis] = std::clamp<std::int64_t>(std::llround(begin), 0, all - 1);
      box.end[axis] = box.begin[axis] + 1;
      continue;
    }
    // Coordinates and their quotients are rounded.
    const double rounding =
        8 * std::numeric_limits<double>::epsilon() * std::max(std::abs(begin), std::abs(end));
    if (!(end >= -rounding && begin <= static_cast<double>(all))) return {};
    box.begin[axis] = static_cast<std::int64_t>(std::max(0.0, std::ceil(begin - rounding)));
    box.end[axis] =
        static_cast<std::int64_t>(std::min(static_cast<double>(all), std::floor(end + rounding) + 1));
  }
  for (int axis = 0; axis < axis_count; ++axis)
    if (box.begin[axis] >= box.end[axis]) return {};
  return box;
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
