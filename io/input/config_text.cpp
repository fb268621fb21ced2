// SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <span>

#include "io/input/config.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/toml_document.hpp"

namespace spsolve {

namespace {

/// Returns the shortest decimal that reads back as the same double. It is written as a float, because an
/// integer would lose the sign of -0.
std::string number(double value) {
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string number(std::int64_t value) { return std::to_string(value); }

template <class Value>
std::string list(std::span<const Value> values) {
  std::vector<std::string> texts;
  for (const Value& value : values) texts.push_back(number(value));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

/// Returns the values of the axes that the grid has.
template <class Value>
std::string per_axis(const Domain& domain, const std::array<Value, 3>& values) {
  return list(std::span<const Value>(values).subspan(domain.first_axis()));
}

std::string face(const Face& face) {
  return face.kind == BoundaryKind::dirichlet ? fmt::format("{{ dirichlet = {} }}", number(face.value))
                                              : toml_string(to_string(face.kind));
}

std::string form(const DatasetForm& dataset) {
  return fmt::format("file = {}\ndataset = {}\n", toml_string(dataset.file.string()),
                     toml_string(dataset.dataset));
}

std::string form(const ExpressionForm& expression) {
  return fmt::format("expression = {}\n", toml_string(expression.expression));
}

std::string form(const PresetForm& preset) {
  std::string text = fmt::format("preset = {}\n", toml_string(preset.preset));
  for (const auto& [name, values] : preset.parameters)
    text +=
        fmt::format("{} = {}\n", name, values.size() == 1 ? number(values.front()) : list<double>(values));
  return text;
}

/// Returns the weights of one level of nesting, from position `next` on.
std::string nested(const WeightsForm& weights, int axis, std::size_t& next) {
  if (axis == axis_count) return number(weights.weights[next++]);
  std::vector<std::string> texts;
  for (std::int64_t i = 0; i < weights.extent[axis]; ++i) texts.push_back(nested(weights, axis + 1, next));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string stencil_text(const StencilForm& stencil, const Domain& domain) {
  if (const auto* preset = std::get_if<PresetForm>(&stencil)) return form(*preset);
  if (const auto* dataset = std::get_if<DatasetForm>(&stencil)) return form(*dataset);
  const auto& weights = std::get<WeightsForm>(stencil);
  std::size_t next = 0;
  return fmt::format("weights = {}\ncenter = {}\n", nested(weights, domain.first_axis(), next),
                     per_axis(domain, weights.center));
}

std::string field_text(const FieldForm& field) {
  return std::visit([](const auto& chosen) { return form(chosen); }, field);
}

/// Returns a formula or a dataset as the value of a key.
std::string values_text(const FieldForm& values) {
  if (const auto* formula = std::get_if<ExpressionForm>(&values)) return toml_string(formula->expression);
  const auto& dataset = std::get<DatasetForm>(values);
  return fmt::format("{{ file = {}, dataset = {} }}", toml_string(dataset.file.string()),
                     toml_string(dataset.dataset));
}

std::string face_text(const Face& plain, const std::optional<WallConfig>& wall) {
  if (!wall) return face(plain);
  const std::string value = values_text(wall->value);
  switch (wall->condition) {
    case WallCondition::dirichlet:
      return fmt::format("{{ dirichlet = {} }}", value);
    case WallCondition::value:
      return fmt::format("{{ value = {} }}", value);
    case WallCondition::flux:
      return fmt::format("{{ flux = {} }}", value);
    case WallCondition::robin:
      break;
  }
  return fmt::format("{{ robin = {{ h = {}, value = {} }} }}", number(wall->robin), value);
}

std::string boundary_text(const Domain& domain, const WallsConfig& walls) {
  std::string text;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    text += fmt::format("{} = {{ low = {}, high = {} }}\n", axis_names[axis],
                        face_text(domain.faces[axis][low], walls[axis][low]),
                        face_text(domain.faces[axis][high], walls[axis][high]));
  return text;
}

std::string names_text(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (const std::string& name : names) quoted.push_back(toml_string(name));
  return fmt::format("[{}]", fmt::join(quoted, ", "));
}

std::string output_text(const OutputStreamConfig& output, const Domain& domain) {
  std::string text = fmt::format(
      "\n[[outputs]]\nname = {}\nstride = {}\nprecision = \"{}\"\ncompression = \"{}\"\n",
      toml_string(output.name), output.stride, to_string(output.precision), to_string(output.compression));
  text += output.every_time ? fmt::format("every_time = {}\n", number(*output.every_time))
                            : fmt::format("every = {}\n", output.every);
  if (!output.fields.empty()) text += fmt::format("fields = {}\n", names_text(output.fields));
  std::vector<std::string> ranges;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (const auto& range = output.region[axis])
      ranges.push_back(fmt::format("{} = {}", axis_names[axis], list<double>(*range)));
  if (!ranges.empty()) text += fmt::format("region = {{ {} }}\n", fmt::join(ranges, ", "));
  return text;
}

std::string places_text(const PointsForm& at, const Domain& domain) {
  if (const auto* dataset = std::get_if<DatasetForm>(&at)) return values_text(*dataset);
  std::vector<std::string> points;
  for (const auto& point : std::get<0>(at)) points.push_back(per_axis(domain, point));
  return fmt::format("[{}]", fmt::join(points, ", "));
}

std::string point_source_text(const PointSourceConfig& source, const Domain& domain) {
  return fmt::format("\n[[point_sources]]\nfield = {}\nat = {}\nvalue = {}\ninterpolation = \"{}\"\n",
                     toml_string(source.field), places_text(source.at, domain), values_text(source.value),
                     source.interpolation == Interpolation::linear ? "linear" : "nearest");
}

std::string probes_text(const ProbesConfig& probes, const Domain& domain) {
  return fmt::format("\n[[probes]]\nname = {}\nfields = {}\nat = {}\nevery = {}\n", toml_string(probes.name),
                     names_text(probes.fields), places_text(probes.at, domain), probes.every);
}

/// Returns the statements in their original form, in a text of several lines if TOML can hold them.
std::string statements_text(const std::string& step) {
  const bool is_plain = std::ranges::all_of(
      step, [](char c) { return c == '\n' || (static_cast<unsigned char>(c) >= ' ' && c != 0x7f); });
  if (!is_plain || step.find("\'\'\'") != std::string::npos || step.ends_with('\'')) return toml_string(step);
  return "\'\'\'\n" + step + "\'\'\'";
}

std::string equations_text(const EquationsConfig& equations, const Grid& grid) {
  std::string text;
  for (const FieldConfig& field : equations.fields) {
    if (field.faces == grid.domain.faces && field.walls == grid.walls) continue;
    Domain domain = grid.domain;
    domain.faces = field.faces;
    text += fmt::format("\n[boundary.{}]\n{}", field.name, boundary_text(domain, field.walls));
  }
  if (!equations.constants.empty()) text += "\n[constants]\n";
  for (const auto& [name, value] : equations.constants) text += fmt::format("{} = {}\n", name, number(value));
  if (!equations.coefficients.empty()) text += "\n[coefficients]\n";
  for (const auto& [name, values] : equations.coefficients)
    text += fmt::format("{} = {}\n", name, values_text(values));
  for (const auto& [name, stencil] : equations.stencils)
    text += fmt::format("\n[stencils.{}]\n{}", name, stencil_text(stencil, grid.domain));
  for (const FieldConfig& field : equations.fields) {
    text += fmt::format("\n[fields.{}]\n", field.name);
    if (field.initial) text += fmt::format("initial = {}\n", values_text(*field.initial));
    if (field.previous) text += fmt::format("previous = {}\n", values_text(*field.previous));
  }
  return text + "\n[equations]\nstep = " + statements_text(equations.step) + "\n";
}

std::string images_text(const ImagesConfig& images) {
  std::string text = fmt::format("\n[[images]]\nname = {}\nvalue = {}\nevery = {}\ncolormap = \"{}\"\n",
                                 toml_string(images.name), toml_string(images.value), images.every,
                                 to_string(images.colormap));
  if (const auto& plane = images.plane)
    text += fmt::format("plane = {{ {} = {} }}\n", axis_names[plane->axis], number(plane->at));
  if (images.scale == ImageScale::given)
    return text + fmt::format("range = [{}, {}]\n", number(images.range.low), number(images.range.high));
  return text + fmt::format("range = \"{}\"\n", images.scale == ImageScale::fixed ? "fixed" : "auto");
}

std::string problem_text(const RunConfig& config) {
  const Domain& domain = config.grid.domain;
  std::string text =
      fmt::format("\n[grid]\nshape = {}\nspacing = {}\norigin = {}\n", per_axis(domain, domain.shape),
                  per_axis(domain, config.grid.spacing), per_axis(domain, config.grid.origin));
  text += "\n[boundary]\n" + boundary_text(domain, config.grid.walls);
  if (config.states_equations()) return text + equations_text(*config.equations, config.grid);
  text += "\n[stencil]\n" + stencil_text(config.stencil, domain);
  text += "\n[initial]\n" + field_text(config.initial);
  if (config.source) text += "\n[source]\n" + field_text(*config.source);
  if (config.source_is_rate) text += "rate = true\n";
  return text;
}

std::string time_text(const RunConfig& config) {
  std::string text = fmt::format("\n[time]\nsteps = {}\nfuse = {}\n", config.time.steps,
                                 config.time.fuse ? std::to_string(*config.time.fuse) : "\"auto\"");
  if (config.states_equations() || !has_own_time_step(config.stencil))
    text += fmt::format("dt = {}\n", number(config.time.dt));
  if (const auto& limit = config.time.wall_limit_minutes)
    text += fmt::format("wall_limit_minutes = {}\n", number(*limit));
  if (const auto& change = config.time.until_change)
    text += fmt::format("until_change = {}\n", number(*change));
  return text;
}

std::string compute_text(const ComputeConfig& compute) {
  std::string text = fmt::format(
      "\n[compute]\ndevice = \"{}\"\nprecision = \"{}\"\nunit = \"{}\"\nlayout = \"{}\"\n", compute.device,
      to_string(compute.precision), name_or(compute.unit, "auto"), name_or(compute.layout, "auto"));
  if (compute.accuracy) text += fmt::format("accuracy = {}\n", number(*compute.accuracy));
  if (compute.tune) text += fmt::format("tune = {}\n", *compute.tune);
  return text;
}

std::string parallel_text(const ParallelConfig& parallel, const Domain& domain) {
  return fmt::format(
      "\n[parallel]\nranks = {}\ntransport = \"{}\"\nexchange_every = {}\nshare_gpus = {}\ngraphs = "
      "{}\ntimeout_seconds = {}\n",
      parallel.ranks ? per_axis(domain, *parallel.ranks) : "\"auto\"", parallel.transport,
      parallel.exchange_every ? std::to_string(*parallel.exchange_every) : "\"auto\"", parallel.share_gpus,
      parallel.graphs, number(parallel.timeout_seconds));
}

std::string output_text(const OutputConfig& output) {
  std::string text = fmt::format(
      "\n[output]\ndirectory = {}\nevery = {}\nprecision = \"{}\"\nstride = {}\n"
      "compression = \"{}\"\n",
      toml_string(output.directory.string()), output.every, to_string(output.precision), output.stride,
      to_string(output.compression));
  if (!output.fields.empty()) text += fmt::format("fields = {}\n", names_text(output.fields));
  if (output.background) text += fmt::format("background = {}\n", *output.background);
  return text;
}

std::string diagnostics_text(const DiagnosticsConfig& diagnostics) {
  std::string text = fmt::format("\n[diagnostics]\nevery = {}\n", diagnostics.every);
  std::vector<std::string> sums;
  for (const auto& [name, formula] : diagnostics.sums)
    sums.push_back(fmt::format("{} = {}", name, toml_string(formula)));
  if (!sums.empty()) text += fmt::format("sums = {{ {} }}\n", fmt::join(sums, ", "));
  return text;
}

std::string checkpoint_text(const CheckpointConfig& checkpoint) {
  std::string text = fmt::format("\n[checkpoint]\nevery = {}\nkeep = {}\nfinal = {}\n", checkpoint.every,
                                 checkpoint.keep, checkpoint.final);
  if (checkpoint.minutes) text += fmt::format("minutes = {}\n", number(*checkpoint.minutes));
  return text;
}

}  // namespace

std::string to_toml(const RunConfig& config) {
  const Domain& domain = config.grid.domain;
  std::string text = fmt::format("name = {}\n", toml_string(config.name));
  text += problem_text(config);
  text += time_text(config);
  text += compute_text(config.compute);
  text += parallel_text(config.parallel, domain);
  text += output_text(config.output);
  text += diagnostics_text(config.diagnostics);
  text += checkpoint_text(config.checkpoint);
  for (const OutputStreamConfig& output : config.outputs) text += output_text(output, domain);
  for (const PointSourceConfig& source : config.point_sources) text += point_source_text(source, domain);
  for (const ProbesConfig& probes : config.probes) text += probes_text(probes, domain);
  for (const ImagesConfig& images : config.images) text += images_text(images);
  return text;
}

}  // namespace spsolve
