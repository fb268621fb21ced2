// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/inspect.hpp"

#include <fmt/format.h>
#include <omp.h>
#include <sys/statvfs.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <map>
#include <ranges>
#include <set>

#if __has_include(<mpi-ext.h>)
#include <mpi-ext.h>
#endif

#include "app/inspect/describe.hpp"
#include "app/inspect/draw_plan.hpp"
#include "app/inspect/plan_json.hpp"
#include "app/inspect/print_equations.hpp"
#include "app/inspect/print_plan.hpp"
#include "app/machine/host_memory.hpp"
#include "app/setup/calibration_file.hpp"
#include "app/setup/ceilings.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/points.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "app/setup/tune.hpp"
#include "app/setup/versions.hpp"
#include "app/values/values.hpp"
#include "io/atomic_file.hpp"
#include "io/file_info.hpp"
#include "kernels/cache_directory.hpp"
#include "kernels/catalogue/catalogue.hpp"

namespace spsolve {
namespace {

/// Describes a directory, which may not exist yet, and its file system.
std::string place_text(const std::filesystem::path& directory) {
  struct statfs status {};
  const std::filesystem::path absolute = std::filesystem::absolute(directory).lexically_normal();
  std::filesystem::path existing = absolute;
  std::error_code unseen;  // for example behind a directory that others may not enter
  while (!std::filesystem::exists(existing, unseen)) existing = existing.parent_path();
  const bool writable =
      std::filesystem::is_directory(existing, unseen) && access(existing.c_str(), W_OK | X_OK) == 0;
  if (statfs(existing.c_str(), &status) != 0) return absolute.string();
  const double free = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_bsize);
  static const std::map<unsigned long, const char*> types{{0x01021994, "tmpfs"},
                                                          {0x6969, "NFS"},
                                                          {0x0BD00BD0, "Lustre"},
                                                          {0x47504653, "GPFS"},
                                                          {0x19830326, "BeeGFS"}};
  const auto type = types.find(static_cast<unsigned long>(status.f_type));
  return fmt::format("{} ({}{}, {} free{})", absolute.string(),
                     existing == absolute ? "" : fmt::format("file system of {}: ", existing.string()),
                     type == types.end() ? "local" : type->second, size_text(free),
                     writable ? "" : ", not writable");
}

void print_file_sizes(const Setup& setup, const Terminal& terminal) {
  const RunConfig& config = setup.config;
  const Box points = setup.problem.domain.box(), sampled = setup.for_snapshots().sampled(points);
  const auto bytes = [](const Box& values, Precision precision) {
    return static_cast<double>(values.points()) * static_cast<double>(storage_bytes(precision));
  };
  const double snapshot = fields_in_snapshots(setup) * bytes(sampled, config.output.precision);
  const double checkpoint =
      static_cast<double>(setup.problem.state_count()) * bytes(points, setup.problem.precision);
  const std::int64_t snapshots = config.output.every > 0 ? config.time.steps / config.output.every + 1 +
                                                               (config.time.steps % config.output.every != 0)
                                                         : 1;
  const Compression compression = config.output.compression;
  terminal.print(
      "files: {} of {} = {}{}; up to {} checkpoints of {}, in {}", counted(snapshots, "snapshot"),
      size_text(snapshot), size_text(snapshot * static_cast<double>(snapshots)),
      compression == Compression::none ? "" : fmt::format(" before {} shrinks them", to_string(compression)),
      std::int64_t{config.checkpoint.keep} + 1, size_text(checkpoint), place_text(config.output.directory));
  warn_of_full_disk(setup, terminal);
}

/// Prints the source of the weights, if they are from the catalogue, and as many of them as there is room
/// for.
void print_stencil(const Setup& setup, const Terminal& terminal) {
  const auto* preset = std::get_if<PresetForm>(&setup.config.stencil);
  if (const CatalogueEntry* entry = preset ? find_in_catalogue(preset->preset) : nullptr)
    terminal.print("{}: {}; {} (per grid spacing and time step)", entry->name, entry->source,
                   equation_text(*entry));
  constexpr std::size_t most_listed = 30;
  const std::vector<Tap>& taps = setup.problem.stencil.taps();
  for (const Tap& tap : taps | std::views::take(most_listed)) {
    std::string place;
    for (int axis = setup.problem.domain.first_axis(); axis < axis_count; ++axis)
      place += fmt::format(" {}{:+}", axis_names[axis], tap.offset[axis]);
    terminal.print("  weight {:+.17g} at{}", tap.weight, place);
  }
  if (taps.size() > most_listed) terminal.print("  and {} more", taps.size() - most_listed);
}

/// Returns whether the MPI library reports that it can send GPU memory.
const char* cuda_aware() {
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  return MPIX_Query_cuda_support() ? "yes" : "no";
#else
  return "unknown";
#endif
}

/// Returns the nominal GPU if an input insists on GPUs and there are none, because inputs are checked on
/// login nodes, too. Collective.
std::optional<DeviceModel> stand_in(const Communicator& communicator, const RunConfig& config,
                                    const Terminal& terminal) {
  const std::string &device = config.compute.device, &transport = config.parallel.transport;
  if (device != "cuda" && !(device == "auto" && (transport == "nccl" || transport == "peer"))) return {};
  ParallelConfig any;
  any.share_gpus = true;
  const DeviceChoice here = choose_device(communicator, {}, any);
  if (here.cuda) return {};
  const DeviceModel gpu = nominal_gpu();
  terminal.warn("a run would be refused here, where it gets no GPU: {}; looked at for {}", here.note,
                gpu.name);
  return gpu;
}

/// Writes the files that `plan` is asked for besides its table.
void write_plan(const Communicator& communicator, const CommandLine& command, const Setup& setup,
                const DeviceModel& device, const Terminal& terminal) {
  on_root(communicator, [&] {
    if (!command.plan_json.empty()) write_text(command.plan_json, plan_json(setup, device).dump(2) + "\n");
    if (command.plan_picture.empty()) return;
    write_text(command.plan_picture, draw_plan(setup, device));
    if (!is_standard_output(command.plan_picture)) terminal.print("wrote {}", command.plan_picture.string());
  });
}

}  // namespace

Status check(const Communicator& communicator, const CommandLine& command) {
  const Terminal terminal(communicator, false);
  const RunConfig config = load_input(communicator, command);
  const std::optional<DeviceModel> model = stand_in(communicator, config, terminal);
  const Setup setup = make_setup(communicator, config, {}, model, command.ranks);
  // GPUs that others may be using are not touched, and machines of other ranks are not known.
  if (!model && setup.decomposition.ranks() == communicator.size())
    require_memory(communicator, setup, false);
  const auto facts = check_values(communicator, setup);
  check_points(communicator, setup.config);
  terminal.print("{}", to_toml(setup.config));
  print_summary(communicator, setup, terminal);
  if (setup.problem.equations) {
    print_equations(communicator, setup, terminal);
  } else {
    print_stencil(setup, terminal);
    terminal.print("error bound per step: {:.1e} (relative L2)", setup.plan.chosen.error);
    terminal.print("growth factor per step: {:.15g}",
                   growth_factor(setup.problem.stencil, setup.problem.domain));
    warn_of_growth(setup, terminal);
  }
  const int ranks = setup.decomposition.ranks();
  for (const auto& [section, values] : facts) {
    terminal.print("values of [{}]: from {:.9g} to {:.9g}", section, values.min, values.max);
    if (ranks <= communicator.size()) warn_of_values(setup, section, values, terminal);
  }
  warn_of_silent_sources(setup.config, terminal);
  print_file_sizes(setup, terminal);
  terminal.print("the input is valid{}",
                 ranks > communicator.size()
                     ? fmt::format("; values were looked at in {} of {} blocks", communicator.size(), ranks)
                     : "");
  return Status::finished;
}

Status show_plan(const Communicator& communicator, const CommandLine& command) {
  const bool piped = is_standard_output(command.plan_json) || is_standard_output(command.plan_picture);
  const Terminal terminal(communicator, false, piped ? stderr : stdout);
  std::optional<DeviceModel> model;
  if (command.device_model) collectively(communicator, [&] { model = device_model(*command.device_model); });
  const RunConfig config = load_input(communicator, command);
  if (!model) model = stand_in(communicator, config, terminal);
  if (command.calibration) {
    if (!model) model = device_model(choose_device(communicator, config.compute, config.parallel));
    collectively(communicator, [&] { calibrate(*model, read_calibration(*command.calibration, true)); });
    model->origin = "calibrated by " + command.calibration->string();
  }
  const Setup setup = make_setup(communicator, config, {}, model, command.ranks);
  print_summary(communicator, setup, terminal, "");
  const DeviceModel planned_for = model ? *model : device_model(setup.device);
  if (command.layouts)
    on_root(communicator, [&] { print_layouts(setup, planned_for, terminal); });
  else
    print_plan(setup, planned_for, terminal);
  write_plan(communicator, command, setup, planned_for, terminal);
  if (!planned_for.gpu && !model)
    terminal.print(
        "this is a plan for CPUs; --device-model FILE plans for a GPU, such as inputs/devices/h200.toml");
  if (model) return Status::finished;
  terminal.print("this device: {}", describe_ceilings(setup.device));
  if (may_tune(config.compute, setup.device)) {
    const bool is_tuned = remembered_plan(communicator, setup.problem, plan_request(config, setup.problem),
                                          setup.device, terminal)
                              .has_value();
    terminal.print("{}, unless compute.tune = false",
                   is_tuned              ? "a run takes the tuned plan"
                   : config.compute.tune ? "a run times the best candidates first"
                                         : "a run that is long enough times the best candidates first");
  }
  return Status::finished;
}

Status info(const Communicator& communicator, const CommandLine& command) {
  const Terminal terminal(communicator, false);
  const FileInfo file = describe_file(communicator, command.file);
  terminal.print("{}", file.text);
  return file.sound ? Status::finished : Status::file_failure;
}

Status doctor(const Communicator& communicator) {
  const Terminal terminal(communicator, false);
  for (const auto& [name, version] : library_versions()) terminal.print("{:<14} {}", name, version);
  const auto hosts = communicator.gather(host_name());
  terminal.print("{:<14} {} on {} host(s), {} threads each, {} processors on {}", "ranks",
                 communicator.size(), std::set<std::string>(hosts.begin(), hosts.end()).size(),
                 omp_get_max_threads(), omp_get_num_procs(), host_name());
  const AvailableMemory memory = available_memory(true);
  terminal.print("{:<14} {} {}", "memory", size_text(memory.bytes), memory.whose);
  terminal.print("{:<14} {}", "CUDA-aware MPI", cuda_aware());
  ParallelConfig any;
  any.share_gpus = true;  // several ranks may share a GPU here
  const DeviceChoice device = choose_device(communicator, {}, any);
  const auto devices = communicator.gather(device.of_rank);
  for (std::size_t rank = 0; rank < devices.size(); ++rank)
    terminal.print("{:<14} {}", fmt::format("rank {}", rank), devices[rank]);
  if (!device.note.empty()) terminal.print("{:<14} none: {}", "GPUs", device.note);
  terminal.print("{:<14} {}", "ceilings", describe_ceilings(device));
  terminal.print("{:<14} {}", "cache",
                 cache_directory().empty() ? std::string("none: set XDG_CACHE_HOME or HOME")
                                           : place_text(cache_directory()));
  terminal.print("{:<14} {}", "output", place_text(std::filesystem::current_path()));
  terminal.print("{:<14} {}", "shared memory", place_text("/dev/shm"));
  return Status::finished;
}

}  // namespace spsolve
