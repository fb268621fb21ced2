// SPDX-License-Identifier: Apache-2.0
#include "app/run/problem_differences.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "app/setup/setup.hpp"
#include "app/values/table_checksums.hpp"
#include "app/values/values.hpp"
#include "io/input/read_stencil.hpp"

namespace spsolve {
namespace {

/// Returns true if two forms of values or places stand for the same ones. Datasets are compared by their
/// values, whatever their names. If one can no longer be read, names are compared without directories,
/// because files may have been moved. `Form` is a variant with DatasetForm.
template <class Form>
bool same_values(const Form& a, const ValueChecksums& values_of_a, const Form& b,
                 const ValueChecksums& values_of_b, const std::string& key) {
  const auto* one = std::get_if<DatasetForm>(&a);
  const auto* other = std::get_if<DatasetForm>(&b);
  if (!one || !other) return a == b;
  const auto sum_of_a = values_of_a.find(key), sum_of_b = values_of_b.find(key);
  if (sum_of_a != values_of_a.end() && sum_of_b != values_of_b.end())
    return sum_of_a->second == sum_of_b->second;
  return one->file.filename() == other->file.filename() && one->dataset == other->dataset;
}

/// Holds two inputs, and the checksums of the datasets of each.
struct Inputs {
  const RunConfig& was;
  const ValueChecksums& values_then;
  const RunConfig& is;
  const ValueChecksums& values_now;

  template <class Form>
  bool same(const Form& a, const Form& b, const std::string& key) const {
    return same_values(a, values_then, b, values_now, key);
  }
};

bool same_walls(const Inputs& inputs, const FieldConfig& was, const FieldConfig& is) {
  for (int axis = 0; axis < axis_count; ++axis)
    for (int side = 0; side < 2; ++side) {
      const auto &a = was.walls[axis][side], &b = is.walls[axis][side];
      if (a.has_value() != b.has_value()) return false;
      if (a && (a->condition != b->condition || a->robin != b->robin ||
                !inputs.same(a->value, b->value, value_of_wall(is.name, axis, side))))
        return false;
    }
  return was.faces == is.faces;
}

System statements_of(const RunConfig& config, const Stencils& stencils) {
  return system_of(*config.equations, config.grid, config.time.dt, stencils);
}

/// Returns the weights of [stencils] of a former run, whose files are known by checksums only. `now` holds
/// weights that can be read. Weights with another checksum count as different from all known ones. Returns
/// nothing if a checksum is missing.
std::optional<Stencils> former_stencils(const RunConfig& was, const ValueChecksums& values,
                                        const Stencils& now) {
  Stencils stencils;
  for (const auto& [name, form] : was.equations->stencils) {
    std::optional<Stencil> weights = make_stencil(form, was.grid);
    if (!weights) {
      const auto checksum = values.find(key_of_stencil(name));
      if (checksum == values.end()) return std::nullopt;
      const auto same = std::ranges::find_if(
          now, [&](const auto& named) { return checksum_of(named.second) == checksum->second; });
      const auto unknown = static_cast<double>(std::hash<std::string>()(checksum->second));
      weights = same == now.end() ? Stencil({1, 1, 1}, {unknown}, {0, 0, 0}) : same->second;
    }
    stencils.try_emplace(name, *weights);
  }
  return stencils;
}

/// Returns true if the checksum that a checkpoint holds of all its equations is that of `canonical`.
bool is_checksum_of(const std::string& checksum, const Canonical& canonical) {
  const auto single = single_stencil(canonical);
  return checksum == checksum_of(canonical) || (single && checksum == checksum_of(*single));
}

/// Returns in words what differs in the steps of two inputs, or nothing. Both have equations, or neither has.
std::string different_steps(const CheckpointHeader& stored, const RunConfig& was, const RunConfig& is,
                            const Stencils& now) {
  const bool stated = is.states_equations();
  const std::string weights = stated ? "the weights of [stencils]" : "the weights of [stencil]";
  const std::string statements = stated ? "what [equations] computes" : "[stencil] or [source]";
  if (!is.equations) return stored.weights == checksum_of(now.at("w")) ? "" : weights;
  const System wanted = statements_of(is, now);
  const std::optional<Stencils> then = former_stencils(was, stored.values, now);
  if (!then) return is_checksum_of(stored.weights, canonical_form(wanted)) ? "" : statements;
  if (same_statements(statements_of(was, *then), wanted)) return "";
  Stencils renewed = *then;
  for (auto& [name, stencil] : renewed)
    if (const auto found = now.find(name); found != now.end()) stencil = found->second;
  return same_statements(statements_of(was, renewed), wanted) ? weights : statements;
}

bool same_point_sources(const Inputs& inputs) {
  const auto &was = inputs.was.point_sources, &is = inputs.is.point_sources;
  if (was.size() != is.size()) return false;
  for (std::size_t i = 0; i < is.size(); ++i)
    if (was[i].field != is[i].field || was[i].interpolation != is[i].interpolation ||
        !inputs.same(was[i].at, is[i].at, at_of_source(i)) ||
        !inputs.same(was[i].value, is[i].value, value_of_source(i)))
      return false;
  return true;
}

bool same_probes(const Inputs& inputs) {
  const auto &was = inputs.was.probes, &is = inputs.is.probes;
  if (was.size() != is.size()) return false;
  for (std::size_t i = 0; i < is.size(); ++i)
    if (was[i].name != is[i].name || was[i].fields != is[i].fields || was[i].every != is[i].every ||
        !inputs.same(was[i].at, is[i].at, at_of_probes(i)))
      return false;
  return true;
}

/// Returns true if images of one name show the same values on the same plane; their colors may be others.
bool same_images(const RunConfig& was, const RunConfig& is) {
  return std::ranges::all_of(is.images, [&](const ImagesConfig& images) {
    const auto before = std::ranges::find(was.images, images.name, &ImagesConfig::name);
    return before == was.images.end() || (before->value == images.value && before->plane == images.plane);
  });
}

}  // namespace

Contents contents_of(const Communicator& communicator, const RunConfig& config, Tables& tables,
                     std::int64_t steps, const ValueChecksums& later) {
  Contents contents{read_stencils(communicator, config), checksums_of_tables(tables, config, steps)};
  contents.values.insert(later.begin(), later.end());
  for (const ValueSection& section : value_sections(config)) {
    if (!std::holds_alternative<DatasetForm>(section.form) || contents.values.contains(section.name))
      continue;
    if (const auto facts = facts_of(communicator, config, section))
      contents.values[section.name] = facts->checksum;
  }
  return contents;
}

std::vector<std::string> different_problem(const FormerRun& former, const RunConfig& config,
                                           const Contents& contents) {
  const CheckpointHeader& stored = former.header;
  const RunConfig other = former.config();
  std::vector<std::string> different;
  if (!(other.grid.domain == config.grid.domain)) different.emplace_back("the grid's shape or [boundary]");
  if (other.grid.spacing != config.grid.spacing) different.emplace_back("grid.spacing");
  if (other.grid.origin != config.grid.origin) different.emplace_back("grid.origin");
  if (other.equations.has_value() != config.equations.has_value()) {
    // Filled walls and sources that depend on time turn a [stencil] into equations.
    const bool stated = other.states_equations() || config.states_equations();
    different.emplace_back(stated ? "[equations]" : "[boundary] or [source]");
  } else {
    const std::string steps = different_steps(stored, other, config, contents.stencils);
    if (!steps.empty()) different.push_back(steps);
  }
  if (other.time.dt != config.time.dt) different.emplace_back("dt");
  const Inputs inputs{other, stored.values, config, contents.values};
  if (config.equations && other.equations) {
    if (field_names(other) != field_names(config)) different.emplace_back("the fields");
    // Formulas of initial values and coefficients may use constants.
    if (other.equations->constants != config.equations->constants) different.emplace_back("[constants]");
    for (std::size_t i = 0; i < config.equations->fields.size() && i < other.equations->fields.size(); ++i)
      if (!same_walls(inputs, other.equations->fields[i], config.equations->fields[i]))
        different.push_back(fmt::format("[boundary.{}]", config.equations->fields[i].name));
  }
  if (!same_point_sources(inputs)) different.emplace_back("[[point_sources]]");
  const auto before = value_sections(other), now = value_sections(config);
  const auto form_in = [](const std::vector<ValueSection>& in, const std::string& name) {
    const auto found = std::ranges::find(in, name, &ValueSection::name);
    return found == in.end() ? nullptr : &found->form;
  };
  std::set<std::string> sections;
  for (const auto* list : {&before, &now})
    for (const ValueSection& section : *list) sections.insert(section.name);
  for (const std::string& name : sections) {
    const FieldForm *was = form_in(before, name), *is = form_in(now, name);
    if (was && is && inputs.same(*was, *is, name)) continue;
    different.push_back(name.find('.') == std::string::npos ? fmt::format("the values of [{}]", name) : name);
  }
  if (other.compute.precision != config.compute.precision) different.emplace_back("compute.precision");
  if (!config.compute.accuracy && stored.precision != config.compute.precision)
    different.emplace_back(fmt::format("compute.accuracy (values are {})", to_string(stored.precision)));
  return different;
}

std::vector<std::string> different_results(const FormerRun& former, const RunConfig& config,
                                           const ValueChecksums& values, bool has_snapshots) {
  const RunConfig whole = former.config();
  const OutputConfig& before = whole.output;
  std::vector<std::string> different;
  if (has_snapshots && before.stride != config.output.stride)
    different.push_back(fmt::format("output.stride is {}, not {}", config.output.stride, before.stride));
  if (has_snapshots && before.precision != config.output.precision)
    different.push_back(fmt::format("output.precision is {}, not {}", to_string(config.output.precision),
                                    to_string(before.precision)));
  if (whole.outputs != config.outputs) different.emplace_back("[[outputs]] are others");
  if (!same_probes({whole, former.header.values, config, values}))
    different.emplace_back("[[probes]] are others");
  if (!same_images(whole, config)) different.emplace_back("[[images]] of one name show something else");
  if (whole.diagnostics.sums != config.diagnostics.sums)
    different.emplace_back("diagnostics.sums is another list");
  if (has_snapshots && before.fields != config.output.fields)
    different.emplace_back("output.fields is another list");
  return different;
}

}  // namespace spsolve
