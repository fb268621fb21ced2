// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <ranges>

#include "app/inspect/describe.hpp"
#include "app/inspect/growth.hpp"
#include "app/inspect/inspect.hpp"
#include "app/inspect/print_equations.hpp"
#include "app/inspect/stand_in.hpp"
#include "app/machine/directory_text.hpp"
#include "app/machine/host_memory.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/points.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "app/values/values.hpp"
#include "kernels/catalogue/catalogue.hpp"

namespace spsolve {
namespace {

/// Returns "4 snapshots of 1.0 MiB = 4.0 MiB; ", or "1 probes.h5 of 2.0 MiB; ".
std::string text_of(const FilesOfRun& files) {
  const bool compressed = files.compression != Compression::none;
  const std::string_view bound = files.at_most && !compressed ? "at most " : "";
  return fmt::format("{} of {}{}{}{}; ", counted(files.count, files.name), bound, size_text(files.bytes),
                     files.count == 1 ? "" : fmt::format(" = {}{}", bound, size_text(files.total())),
                     compressed ? fmt::format(" before {} shrinks them", to_string(files.compression)) : "");
}

/// Prints the files of a run and warns if they do not fit. Collective.
void print_file_sizes(const Setup& setup, Tables& tables, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const std::vector<FilesOfRun> files = files_of_run(setup, tables);
  std::string text;
  for (const FilesOfRun& named : files) text += text_of(named);
  terminal.print("files: {}up to {} checkpoints of {}, in {}", text, std::int64_t{config.checkpoint.keep} + 1,
                 size_text(checkpoint_bytes(setup)), directory_text(config.output.directory));
  if (const std::string why = why_not_writable(config.output.directory); !why.empty())
    terminal.warn("[output] directory: {} {}", config.output.directory.string(), why);
  else
    warn_of_full_disk(setup, files, terminal);
}

/// Prints the source of the weights, if they are from the catalogue, and as many of them as there is room
/// for.
void print_stencil(const Setup& setup, const Terminal& terminal) {
  const auto* preset = std::get_if<PresetForm>(&setup.config.stencil);
  if (const CatalogueEntry* entry = preset ? find_in_catalogue(preset->preset) : nullptr)
    terminal.print("{}: {}; {} (per grid spacing and time step)", entry->name, entry->source,
                   equation_text(*entry));
  constexpr std::size_t max_listed = 30;
  const std::vector<Tap>& taps = setup.problem.stencil.taps();
  for (const Tap& tap : taps | std::views::take(max_listed)) {
    std::string place;
    for (int axis = setup.problem.domain.first_axis(); axis < axis_count; ++axis)
      place += fmt::format(" {}{:+}", axis_names[axis], tap.offset[axis]);
    terminal.print("  weight {:+.17g} at{}", tap.weight, place);
  }
  if (taps.size() > max_listed) terminal.print("  and {} more", taps.size() - max_listed);
}

/// Prints which fields begin with values that the input does not give.
void print_default_values(const Setup& setup, const Terminal& terminal) {
  if (!setup.config.states_equations()) return;
  std::vector<std::string> at_zero, at_rest;
  for (std::size_t i = 0; i < setup.problem.field_count(); ++i) {
    const FieldConfig& field = setup.config.equations->fields[i];
    const std::string section = fmt::format("[fields.{}]", field.name);
    if (!field.initial) at_zero.push_back(section);
    if (!field.previous && setup.problem.has_previous(i)) at_rest.push_back(section);
  }
  if (!at_zero.empty()) terminal.print("no 'initial' in {}: 0 at the beginning", fmt::join(at_zero, ", "));
  if (!at_rest.empty()) terminal.print("no 'previous' in {}: as at the beginning", fmt::join(at_rest, ", "));
}

}  // namespace

Status check(const Communicator& communicator, const CommandLine& command) {
  const Terminal terminal(communicator, false);
  const RunConfig config = load_input(communicator, command);
  const std::optional<DeviceModel> model = stand_in(communicator, config, terminal);
  Tables tables(communicator);
  const Setup setup = make_setup(communicator, config, tables, {}, model, command.ranks);
  // GPUs that others may be using are not touched, and machines of other ranks are not known.
  if (!model && setup.decomposition.ranks() == communicator.size())
    require_memory(communicator, setup, false);
  const auto facts = check_values(communicator, setup);
  check_points(tables, setup.config);
  terminal.print("{}", to_toml(setup.config));
  print_summary(communicator, setup, terminal);
  if (setup.problem.equations) {
    print_equations(communicator, setup, terminal);
  } else {
    print_stencil(setup, terminal);
    terminal.print("error bound per step: {:.1e} (relative L2)", setup.plan.chosen.error);
    terminal.print("growth factor per step: {:.15g}",
                   growth_factor(setup.problem.stencil, setup.problem.domain));
    warn_of_growth(communicator, setup, terminal);
  }
  warn_of_vanishing_numbers(setup, terminal);
  const int ranks = setup.decomposition.ranks();
  for (const auto& [section, values] : facts) {
    terminal.print("values of [{}]: from {:.9g} to {:.9g}", section, values.min, values.max);
    if (ranks <= communicator.size()) warn_of_values(setup, section, values, terminal);
  }
  print_default_values(setup, terminal);
  warn_of_silent_sources(tables, setup.config, terminal);
  warn_of_late_diagnostics(setup.config, terminal);
  print_file_sizes(setup, tables, terminal);
  terminal.print("the input is valid{}",
                 ranks > communicator.size()
                     ? fmt::format("; values were looked at in {} of {} blocks", communicator.size(), ranks)
                     : "");
  return Status::finished;
}

}  // namespace spsolve
