// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "app/machine/directory_text.hpp"
#include "app/machine/host_memory.hpp"
#include "app/setup/points.hpp"
#include "app/values/values.hpp"
#include "io/input/equations_config.hpp"
#include "io/language/always_zero.hpp"
#include "io/language/parser.hpp"
#include "plot/picture.hpp"
#include "solver/interval.hpp"

namespace spsolve {

std::string extent_text(const Index3& extent, int dimensions) {
  return fmt::format("{}", fmt::join(extent.end() - dimensions, extent.end(), " x "));
}

namespace {

/// Returns "7 taps", or "fields p, v".
std::string contents_text(const Problem& problem) {
  if (!problem.equations) return counted(std::ssize(problem.stencil.taps()), "tap");
  const auto& names = problem.equations->canonical.field_names;
  return fmt::format("{} {}", names.size() == 1 ? "field" : "fields", fmt::join(names, ", "));
}

}  // namespace

void print_summary(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
                   const std::string& hint) {
  const Problem& problem = setup.problem;
  const int dimensions = problem.domain.dimensions;
  const TimeConfig& time = setup.config.time;
  const double end = static_cast<double>(time.steps) * time.dt;
  terminal.print("{}: {} points, {}, radius {}, {}, {}{}", setup.config.name,
                 extent_text(problem.domain.shape, dimensions), contents_text(problem),
                 extent_text(problem.radius(), dimensions), to_string(problem.precision),
                 counted(time.steps, "step"),
                 time.dt == 1 ? "" : fmt::format(" of {:.6g} to time {:.10g}", time.dt, end));
  const Candidate& chosen = setup.plan.chosen;
  terminal.print("plan: {} {} unit{}, {} per launch ({}-bound in the model{})", setup.plan.device,
                 to_string(chosen.unit),
                 chosen.layout ? fmt::format(", layout {}", to_string(*chosen.layout)) : "",
                 counted(chosen.fuse, "step"), chosen.bound, hint);
  if (!setup.plan_note.empty()) terminal.warn("{}", setup.plan_note);
  const MemoryNeed need = memory_need(setup);
  const Decomposition& blocks = setup.decomposition;
  terminal.print(
      "ranks: {} as {}, blocks of {} with halos of {}, {:.1f} MiB of fields per rank{}{}{}{}", blocks.ranks(),
      extent_text(blocks.rank_grid(), dimensions), extent_text(blocks.block(0).extent(), dimensions),
      extent_text(setup.halo(), dimensions), static_cast<double>(need.fields) / 0x1p20,
      setup.exchange_every > 1 ? fmt::format(", halos exchanged every {} launches", setup.exchange_every)
                               : "",
      need.copies ? fmt::format(", {:.1f} MiB of host memory for files on their way{}",
                                static_cast<double>(need.copies) / 0x1p20,
                                setup.device.cuda ? " if the GPU cannot hold them" : "")
                  : "",
      need.sums ? fmt::format(", {:.1f} MiB of host memory for sums", static_cast<double>(need.sums) / 0x1p20)
                : "",
      need.walls ? fmt::format(", {:.1f} MiB of host memory for values of walls",
                               static_cast<double>(need.walls) / 0x1p20)
                 : "");
  const auto devices = communicator.gather(setup.device.of_rank);
  if (blocks.ranks() == communicator.size())
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
      terminal.print("  rank {} on {}", rank, devices[rank]);
  else
    terminal.print("  looked at on {}", setup.device.of_rank);
  if (!setup.device.note.empty()) terminal.print("no GPU: {}", setup.device.note);
}

namespace {

/// Returns true if a format holds zero in place of a number.
bool vanishes(double number, Precision format) {
  return number != 0 && with_storage(format, [&]<class Storage>() {
           return stored_value(to_storage<Storage>(number)) == 0;
         });
}

/// Warns if values do not fit the format in which a run stores them.
void warn_of_range(const std::string& section, const ValueFacts& facts, Precision stored,
                   const Terminal& terminal) {
  const double largest = std::max(std::abs(facts.min), std::abs(facts.max));
  if (!std::isfinite(largest) || largest == 0) return;
  const bool infinite = with_storage(
      stored, [&]<class Storage>() { return std::isinf(stored_value(to_storage<Storage>(largest))); });
  if (infinite)
    terminal.warn("the values of [{}] reach {:.9g}, beyond the range of {}: they become infinite", section,
                  largest, to_string(stored));
  if (vanishes(largest, stored))
    terminal.warn("the values of [{}] are {:.9g} at most, less than {} can hold: they become zero", section,
                  largest, to_string(stored));
}

/// Returns the coordinates of the points of a grid: "x from 0 to 1 by 0.1, y ...".
std::string axes_of(const Grid& grid) {
  std::string text;
  for (int axis = axis_count - 1; axis >= grid.domain.first_axis(); --axis) {
    const auto last = static_cast<double>(grid.domain.shape[axis] - 1);
    text += fmt::format("{}{} from {} to {} by {}", text.empty() ? "" : ", ", axis_names[axis],
                        grid.origin[axis], grid.origin[axis] + grid.spacing[axis] * last, grid.spacing[axis]);
  }
  return text;
}

using KnownNames = std::map<std::string, NumberInterval, std::less<>>;

/// Returns the values that formulas of time take from the beginning of a run to its end.
KnownNames names_of_run(const TimeConfig& time) {
  const auto steps = static_cast<double>(time.steps);
  return {{"pi", {std::numbers::pi, std::numbers::pi}},
          {"dt", {time.dt, time.dt}},
          {"t", {0, steps * time.dt}},
          {"step", {0, steps}}};
}

/// Returns true if a formula is zero at every point of the grid in all steps.
bool is_silent(const std::string& formula, const RunConfig& config) {
  constexpr std::int64_t max_points = 1 << 22;
  const Grid& grid = config.grid;
  if (!has_volume_within(grid.domain.shape, max_points)) return false;
  const Syntax syntax = parse_expression(formula);
  KnownNames known = names_of_run(config.time);
  const Box points = grid.domain.box();
  for (std::int64_t i = 0; i < points.points(); ++i) {
    const Index3 p = point_of(i, points.extent());
    for (int axis = grid.domain.first_axis(); axis < axis_count; ++axis) {
      const double at = grid.origin[axis] + static_cast<double>(p[axis]) * grid.spacing[axis];
      known[std::string(1, "zyx"[axis])] = {at, at};
    }
    if (!is_always_zero(syntax, known)) return false;
  }
  return true;
}

bool is_zero(const Table& table) {
  return std::ranges::all_of(table.values, [](double value) { return value == 0; });
}

void warn_of_zeros(const RunConfig& config, const std::string& section, const ValueFacts& facts,
                   const Terminal& terminal) {
  if (facts.min != 0 || facts.max != 0) return;
  const auto sections = value_sections(config);
  const auto form = std::ranges::find(sections, section, &ValueSection::name);
  if (form == sections.end()) return;
  const auto* expression = std::get_if<ExpressionForm>(&form->form);
  if (expression && !uses_any(expression->expression, {"x", "y", "z"})) return;
  // Datasets of initial values that are zero are usual if a source or a wall drives the field.
  const auto drives = [](const Face& face) {
    return face.kind == BoundaryKind::dirichlet && face.value != 0;
  };
  const bool driven = config.source || config.equations ||
                      std::ranges::any_of(config.grid.domain.faces, [&](const auto& faces) {
                        return std::ranges::any_of(faces, drives);
                      });
  const bool is_initial = section != "source" && !section.starts_with("coefficients.");
  if (!expression && is_initial && driven) return;
  terminal.warn(
      "the values of [{}] are zero everywhere{}", section,
      expression ? fmt::format(": the formula is zero at every point of the grid ({})", axes_of(config.grid))
                 : "");
}

double bytes_of(const Box& points, Precision precision) {
  return static_cast<double>(points.points()) * static_cast<double>(storage_bytes(precision));
}

}  // namespace

void warn_of_values(const Setup& setup, const std::string& section, const ValueFacts& facts,
                    const Terminal& terminal) {
  warn_of_zeros(setup.config, section, facts, terminal);
  const Precision state = setup.problem.precision;
  // Coefficients themselves are kept in double; what is derived from them is refused if it does not fit.
  const bool is_coefficient = section.starts_with("coefficients.");
  warn_of_range(section, facts,
                is_coefficient        ? Precision::fp64
                : section == "source" ? sum_precision(state)
                                      : state,
                terminal);
}

void warn_of_silent_sources(Tables& tables, const RunConfig& config, const Terminal& terminal) {
  const auto depends_on_time = [](const std::string& formula) { return uses_any(formula, {"t", "step"}); };
  const auto* source = config.source ? std::get_if<ExpressionForm>(&*config.source) : nullptr;
  if (source && depends_on_time(source->expression) && is_silent(source->expression, config))
    terminal.warn(
        "the values of [source] are zero everywhere at all times: the formula is zero at every "
        "point of the grid ({})",
        axes_of(config.grid));
  for (std::size_t i = 0; i < config.point_sources.size(); ++i) {
    const auto& value = config.point_sources[i].value;
    const std::string key = key_of_source(config, i);
    const auto* formula = std::get_if<ExpressionForm>(&value);
    if (formula ? is_always_zero(parse_expression(formula->expression), names_of_run(config.time))
                : is_zero(*tables.read(std::get<DatasetForm>(value), key + ".value")))
      terminal.warn("the values of [{}] are zero at all times", key);
  }
}

void warn_of_late_diagnostics(const RunConfig& config, const Terminal& terminal) {
  if (config.time.until_change && config.diagnostics.every >= config.time.steps)
    terminal.warn(
        "[time] until_change is looked for at diagnostics, every {} steps: never before the last step, {}",
        config.diagnostics.every, config.time.steps);
}

namespace {

/// Returns probes.h5 of a run, which has its full size from the beginning. Collective.
FilesOfRun probes_of_run(const Setup& setup, Tables& tables) {
  const RunConfig& config = setup.config;
  const std::size_t of_value = storage_bytes(sum_precision(setup.problem.precision));
  double bytes = 0;
  for (const ProbesConfig& probes : config.probes) {
    const std::int64_t rows = Interval{probes.every}.due_until(config.time.steps);
    const std::size_t values = probes.fields.size() * read_points(tables, config.grid, probes).size();
    const std::size_t of_step_and_time = sizeof(std::int64_t) + sizeof(double);
    bytes += static_cast<double>(rows) * static_cast<double>(values * of_value + of_step_and_time);
  }
  return {"probes.h5", 1, bytes};
}

/// Returns diagnostics.csv of a run, whose rows have a step and numbers of up to 24 characters.
FilesOfRun diagnostics_of_run(const Setup& setup) {
  const DiagnosticsConfig& diagnostics = setup.config.diagnostics;
  constexpr std::size_t of_step = 20, of_number = 25, numbers_of_field = 5;  // bytes, with commas
  const std::size_t numbers = 1 + numbers_of_field * setup.problem.field_count() + diagnostics.sums.size();
  // There are rows of the first and of the last step in any case.
  const std::int64_t rows = Interval{diagnostics.every}.due_until(setup.config.time.steps) + 2;
  return {"diagnostics.csv", 1,
          static_cast<double>(rows) * static_cast<double>(of_step + of_number * numbers), true};
}

}  // namespace

std::vector<FilesOfRun> files_of_run(const Setup& setup, Tables& tables) {
  const RunConfig& config = setup.config;
  const std::int64_t steps = config.time.steps;
  const auto snapshots = [&](const std::string& name, const Interval& interval, const Box& points,
                             const auto& output) {
    const std::int64_t due = interval.due_until(steps);
    const std::size_t fields = output.fields.empty() ? setup.problem.field_count() : output.fields.size();
    return FilesOfRun{name, interval.due(steps) ? due : due + 1,  // one of the last step in any case
                      bytes_of(points, output.precision) * static_cast<double>(fields),
                      output.compression != Compression::none, output.compression};
  };
  std::vector<FilesOfRun> files{snapshots("snapshot", {config.output.every},
                                          setup.for_snapshots().sampled(setup.problem.domain.box()),
                                          config.output)};
  for (const OutputStreamConfig& stream : config.outputs)
    files.push_back(snapshots(stream.name + " file", interval_of(stream, config.time.dt),
                              points_of(stream, config.grid), stream));
  for (const ImagesConfig& images : config.images)
    files.push_back({images.name + " image", Interval{images.every}.due_until(steps),
                     static_cast<double>(max_picture_bytes), true});
  if (!config.probes.empty()) files.push_back(probes_of_run(setup, tables));
  files.push_back(diagnostics_of_run(setup));
  return files;
}

double checkpoint_bytes(const Setup& setup) {
  return static_cast<double>(setup.problem.state_count()) *
         bytes_of(setup.problem.domain.box(), setup.problem.precision);
}

void warn_of_full_disk(const Setup& setup, const std::vector<FilesOfRun>& files, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const bool has_checkpoints =
      config.checkpoint.every > 0 || config.checkpoint.minutes || config.checkpoint.final;
  const double checkpoints = has_checkpoints ? (config.checkpoint.keep + 1.0) * checkpoint_bytes(setup) : 0.0;
  double certain = checkpoints, most = checkpoints;
  for (const FilesOfRun& named : files) {
    most += named.total();
    if (!named.at_most) certain += named.total();
  }
  std::error_code unseen;
  const std::filesystem::path existing = nearest_existing(config.output.directory);
  const auto space = std::filesystem::space(existing, unseen);
  const auto available = static_cast<double>(space.available);
  if (!unseen && most > available)
    terminal.warn("files of {} not fit: {} are free in {}",
                  certain > available ? size_text(certain) + " will" : "up to " + size_text(most) + " may",
                  size_text(available), existing.string());
}

void warn_of_vanishing_numbers(const Setup& setup, const Terminal& terminal) {
  const Problem& problem = setup.problem;
  const Precision sums = sum_precision(problem.precision);
  const auto warn = [&](const std::string& place, double number, Precision format) {
    terminal.warn("{} {:g} is less than {} can hold: it counts as zero", place, number, to_string(format));
  };
  const std::vector<double> numbers = numbers_of(problem);
  if (const auto found = std::ranges::find_if(numbers, [&](double number) { return vanishes(number, sums); });
      found != numbers.end())
    warn(setup.config.states_equations() ? "[equations] step: the number" : "[stencil] weights: the number",
         *found, sums);
  for (std::size_t field = 0; field < problem.field_count(); ++field)
    for (int axis = 0; axis < axis_count; ++axis)
      for (const Face& face : problem.domain_of(field).faces[axis])
        if (vanishes(face.value, problem.precision))
          return warn(fmt::format("[boundary] {}: dirichlet =", axis_names[axis]), face.value,
                      problem.precision);
}

}  // namespace spsolve
