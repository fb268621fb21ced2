// SPDX-License-Identifier: Apache-2.0
#include "app/setup/describe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "kernels/catalogue/presets.hpp"

namespace spsolve {

std::string extent_text(const Index3& extent, int dimensions) {
  return fmt::format("{}", fmt::join(extent.end() - dimensions, extent.end(), " x "));
}

void print_summary(const Communicator& communicator, const Setup& setup, const Terminal& terminal,
                   const std::string& hint) {
  const Problem& problem = setup.problem;
  const int dimensions = problem.domain.dimensions;
  const TimeConfig& time = setup.config.time;
  const double end = static_cast<double>(time.steps) * time.dt;
  terminal.print("{}: {} points, {}, radius {}, {}, {}{}", setup.config.name,
                 extent_text(problem.domain.shape, dimensions),
                 counted(static_cast<std::int64_t>(problem.stencil.taps().size()), "tap"),
                 extent_text(problem.stencil.radius(), dimensions), to_string(problem.precision),
                 counted(time.steps, "step"),
                 time.dt == 1 ? "" : fmt::format(" of {:.6g} to time {:.10g}", time.dt, end));
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
  const double growth = growth_factor(stencil, setup.problem.domain);
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
    const double stable = largest_stable_dt(stencil, dt, setup.problem.domain);
    advice = stable > 0
                 ? fmt::format("; the largest stable time step is {:.6g}, this one is {:.6g}", stable, dt)
                 : std::string("; no time step is stable without more diffusion");
  }
  terminal.warn("the weights amplify some wave by 1 + {:.2g} per step: the solution may grow without bound{}",
                growth - 1.0, advice);
}

}  // namespace spsolve
