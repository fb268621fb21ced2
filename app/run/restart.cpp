// SPDX-License-Identifier: Apache-2.0
#include "app/run/restart.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "app/run/report.hpp"
#include "app/setup/setup.hpp"
#include "app/values/values.hpp"

namespace spsolve {
namespace {

/// Holds the parts of a problem that the text of its input does not contain.
struct Contents {
  std::string weights;    // checksum_of() the problem
  ValueChecksums values;  // by section, of the datasets that can be read
};

/// Reads the weights of an input and the datasets that it names, because a dataset may have changed under the
/// same name since the run began. Collective.
Contents contents_of(const Communicator& communicator, const RunConfig& config) {
  Contents contents{checksum_of(problem_of(communicator, config)), {}};
  for (const ValueSection& section : value_sections(config)) {
    const auto* dataset = std::get_if<DatasetForm>(&section.form);
    if (!dataset) continue;
    if (const auto facts = facts_of(communicator, config.grid, *dataset))
      contents.values[section.name] = facts->checksum;
  }
  return contents;
}

/// Returns true if the initial values, or the sources, of two inputs are the same. Datasets are compared by
/// their values, whatever their names. If one can no longer be read, names are compared without directories,
/// because files may have been moved.
bool same_values(const std::optional<FieldForm>& a, const ValueChecksums& values_of_a,
                 const std::optional<FieldForm>& b, const ValueChecksums& values_of_b,
                 const std::string& section) {
  const auto* one = a ? std::get_if<DatasetForm>(&*a) : nullptr;
  const auto* other = b ? std::get_if<DatasetForm>(&*b) : nullptr;
  if (!one || !other) return a == b;
  const auto sum_of_a = values_of_a.find(section), sum_of_b = values_of_b.find(section);
  if (sum_of_a != values_of_a.end() && sum_of_b != values_of_b.end())
    return sum_of_a->second == sum_of_b->second;
  return one->file.filename() == other->file.filename() && one->dataset == other->dataset;
}

/// Returns the differences between two inputs that make their results different problems, rather than a
/// longer run or other output of one; `stored` is the header in `file`, `contents` belongs to `config`.
std::vector<std::string> differences(const CheckpointHeader& stored, const std::filesystem::path& file,
                                     const RunConfig& config, const Contents& contents) {
  const RunConfig other = parse_config(stored.input, file, {});
  std::vector<std::string> different;
  if (!(other.grid.domain == config.grid.domain)) different.emplace_back("the grid's shape or [boundary]");
  if (other.grid.spacing != config.grid.spacing) different.emplace_back("grid.spacing");
  if (other.grid.origin != config.grid.origin) different.emplace_back("grid.origin");
  if (other.equations.has_value() != config.equations.has_value())
    different.emplace_back("[equations]");
  else if (stored.weights != contents.weights)
    different.emplace_back(config.equations ? "what [equations] computes" : "the weights of [stencil]");
  if (other.time.dt != config.time.dt) different.emplace_back("dt");
  const auto same = [&](const std::optional<FieldForm>& was, const std::optional<FieldForm>& is,
                        const std::string& section) {
    return same_values(was, stored.values, is, contents.values, section);
  };
  if (config.equations && other.equations) {
    if (field_names(other) != field_names(config)) different.emplace_back("the fields");
    // Formulas of initial values and coefficients may use constants.
    if (other.equations->constants != config.equations->constants) different.emplace_back("[constants]");
    for (std::size_t i = 0; i < config.equations->fields.size() && i < other.equations->fields.size(); ++i)
      if (other.equations->fields[i].faces != config.equations->fields[i].faces ||
          other.equations->fields[i].walls != config.equations->fields[i].walls)
        different.push_back(fmt::format("[boundary.{}]", config.equations->fields[i].name));
  }
  if (other.point_sources != config.point_sources) different.emplace_back("[[point_sources]]");
  const auto before = value_sections(other), now = value_sections(config);
  const auto form_in = [](const std::vector<ValueSection>& sections, const std::string& name) {
    const auto found = std::ranges::find(sections, name, &ValueSection::name);
    return found == sections.end() ? std::nullopt : std::optional(found->form);
  };
  std::set<std::string> sections;
  for (const auto* list : {&before, &now})
    for (const ValueSection& section : *list) sections.insert(section.name);
  for (const std::string& name : sections)
    if (!same(form_in(before, name), form_in(now, name), name))
      different.push_back(name.find('.') == std::string::npos ? fmt::format("the values of [{}]", name)
                                                              : name);
  if (other.compute.precision != config.compute.precision) different.emplace_back("compute.precision");
  if (!config.compute.accuracy && stored.precision != config.compute.precision)
    different.emplace_back(fmt::format("compute.accuracy (values are {})", to_string(stored.precision)));
  return different;
}

/// Throws Error(invalid_input) if a run of the input may not continue from the checkpoint, because the
/// problems differ in `different`.
void require_same_problem(const Checkpoint& checkpoint, const std::vector<std::string>& different,
                          bool has_equations, std::int64_t last_step) {
  const std::string file = checkpoint.file.string();
  if (!different.empty())
    throw Error(
        Status::invalid_input,
        fmt::format("{} is a checkpoint of another problem: {} differ(s) from the input; to begin a new "
                    "problem with its values use {} file = \"{}\", dataset = \"/{}\"{}",
                    file, fmt::join(different, ", "),
                    has_equations ? "[fields.<name>] initial = {" : "[initial]", file,
                    checkpoint.header.fields.front(), has_equations ? " }" : ""));
  if (checkpoint.header.step > last_step)
    throw Error(Status::invalid_input, fmt::format("{} is at step {}, beyond the last step {}", file,
                                                   checkpoint.header.step, last_step));
}

/// Throws Error(invalid_input) if new results would not fit the existing ones: snapshots of other points,
/// fields or precision in the same series, other probes, streams or sums.
void require_same_results(const Checkpoint& checkpoint, const RunConfig& config, bool has_snapshots) {
  const RunConfig whole = parse_config(checkpoint.header.input, checkpoint.file, {});
  const OutputConfig& before = whole.output;
  std::vector<std::string> different;
  if (has_snapshots && before.stride != config.output.stride)
    different.push_back(fmt::format("output.stride is {}, not {}", config.output.stride, before.stride));
  if (has_snapshots && before.precision != config.output.precision)
    different.push_back(fmt::format("output.precision is {}, not {}", to_string(config.output.precision),
                                    to_string(before.precision)));
  if (whole.outputs != config.outputs) different.emplace_back("[[outputs]] are others");
  if (whole.probes != config.probes) different.emplace_back("[[probes]] are others");
  if (whole.diagnostics.sums != config.diagnostics.sums)
    different.emplace_back("diagnostics.sums is another list");
  if (has_snapshots && before.fields != config.output.fields)
    different.emplace_back("output.fields is another list");
  if (!different.empty())
    throw Error(
        Status::invalid_input,
        fmt::format("results would no longer fit those in {}: {} as before; keep it, or continue in "
                    "another directory: --restart {} --output OTHER",
                    config.output.directory.string(), fmt::join(different, ", "), checkpoint.file.string()));
}

}  // namespace

std::optional<Checkpoint> find_restart(const Communicator& communicator, const CommandLine& command,
                                       const RunConfig& config, const Terminal& terminal) {
  if (!command.restart) return std::nullopt;
  std::optional<Checkpoint> checkpoint;
  if (*command.restart == "latest") {
    LatestCheckpoint latest = find_latest_checkpoint(communicator, config.output.directory);
    for (const std::string& reason : latest.passed_over) terminal.warn("passed over {}", reason);
    if (!latest.checkpoint && !latest.passed_over.empty())
      throw Error(Status::file_failure,
                  fmt::format("{}: no checkpoint there is whole", config.output.directory.string()));
    checkpoint = std::move(latest.checkpoint);
  } else {
    on_root(communicator, [&] {
      std::error_code ignored;
      if (!std::filesystem::exists(*command.restart, ignored))
        throw Error(Status::invalid_input, fmt::format("--restart {}: no such file", *command.restart));
    });
    checkpoint = verified_checkpoint(communicator, *command.restart);
  }
  if (!checkpoint) return checkpoint;
  const Contents contents = contents_of(communicator, config);
  std::vector<std::string> different;
  collectively(communicator, [&] {
    different = differences(checkpoint->header, checkpoint->file, config, contents);
    const bool replaced = command.overwrite && *command.restart == "latest" && !different.empty();
    if (!replaced)
      require_same_problem(*checkpoint, different, config.equations.has_value(), config.time.steps);
  });
  if (!different.empty()) {
    terminal.warn("passed over {}, of another problem: {} differ(s) from the input",
                  checkpoint->file.string(), fmt::join(different, ", "));
    return std::nullopt;
  }
  terminal.print("restarting from {} at step {}", checkpoint->file.string(), checkpoint->header.step);
  return checkpoint;
}

bool continues_results(const Communicator& communicator, const CommandLine& command, const RunConfig& config,
                       const std::optional<Checkpoint>& restart, const RunDirectory& directory) {
  if (restart) {
    const bool continued = directory.holds(restart->file);
    const bool has_snapshots = directory.holds_snapshots_until(restart->header.step);
    if (continued) collectively(communicator, [&] { require_same_results(*restart, config, has_snapshots); });
    return continued;
  }
  if (!command.restart || command.overwrite) return false;
  const Contents contents = contents_of(communicator, config);
  bool begun = false;
  on_root(communicator, [&] {
    const std::filesystem::path file = report_file(config.output.directory);
    const std::optional<CheckpointHeader> stored = problem_of_report(file);
    if (!stored) return;
    const auto different = differences(*stored, file, config, contents);
    if (!different.empty())
      throw Error(Status::invalid_input,
                  fmt::format("{} is of a run of another problem: {} differ(s) from the input; use "
                              "--overwrite to replace it, or another --output",
                              file.string(), fmt::join(different, ", ")));
    begun = true;
  });
  return communicator.all_reduce(static_cast<int>(begun), MPI_MAX) == 1;
}

}  // namespace spsolve
