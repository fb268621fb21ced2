// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_stencil.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "io/input/read_problem.hpp"
#include "io/nearest_name.hpp"
#include "kernels/catalogue/presets.hpp"

namespace spsolve {

namespace fs = std::filesystem;

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

std::optional<Stencil> make_stencil(const StencilForm& form, const Grid& grid) {
  if (const auto* preset = std::get_if<PresetForm>(&form))
    return make_preset(preset->preset, grid.domain.dimensions, grid.spacing, preset->parameters);
  if (const auto* weights = std::get_if<WeightsForm>(&form))
    return Stencil(weights->extent, weights->weights, weights->center);
  return {};
}

}  // namespace spsolve
