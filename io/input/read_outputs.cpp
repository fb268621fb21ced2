// SPDX-License-Identifier: Apache-2.0
#include "io/input/read_outputs.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/compressed_array.hpp"
#include "io/input/read_fields.hpp"
#include "io/input/read_problem.hpp"
#include "io/input/shell_word.hpp"
#include "io/language/resolve.hpp"
#include "io/numbered_name.hpp"
#include "kernels/error.hpp"
#include "kernels/sampling.hpp"

namespace spsolve {

namespace {

Compression read_compression(const TomlSection& section) {
  const std::string name = section.one_of("compression").value_or("none");
  const auto place = std::ranges::find(compression_names, name) - compression_names.begin();
  const auto compression = static_cast<Compression>(place);
  if (const std::string why = why_unavailable(compression); !why.empty()) section.fail("compression", why);
  return compression;
}

std::array<double, 2> read_range(const TomlSection& region, const char* axis) {
  const auto range = region.numbers(axis);
  if (range->size() != 2 || !((*range)[0] <= (*range)[1]))
    region.fail(axis, fmt::format("'{}' must be two coordinates, the lower one first", axis));
  return {(*range)[0], (*range)[1]};
}

}  // namespace

OutputConfig read_output(const std::optional<TomlSection>& section, const RunConfig& config) {
  OutputConfig output;
  output.directory = std::filesystem::path("out") / config.name;
  output.precision = config.compute.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  if (!section) return output;
  section->allow();
  output.fields = read_fields(*section, field_names(config));
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
  if (!section->is_auto("background", "true or false")) output.background = *section->boolean("background");
  return output;
}

std::vector<OutputStreamConfig> read_outputs(const TomlSection& root, const RunConfig& config) {
  std::vector<OutputStreamConfig> streams;
  const Domain& domain = config.grid.domain;
  for (const TomlSection& section : root.sections("outputs")) {
    section.allow();
    OutputStreamConfig stream;
    section.require("name");
    stream.name = *section.text("name");
    if (!is_result_name(stream.name) || stream.name == "snapshot" || stream.name == "snapshots" ||
        stream.name == "checkpoint")
      section.fail("name",
                   fmt::format("'name' is '{}'; wanted letters, digits, '_' and '-', and none "
                               "of 'snapshot', 'snapshots' and 'checkpoint', which other files are called",
                               stream.name));
    if (std::ranges::find(streams, stream.name, &OutputStreamConfig::name) != streams.end())
      section.fail("name", fmt::format("there is an output '{}' already", stream.name));
    stream.fields = read_fields(section, field_names(config));
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
      section.fail("region", fmt::format("no point of the grid{} lies in 'region'",
                                         stream.stride > 1 ? " that 'stride' keeps" : ""));
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
    check_formula(*sums, name, formula, names_of_state(config));
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

}  // namespace spsolve
