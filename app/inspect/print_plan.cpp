// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/print_plan.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/inspect/describe.hpp"
#include "app/inspect/rooflines.hpp"
#include "app/setup/planning.hpp"
#include "kernels/wall_reflections.hpp"
#include "solver/plan/model_of_ranks.hpp"

namespace spsolve {
namespace {

/// Prints the rate on growing numbers of ranks, up to as many as the grid has room for.
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

/// Prints how fused weights of a candidate treat walls (kernels/wall_reflections.hpp).
void print_walls(const Problem& problem, const Candidate& candidate, const Terminal& terminal) {
  const Domain domain =
      with_wall_reflections(problem.domain, problem.stencil, candidate.fuse, candidate.precision);
  std::vector<const char*> with_reflections, without;
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    if (!domain.periodic(axis))
      (domain.reflected[axis] ? with_reflections : without).push_back(axis_names[axis]);
  if (!with_reflections.empty())
    terminal.print(
        "walls across {}: fused weights hold up to them, where the field continues as a reflection",
        fmt::join(with_reflections, ", "));
  if (!without.empty())
    terminal.print(
        "walls across {}: points within reach of the fused weights take single steps, because a reflection "
        "beyond these walls would not be exact",
        fmt::join(without, ", "));
}

/// Prints the table of candidates.
void print_candidates(const Plan& plan, const Terminal& terminal) {
  terminal.print(
      "  {:<5} {:<13} {:<17} {:>4} {:>5} {:>8} {:>8} {:>8} {:>6} {:>6} {:>6} {:>8} {:>5} {:>6} {:>10}  {}",
      "prec", "unit", "layout", "fuse", "terms", "bytes", "fma", "flop/B", "ridge", "alpha", "S", "err/step",
      "scen.", "eq. 13", "GStencil/s", "bound");
  for (const Candidate& c : plan.candidates) {
    const bool chosen = is_same_method(c, plan.chosen), on_tensor_cores = c.spot.scenario > 0;
    terminal.print(
        "{} {:<5} {:<13} {:<17} {:>4} {:>5} {:>8.3f} {:>8.2f} {:>8.2f} {:>6} {:>6.2f} {:>6.2f} {:>8} "
        "{:>5} {:>6} {:>10.4g}  {}{}{}",
        chosen ? ">" : " ", to_string(c.precision), to_string(c.unit), name_or(c.layout, "none"), c.fuse,
        c.terms, c.bytes, c.fma, c.intensity(), c.ridge > 0 ? fmt::format("{:.3g}", c.ridge) : "-",
        c.redundancy, c.sparsity, c.error > 0 ? fmt::format("{:.1e}", c.error) : "-",
        on_tensor_cores ? std::to_string(c.spot.scenario) : "-",
        on_tensor_cores ? fmt::format("{:.2f}", c.spot.speedup) : "-", 1e-9 / c.seconds, c.bound,
        on_tensor_cores ? ", " : "", to_string(c.spot.verdict()));
  }
}

/// Explains the columns of the table.
void print_legend(const Terminal& terminal) {
  terminal.print(
      "bytes, fma: per point and step, main memory and executed; err/step: bound on the relative L2 error, - "
      "where none is known");
  terminal.print("alpha: taps of the fused weights / (fuse x taps); S: taps of the fused weights / executed");
  terminal.print("flop/B: 2 fma / bytes; ridge: flop/B beyond which instructions bind instead of memory");
  terminal.print("scen.: what binds the scalar unit and this one at the same depth, by flop/B and ridge,");
  terminal.print("  1: memory, memory; 2: memory, compute; 3: compute, memory; 4: compute, compute");
  terminal.print("eq. 13: rate over that of the scalar unit at the same depth, as the rooflines allow;");
  terminal.print(
      "  sweet spot: above 1; contradicted: the model, which knows more than memory and instructions, says "
      "otherwise");
}

/// Prints the ceilings behind the ridges, by unit and layout, and the largest depth in the sweet spot.
void print_rooflines(const Plan& plan, const DeviceModel& device, const Terminal& terminal) {
  const std::vector<Roofline> lines = rooflines_of(plan);
  if (lines.empty()) return;
  terminal.print("rooflines: memory copies {:.3g} TB/s", 1e-12 * ceilings_of(device).copy);
  for (const Roofline& line : lines)
    terminal.print(
        "  {} {}: {:.4g} TFLOP/s, ridge {:.3g} flop/B; flop/B {:.3g} to {:.3g} at {} to {} steps{}",
        to_string(line.precision), line.name, 1e-12 * line.peak, line.ridge, line.points.front().intensity,
        line.points.back().intensity, line.points.front().fuse, line.points.back().fuse,
        !line.on_tensor_cores ? ""
        : line.profitable > 0 ? fmt::format("; in the sweet spot up to {}", counted(line.profitable, "step"))
                              : "; never in the sweet spot");
}

}  // namespace

void print_plan(const Setup& setup, const DeviceModel& device, const Terminal& terminal) {
  const Plan& plan = setup.plan;
  for (const std::string& reason : plan.reasons) terminal.print("{}", reason);
  terminal.print("device model: {}, {}; rates are of one device, all costs but exchange included",
                 device.name, device.origin);
  print_candidates(plan, terminal);
  for (const std::string& line : describe(plan.rejected)) terminal.print("left out: {}", line);
  const EventPattern events = plan_request(setup.config, setup.problem).events;
  if (events.every > 0)
    terminal.print("GStencil/s, err/step: launches end every {}{}; the remainder takes single steps",
                   counted(events.every, "step"),
                   events.last_alone ? ", the last of them a single step" : "");
  print_legend(terminal);
  print_rooflines(plan, device, terminal);
  const Candidate* tensor =
      plan.chosen.fused_weights()
          ? &plan.chosen
          : fastest(plan.candidates, [](const Candidate& c) { return c.fused_weights(); });
  if (tensor) print_walls(setup.problem, *tensor, terminal);
  print_scaling(setup.problem, device, plan.chosen, terminal);
}

}  // namespace spsolve
