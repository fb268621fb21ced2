// SPDX-License-Identifier: Apache-2.0
#include "app/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/bench_suites.hpp"
#include "app/planning.hpp"
#include "app/run.hpp"
#include "app/setup.hpp"
#include "app/tune.hpp"
#include "io/atomic_file.hpp"
#include "kernels/catalogue.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& result) {
  return fmt::format("{}", fmt::join(result["shape"].get<std::vector<std::int64_t>>(), "x"));
}

void print_head(const BenchRequest& request, const Terminal& terminal) {
  if (request.suite == "sweet-spot")
    terminal.print(
        "{:<8} {:<5} {:<13} {:<17} {:>4} {:>8} {:>6} {:>8} {:>6} {:>6} {:>8} {:>8} {:>5} {:>10} {:>7}",
        "stencil", "prec", "unit", "layout", "fuse", "C", "M", "I", "alpha", "S", "bound", "scenario", "spot",
        "GStencil/s", "model");
  else
    terminal.print("{:<28} {:>16} {:<5} {:<13} {:<17} {:>4} {:>11} {:>5} {:>5} {:>6} {:>8} {:>8}", "stencil",
                   "shape", "prec", "unit", "layout", "fuse", "GStencil/s", "copy", "fma", "model", "err l2",
                   "err max");
}

/// A line of the table: shares of the copy and of the multiply-add ceiling (useful work), and what the model
/// predicts over what was measured.
void print_line(const BenchRequest& request, const Json& result, const Terminal& terminal) {
  const auto number = [&](const char* key) { return result[key].get<double>(); };
  const auto text = [&](const char* key) { return result[key].get<std::string>(); };
  const auto error = [&](const char* key) {
    return result[key].is_null() ? std::string("-") : fmt::format("{:.1e}", result[key].get<double>());
  };
  const Json& model = result["model"];
  const double predicted = number("predicted_gstencil_per_s") * number("ranks") / number("gstencil_per_s");
  if (request.suite == "sweet-spot")
    terminal.print(
        "{:<8} {:<5} {:<13} {:<17} {:>4.0f} {:>8.1f} {:>6.1f} {:>8.2f} {:>6.2f} {:>6.2f} {:>8} {:>8} {:>5} "
        "{:>10.2f} {:>6.0f}%",
        text("stencil"), text("precision"), text("unit"), text("layout"), number("fuse"),
        model["C_flop"].get<double>(), model["M_bytes"].get<double>(), model["I_flop_per_byte"].get<double>(),
        model["alpha"].get<double>(), model["S"].get<double>(), model["bound"].get<std::string>(),
        model["scenario"].get<int>(), model["in_sweet_spot"].get<bool>() ? "yes" : "no",
        number("gstencil_per_s"), 100 * predicted);
  else
    terminal.print(
        "{:<28} {:>16} {:<5} {:<13} {:<17} {:>4.0f} {:>11.4f} {:>4.0f}% {:>4.0f}% {:>5.0f}% {:>8} {:>8}",
        text("stencil"), shape_text(result), text("precision"), text("unit"), text("layout"), number("fuse"),
        number("gstencil_per_s"), 100 * number("roofline_fraction"), 100 * number("compute_fraction"),
        100 * predicted, error("error_l2"), error("error_max"));
}

/// A case, or a candidate of it, that has no rate: in the table, and the row that says why.
Json report_failure(const BenchCase& what, const std::string& unit, const std::string& layout, int fuse,
                    const Error& error, const Terminal& terminal) {
  const Domain& domain = what.problem.domain;
  Json row{{"stencil", what.stencil},
           {"shape", std::vector<std::int64_t>(domain.shape.end() - domain.dimensions, domain.shape.end())},
           {"precision", to_string(what.problem.precision)},
           {"unit", unit},
           {"layout", layout},
           {"fuse", fuse},
           {"error", error.what()}};
  terminal.print("{:<28} {:>16} {:<5} {:<13} {:<17} {:>4} failed: {}", what.stencil, shape_text(row),
                 to_string(what.problem.precision), unit, layout, fuse, error.what());
  return row;
}

void list_catalogue(const Terminal& terminal) {
  for (const CatalogueEntry& entry : catalogue())
    terminal.print("{:<28} {}D, {:>3} points, {}: {}", entry.name, entry.dimensions,
                   entry.stencil.taps().size(), entry.domain, entry.source);
}

/// What sparsity gains: neighbours that differ in the unit alone.
void print_gains(const std::vector<Json>& results, const Terminal& terminal) {
  for (std::size_t i = 1; i < results.size(); ++i) {
    const Json &dense = results[i - 1], &sparse = results[i];
    const auto same = [&](const char* key) { return dense[key] == sparse[key]; };
    if (dense.contains("error") || sparse.contains("error")) continue;
    if (same("unit") || !same("stencil") || !same("precision") || !same("layout") || !same("fuse")) continue;
    terminal.print("{:<8} {} {:<17} fuse {:>2}: sparse / dense = {:.2f}",
                   sparse["stencil"].get<std::string>(), sparse["precision"].get<std::string>(),
                   sparse["layout"].get<std::string>(), sparse["fuse"].get<int>(),
                   sparse["gstencil_per_s"].get<double>() / dense["gstencil_per_s"].get<double>());
  }
}

/// The problem of an input.
BenchCase case_of_input(const Communicator& communicator, const std::filesystem::path& file,
                        const BenchRequest& request) {
  CommandLine command;
  command.file = file;
  RunConfig config = load_input(communicator, command);
  config.parallel.share_gpus = request.share_gpus;
  PlanRequest plan = plan_request(config);
  if (request.unit != "auto") plan.unit = request.unit;
  if (request.layout != "auto") plan.layout = request.layout;
  if (request.fuse) plan.fuse = request.fuse;
  config.compute = {.device = request.device, .precision = config.compute.precision};
  config.time.fuse.reset();  // what it asks of the plan may be impossible: said where it is planned
  return {config.name, make_setup(communicator, config).problem, plan};
}

/// Those of the last `--suite ceilings` on such a device, or what shares of the roofline need, now.
Ceilings known_ceilings(const Communicator& communicator, const DeviceChoice& device,
                        const ParallelConfig& parallel, const Terminal& terminal) {
  const auto remembered = remembered_ceilings(device);
  const bool all = communicator.all_reduce(static_cast<int>(remembered.has_value()), MPI_MIN) == 1;
  if (!all) return measure_ceilings(communicator, device, parallel, CeilingScope::roofline, terminal);
  terminal.print("{}", describe_ceilings(device));
  return *remembered;
}

/// What of a case is measured: the plan's choice, and others of its candidates where they are asked for.
std::vector<Candidate> candidates_of(const Plan& plan, int count) {
  std::vector<Candidate> candidates = best_candidates(plan, static_cast<std::size_t>(count));
  const auto is_chosen = [&](const Candidate& candidate) { return is_same_method(candidate, plan.chosen); };
  candidates.erase(std::remove_if(candidates.begin(), candidates.end(), is_chosen), candidates.end());
  candidates.insert(candidates.begin(), plan.chosen);
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(count)));
  return candidates;
}

Plan plan_of(const Communicator& communicator, const BenchCase& what, const BenchRequest& request,
             const ParallelConfig& parallel, const DeviceModel& model, const DeviceChoice& device,
             const Terminal& terminal) {
  const Plan plan = agreed_plan(communicator, what.problem, model, what.plan);
  if (!request.tune) return plan;
  const std::string tuned =
      tuned_plan(communicator, what.problem, what.plan, plan, device, parallel, terminal);
  return agreed_plan(communicator, what.problem, model, continue_plan(what.plan, model, tuned).request);
}

}  // namespace

Status bench(const Communicator& communicator, const BenchRequest& request) {
  const Terminal terminal(communicator, false);
  if (request.list) {
    list_catalogue(terminal);
    return Status::finished;
  }
  BenchSetting setting;
  setting.parallel.transport = request.transport;
  setting.parallel.exchange_every = request.exchange_every;
  setting.parallel.share_gpus = request.share_gpus;
  setting.parallel.graphs = setting.graphs = !request.no_graphs;
  setting.steps = request.steps;
  setting.seconds = request.seconds.value_or(request.suite.empty() ? 0.3 : 0.1);
  ComputeConfig compute;
  compute.device = request.device;
  const DeviceChoice device = choose_device(communicator, compute, setting.parallel);
  const auto write_json = [&](const Json& json) {
    collectively(communicator, [&] {
      if (communicator.root() && !request.json.empty()) write_text(request.json, json.dump(2) + "\n");
    });
  };

  if (request.suite == "ceilings") {
    write_json(Json::object());
    const Ceilings ceilings =
        measure_ceilings(communicator, device, setting.parallel, CeilingScope::all, terminal);
    if (communicator.root()) remember(ceilings);
    write_json(to_json(ceilings));
    return Status::finished;
  }

  std::vector<BenchCase> cases;
  for (const auto& file : request.inputs) cases.push_back(case_of_input(communicator, file, request));
  if (request.inputs.empty()) cases = cases_of(request, device.cuda);
  const bool single = cases.size() == 1 && request.candidates == 1;
  const DeviceModel model = device_model(device);
  terminal.print("{}", device.of_rank);
  Ceilings ceilings;
  if (!request.compile_only) {
    write_json(Json::array());  // a path that cannot be written is found now, not after hours
    ceilings = known_ceilings(communicator, device, setting.parallel, terminal);
    print_head(request, terminal);
  }
  std::vector<Json> results;
  const auto keep = [&](Json row) {
    row["suite"] = request.suite.empty() ? request.inputs.empty() ? "single" : "inputs" : request.suite;
    results.push_back(std::move(row));
    write_json(results);  // what is there already, should a later case take too long
  };
  for (auto i = static_cast<std::size_t>(request.shard[0]); i < cases.size();
       i += static_cast<std::size_t>(request.shard[1])) {
    const BenchCase& what = cases[i];
    std::vector<Candidate> candidates;
    try {
      const Plan plan = plan_of(communicator, what, request, setting.parallel, model, device, terminal);
      candidates = agree(communicator, candidates_of(plan, request.candidates));
    } catch (const Error& error) {
      if (single) throw;
      keep(report_failure(what, what.plan.unit, what.plan.layout, what.plan.fuse.value_or(0), error,
                          terminal));
      continue;
    }
    for (const Candidate& candidate : candidates) {
      try {
        if (request.compile_only) {
          compile_kernels(communicator, what, candidate, setting, device);
          continue;
        }
        setting.errors = &candidate == &candidates.front();  // of the plan's choice
        Json row = measure(communicator, what, candidate, setting, ceilings, device);
        row["chosen"] = setting.errors;
        print_line(request, row, terminal);
        keep(std::move(row));
      } catch (const Error& error) {  // others go on without it; peers of a rank that failed cannot
        if (single || communicator.size() > 1) throw;
        keep(report_failure(what, candidate.unit, candidate.layout, candidate.fuse, error, terminal));
      }
    }
  }
  if (request.suite == "ablation") print_gains(results, terminal);
  return Status::finished;
}

}  // namespace spsolve
