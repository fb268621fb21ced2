// SPDX-License-Identifier: Apache-2.0
#include "app/report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "app/planning.hpp"
#include "app/version.hpp"
#include "app/versions.hpp"
#include "io/atomic_file.hpp"
#include "kernels/presets.hpp"
#include "kernels/sparse/layout_explorer.hpp"
#include "kernels/wall_images.hpp"
#include "solver/model_of_ranks.hpp"

namespace spsolve {
namespace {

/// "256 x 256 x 256" without absent axes.
std::string extent_text(const Index3& extent, int dimensions) {
  return fmt::format("{}", fmt::join(extent.end() - dimensions, extent.end(), " x "));
}

/// The least and the largest over the ranks. Made collectively.
struct Spread {
  double min, max;

  Spread(const Communicator& communicator, double value)
      : min(communicator.all_reduce(value, MPI_MIN)), max(communicator.all_reduce(value, MPI_MAX)) {}
  nlohmann::ordered_json json() const { return {{"min", min}, {"max", max}}; }
};

/// Whether a report is of a run that finished at this step.
bool tells_of_end(const std::filesystem::path& file, std::int64_t step) {
  std::ifstream text(file);
  auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json["finished"] == true && json["last_step"] == step;
}

/// What run.json says from the start of a run on. Collective; complete on rank 0.
nlohmann::ordered_json report_of_start(const Communicator& communicator, const Setup& setup,
                                       const std::string& transport, const Schedule& schedule) {
  return {{"name", setup.config.name},
          {"finished", false},
          {"input", to_toml(setup.config)},
          {"weights_checksum", checksum_of(setup.problem.stencil)},
          {"plan", nlohmann::ordered_json::parse(to_json(setup.plan))},
          {"ranks", communicator.size()},
          {"rank_grid", setup.decomposition.rank_grid()},
          {"devices", communicator.gather(setup.device.of_rank)},
          {"transport", transport},
          {"threads_per_rank", omp_get_max_threads()},
          {"first_step", schedule.first},
          {"last_step", schedule.last},
          {"versions", library_versions()}};
}

/// The rate on growing numbers of ranks, as far as the grid has room for them.
void print_scaling(const Problem& problem, const DeviceModel& device, const Candidate& candidate,
                   const Terminal& terminal) {
  terminal.print("{:>7} {:>14} {:>20} {:>6} {:>9} {:>12} {:>10} {:>7} {:>11} {:>11}", "ranks", "rank grid",
                 "block", "every", "sent MB", "exchange us", "launch us", "hidden", "GStencil/s",
                 "efficiency");
  const int dimensions = problem.domain.dimensions;
  double alone = 0;
  for (const int ranks : {1, 2, 4, 8, 64, 512, 4096}) {
    try {
      const Scaling s = scale(problem, device, candidate, ranks);
      if (ranks == 1) alone = s.rate;
      const std::string hidden = s.hidden ? "yes" : "no";
      terminal.print("{:>7} {:>14} {:>20} {:>6} {:>9.3f} {:>12.1f} {:>10.1f} {:>7} {:>11.5g} {:>10.0f}%",
                     ranks, extent_text(s.rank_grid, dimensions), extent_text(s.block, dimensions),
                     s.exchange_every, 1e-6 * s.sent_bytes, 1e6 * s.exchange_seconds, 1e6 * s.launch_seconds,
                     ranks == 1 ? "" : hidden, 1e-9 * s.rate, 100 * s.rate / (alone * ranks));
    } catch (const Error&) {
      break;  // more ranks than the grid has room for
    }
  }
  terminal.print(
      "every: launches per exchange; sent: by a rank, per launch; exchange: until halos have arrived");
  terminal.print("hidden: a launch computes as long; launch: the mean of those with an exchange and without");
}

/// What fused weights of a candidate do about walls (kernels/wall_images.hpp).
void print_walls(const Problem& problem, const Candidate& candidate, const Terminal& terminal) {
  const Domain domain =
      with_wall_images(problem.domain, problem.stencil, candidate.fuse, candidate.precision);
  std::vector<const char*> with_images, without;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (!domain.periodic(axis)) (domain.mirrored[axis] ? with_images : without).push_back(axis_names[axis]);
  if (!with_images.empty())
    terminal.print("walls across {}: fused weights hold up to them, the field goes on beyond as its image",
                   fmt::join(with_images, ", "));
  if (!without.empty())
    terminal.print(
        "walls across {}: points that fused weights reach them from take single steps; an image "
        "beyond them would not be exact",
        fmt::join(without, ", "));
}

}  // namespace

void print_summary(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
                   const std::string& hint) {
  const Problem& problem = setup.problem;
  const int dimensions = problem.domain.dimensions;
  terminal.print("{}: {} points, {}, radius {}, {}, {}", setup.config.name,
                 extent_text(problem.domain.shape, dimensions),
                 counted(static_cast<std::int64_t>(problem.stencil.taps().size()), "tap"),
                 extent_text(problem.stencil.radius(), dimensions), to_string(problem.precision),
                 counted(setup.config.time.steps, "step"));
  const Candidate& chosen = setup.plan.chosen;
  terminal.print("plan: {} {} unit{}, {} per launch ({}-bound in the model{})", setup.plan.device,
                 chosen.unit, chosen.fused_weights() ? ", layout " + chosen.layout : "",
                 counted(chosen.fuse, "step"), chosen.bound, hint);
  if (!setup.plan_note.empty()) terminal.warn("{}", setup.plan_note);
  const MemoryNeed need = memory_need(setup);
  const Decomposition& blocks = setup.decomposition;
  terminal.print(
      "ranks: {} as {}, blocks of {} with halos of {}, {:.1f} MiB of fields per rank{}{}", blocks.ranks(),
      extent_text(blocks.rank_grid(), dimensions), extent_text(blocks.block(0).extent(), dimensions),
      extent_text(setup.halo(), dimensions), static_cast<double>(need.fields) / 0x1p20,
      setup.exchange_every > 1 ? fmt::format(", halos exchanged every {} launches", setup.exchange_every)
                               : "",
      need.copies ? fmt::format(", {:.1f} MiB of host memory for files on their way",
                                static_cast<double>(need.copies) / 0x1p20)
                  : "");
  const auto devices = communicator.gather(setup.device.of_rank);
  if (blocks.ranks() == communicator.size())
    for (std::size_t rank = 0; rank < devices.size(); ++rank)
      terminal.print("  rank {} on {}", rank, devices[rank]);
  else
    terminal.print("  looked at on {}", setup.device.of_rank);
  if (!setup.device.note.empty()) terminal.print("no GPU: {}", setup.device.note);
}

void warn_of_growth(const Setup& setup, const Terminal& terminal) {
  const Stencil& stencil = setup.problem.stencil;
  const double growth = growth_factor(stencil, setup.problem.domain.shape);
  // Each tap's weight may be rounded by half a unit of its last place, and so are the factors of each axis.
  double rounding = 0x1p-52 * static_cast<double>(stencil.taps().size() + 4);
  // Weights that fp32 holds were rounded to it, as far as one can see.
  if (std::ranges::all_of(stencil.taps(),
                          [](const Tap& tap) { return tap.weight == static_cast<float>(tap.weight); }))
    rounding += 0x1p-24 * sum_abs(stencil);
  if (growth <= 1.0 + rounding) return;
  std::string advice;
  const auto* preset = std::get_if<PresetForm>(&setup.config.stencil);
  if (preset && preset->parameters.count("dt")) {
    const double dt = preset->parameters.at("dt").front();
    const double stable = largest_stable_dt(stencil, dt, setup.problem.domain.shape);
    advice = stable > 0
                 ? fmt::format("; the largest stable time step is {:.6g}, this one is {:.6g}", stable, dt)
                 : std::string("; no time step is stable without more diffusion");
  }
  terminal.warn("the weights amplify some wave by 1 + {:.2g} per step: the solution may grow without bound{}",
                growth - 1.0, advice);
}

void print_plan(const Setup& setup, const DeviceModel& device, const Terminal& terminal) {
  const Plan& plan = setup.plan;
  for (const std::string& reason : plan.reasons) terminal.print("{}", reason);
  terminal.print("device model: {}, {}; rates are of one device, all costs but exchange included",
                 device.name, device.origin);
  terminal.print("  {:<5} {:<13} {:<17} {:>4} {:>5} {:>8} {:>8} {:>8} {:>6} {:>6} {:>8} {:>5} {:>10}  {}",
                 "prec", "unit", "layout", "fuse", "terms", "bytes", "fma", "flop/B", "alpha", "S",
                 "err/step", "scen.", "GStencil/s", "bound");
  for (const Candidate& c : plan.candidates) {
    const bool chosen = is_same_method(c, plan.chosen);
    terminal.print(
        "{} {:<5} {:<13} {:<17} {:>4} {:>5} {:>8.3f} {:>8.2f} {:>8.2f} {:>6.2f} {:>6.2f} {:>8.1e} {:>5} "
        "{:>10.4g}  "
        "{}{}",
        chosen ? ">" : " ", to_string(c.precision), c.unit, c.layout, c.fuse, c.terms, c.bytes, c.fma,
        c.intensity(), c.redundancy, c.sparsity, c.error, c.scenario ? std::to_string(c.scenario) : "-",
        1e-9 / c.seconds, c.bound, c.in_sweet_spot ? ", sweet spot" : "");
  }
  const Pace pace = plan_request(setup.config).pace;
  if (pace.every > 0)
    terminal.print("GStencil/s, err/step: launches end every {}{}; what is left there takes single steps",
                   counted(pace.every, "step"), pace.last_alone ? ", the last of which is alone" : "");
  terminal.print(
      "bytes, fma: per point and step, main memory and executed; err/step: bound on the relative L2 error");
  terminal.print("alpha: taps of the fused weights / (fuse x taps); S: taps of the fused weights / executed");
  terminal.print("scen.: bounds of the scalar unit and of this one at the same depth (memory and compute),");
  terminal.print("  1: memory, memory; 2: memory, compute; 3: compute, memory; 4: compute, compute");
  const Candidate* tensor =
      plan.chosen.fused_weights()
          ? &plan.chosen
          : fastest(plan.candidates, [](const Candidate& c) { return c.fused_weights(); });
  if (tensor && tensor->peak_ratio > 0)
    terminal.print(
        "sweet spot: scenario 3, and 4 where alpha < S P_TC / P_CU (peaks of tensor and CUDA cores); "
        "{} {}, {} per launch: scenario {}, {:.3g} {} {:.3g} x {:.3g}: {}",
        tensor->unit, tensor->layout, tensor->fuse, tensor->scenario, tensor->redundancy,
        tensor->redundancy < tensor->sparsity * tensor->peak_ratio ? "<" : ">=", tensor->sparsity,
        tensor->peak_ratio, tensor->in_sweet_spot ? "inside" : "outside");
  if (tensor) print_walls(setup.problem, *tensor, terminal);
  print_scaling(setup.problem, device, plan.chosen, terminal);
}

void print_layouts(const Setup& setup, const DeviceModel& device, const Terminal& terminal) {
  const Candidate* morph = fastest(setup.plan.candidates, [](const Candidate& c) {
    return c.unit == "sparse-tensor" && c.layout == "morph";
  });
  if (!morph)
    throw Error(Status::invalid_input,
                fmt::format("--layouts: on {} no candidate in {} is morphed for sparse tensor cores; see "
                            "compute.precision, compute.unit and --device-model",
                            device.name, to_string(setup.problem.precision)));
  const bool half = storage_bytes(morph->precision) == 2;
  const MmaShape mma = widest_mma(half ? morph->precision : Precision::tf32);
  const DeviceModel rated = device.gpu ? device : nominal_gpu();  // CPUs emulate
  const TensorRates rates{half ? rated.mma_half_sparse : rated.mma_tf32_sparse, rated.bandwidth,
                          rated.shared_bandwidth};
  const Problem& problem = setup.problem;
  terminal.print("tiles of the morph layout, {} per launch, mma.sp m16n8k{} {}", counted(morph->fuse, "step"),
                 mma.k, to_string(mma.element));
  terminal.print("{:>12} {:>4} {:>7} {:>6} {:>6} {:>8} {:>14} {:>11} {:>10} {:>8}", "r3 x r2 x r1", "M",
                 "window", "K", "zero", "density", "instructions", "compute us", "memory us", "us");
  for (const LayoutCandidate& c : explore_layouts(fuse_steps(problem.stencil, morph->fuse),
                                                  problem.domain.shape, mma, morph->precision, rates))
    terminal.print("{:>12} {:>4} {:>7} {:>6} {:>6} {:>8.3f} {:>14} {:>11.1f} {:>10.1f} {:>8.1f}",
                   extent_text(c.tile, axis_count), c.m, c.window, c.k, c.zero_columns, c.density,
                   c.mma_count, 1e6 * c.compute_seconds, 1e6 * c.memory_seconds, 1e6 * c.seconds);
  terminal.print(
      "M: outputs of a tile; window: points around them; K: those in use, and zero columns for 2:4; density: "
      "weights / multiplications; us: by equations 6 to 8, {}",
      rated.name);
}

std::filesystem::path report_file(const std::filesystem::path& directory) { return directory / "run.json"; }

std::optional<CheckpointHeader> problem_of_report(const std::filesystem::path& file) {
  try {
    const auto json = nlohmann::json::parse(read_text(file));
    return CheckpointHeader{
        .precision = parse_precision(json.at("plan").at("precision").get<std::string>()).value(),
        .input = json.at("input"),
        .plan = {},
        .weights = json.at("weights_checksum")};
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void begin_report(const Communicator& communicator, const Setup& setup, const std::string& transport,
                  const Schedule& schedule) {
  const auto json = report_of_start(communicator, setup, transport, schedule);
  on_root(communicator, [&] {
    if (schedule.first < schedule.last)
      write_text(report_file(setup.config.output.directory), json.dump(2) + "\n");
  });
}

void report(const Communicator& communicator, const Setup& setup, const std::string& transport,
            const Schedule& schedule, Outcome outcome, const RunTimes& times, const Terminal& terminal) {
  const double seconds = communicator.all_reduce(times.total, MPI_MAX);
  const Spread compute(communicator, times.block.compute), exchange(communicator, times.block.exchange),
      files(communicator, times.files);

  const std::int64_t steps = schedule.last - schedule.first;
  const double stepping = std::max(seconds - files.min, 1e-9);
  const double rate =
      static_cast<double>(setup.problem.domain.box().points()) * static_cast<double>(steps) / stepping * 1e-9;
  const std::filesystem::path file = report_file(setup.config.output.directory);
  if (steps == 0) {
    terminal.print("nothing left to do: step {} is the last; results in {}", schedule.last,
                   setup.config.output.directory.string());
  } else if (outcome == Outcome::finished) {
    terminal.print("finished {} in {:.3f} s: {:.4f} GStencil/s (points x steps per second, files excluded)",
                   counted(steps, "step"), seconds, rate);
    terminal.print(
        "seconds per rank, least to most: compute {:.3f}..{:.3f}, exchange {:.3f}..{:.3f}, files "
        "{:.3f}..{:.3f}",
        compute.min, compute.max, exchange.min, exchange.max, files.min, files.max);
    terminal.print("results in {}", setup.config.output.directory.string());
  }
  nlohmann::ordered_json json = report_of_start(communicator, setup, transport, schedule);
  json.update({{"finished", outcome == Outcome::finished},
               {"seconds_setup", communicator.all_reduce(times.setup, MPI_MAX)},
               {"seconds", seconds},
               {"seconds_compute", compute.json()},
               {"seconds_exchange", exchange.json()},
               {"seconds_files", files.json()},
               {"gstencil_per_s", outcome == Outcome::finished && steps > 0 ? nlohmann::ordered_json(rate)
                                                                            : nlohmann::ordered_json()}});
  on_root(communicator, [&] {
    // That of the run whose steps they were stays.
    if (!(steps == 0 && tells_of_end(file, schedule.last))) write_text(file, json.dump(2) + "\n");
  });
}

}  // namespace spsolve
