// SPDX-License-Identifier: Apache-2.0
#include "app/bench/bench.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "app/bench/bench_suites.hpp"
#include "app/bench/fit.hpp"
#include "app/bench/gemm_suite.hpp"
#include "app/bench/layouts_suite.hpp"
#include "app/bench/recorded_case.hpp"
#include "app/setup/calibration_file.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/tune.hpp"
#include "halo/collectively.hpp"
#include "io/text_file.hpp"
#include "kernels/catalogue/catalogue.hpp"
#include "kernels/catalogue/systems.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::ordered_json;

std::string shape_text(const Json& result) {
  return fmt::format("{}", fmt::join(result["shape"].get<std::vector<std::int64_t>>(), "x"));
}

void print_head(const BenchRequest& request, const Terminal& terminal) {
  if (request.suite == "sweet-spot")
    terminal.print(
        "{:<8} {:<5} {:<13} {:<17} {:>4} {:>8} {:>6} {:>8} {:>7} {:>6} {:>6} {:>8} {:>8} {:>6} {:>10} {:>7}  "
        "{}",
        "stencil", "prec", "unit", "layout", "fuse", "C", "M", "I", "I*", "alpha", "S", "bound", "scenario",
        "eq. 13", "GStencil/s", "model", "verdict");
  else
    terminal.print("{:<28} {:>16} {:<5} {:<13} {:<17} {:>4} {:>11} {:>5} {:>5} {:>6} {:>8} {:>8}", "stencil",
                   "shape", "prec", "unit", "layout", "fuse", "GStencil/s", "copy", "fma", "model", "err l2",
                   "err max");
}

/// Prints a line of the table: shares of the copy and of the multiply-add ceiling (useful work), and what the
/// model predicts over what was measured.
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
        "{:<8} {:<5} {:<13} {:<17} {:>4.0f} {:>8.1f} {:>6.1f} {:>8.2f} {:>7.1f} {:>6.2f} {:>6.2f} {:>8} "
        "{:>8} "
        "{:>6.2f} {:>10.2f} {:>6.0f}%  {}",
        text("stencil"), text("precision"), text("unit"), text("layout"), number("fuse"),
        model["C_flop"].get<double>(), model["M_bytes"].get<double>(), model["I_flop_per_byte"].get<double>(),
        model["I_ridge"].get<double>(), model["alpha"].get<double>(), model["S"].get<double>(),
        model["bound"].get<std::string>(), model["scenario"].get<int>(),
        model["speedup_roofline"].get<double>(), number("gstencil_per_s"), 100 * predicted,
        model["verdict"].get<std::string>());
  else
    terminal.print(
        "{:<28} {:>16} {:<5} {:<13} {:<17} {:>4.0f} {:>11.4f} {:>4.0f}% {:>4.0f}% {:>5.0f}% {:>8} {:>8}",
        text("stencil"), shape_text(result), text("precision"), text("unit"), text("layout"), number("fuse"),
        number("gstencil_per_s"), 100 * number("roofline_fraction"), 100 * number("compute_fraction"),
        100 * predicted, error("error_l2"), error("error_max"));
}

/// Prints that a case, or a candidate of it, has no rate, and returns the row that says why.
Json report_failure(const BenchCase& what, std::string_view unit, std::string_view layout, int fuse,
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
    terminal.print("{:<28} {}D, {:>3} points, {}: {}; {}", entry.name, entry.dimensions,
                   entry.stencil.taps().size(), entry.domain, entry.source, equation_text(entry));
  for (CatalogueSystem& system : catalogue_systems()) {
    std::ranges::replace(system.step, '\n', ';');
    terminal.print("{:<28} {}D, {:>3} fields, a case of --suite systems: {}", system.name, system.dimensions,
                   system.fields.size(), system.step);
  }
}

/// Prints what sparsity gains: the ratio of the rates of neighbouring rows that differ in the unit alone.
void print_gains(const std::vector<Json>& results, const Terminal& terminal) {
  for (std::size_t i = 1; i < results.size(); ++i) {
    const Json &dense = results[i - 1], &sparse = results[i];
    const auto same = [&](const char* key) { return dense[key] == sparse[key]; };
    const auto is_rate = [](const Json& row) { return row.contains("unit") && !row.contains("error"); };
    if (!is_rate(dense) || !is_rate(sparse)) continue;
    if (same("unit") || !same("stencil") || !same("precision") || !same("layout") || !same("fuse")) continue;
    terminal.print("{:<8} {:>13} {} {:<17} fuse {:>2}: sparse / dense = {:.2f}",
                   sparse["stencil"].get<std::string>(), shape_text(sparse),
                   sparse["precision"].get<std::string>(), sparse["layout"].get<std::string>(),
                   sparse["fuse"].get<int>(),
                   sparse["gstencil_per_s"].get<double>() / dense["gstencil_per_s"].get<double>());
  }
}

/// Returns the problem of an input.
BenchCase case_of_input(const Communicator& communicator, const std::filesystem::path& file,
                        const BenchRequest& request) {
  CommandLine command;
  command.file = file;
  const RunConfig config = load_input(communicator, command);
  const Problem problem = problem_of(communicator, config);
  PlanRequest plan = plan_request(config, problem);
  ask(plan, request);
  return {config.name, problem, plan, std::make_shared<RunConfig>(config)};
}

/// Returns the ceilings of the last `--suite ceilings` on a device of this kind, or measures the few ceilings
/// that rows need.
Ceilings known_ceilings(const Communicator& communicator, const DeviceChoice& device,
                        const ParallelConfig& parallel, const Terminal& terminal) {
  const auto remembered = remembered_ceilings(device);
  const bool all = communicator.all_reduce(static_cast<int>(remembered.has_value()), MPI_MIN) == 1;
  if (!all) return measure_ceilings(communicator, device, parallel, CeilingScope::roofline, terminal);
  terminal.print("{}", describe_ceilings(device));
  return *remembered;
}

constexpr std::int64_t long_run = 1'000'000'000;  // steps: for such runs candidates are timed

/// Returns the candidates to measure: the plan's choice, and others where they are asked for.
std::vector<Candidate> choice_and_rivals(const Plan& plan, int count) {
  std::vector<Candidate> candidates = best_candidates(plan, static_cast<std::size_t>(count));
  std::erase_if(candidates,
                [&](const Candidate& candidate) { return is_same_method(candidate, plan.chosen); });
  candidates.insert(candidates.begin(), plan.chosen);
  candidates.resize(std::min<std::size_t>(candidates.size(), static_cast<std::size_t>(count)));
  return candidates;
}

BenchSetting setting_of(const BenchRequest& request) {
  BenchSetting setting;
  setting.parallel.transport = request.transport;
  setting.parallel.exchange_every = request.exchange_every;
  setting.parallel.share_gpus = request.share_gpus;
  setting.parallel.graphs = setting.graphs = !request.no_graphs;
  setting.steps = request.steps;
  setting.seconds = request.seconds.value_or(request.suite.empty() ? 0.3 : 0.1);
  return setting;
}

/// Holds what the cases of a call of `spsolve bench` share, and the rows measured until now.
class Benchmark {
 public:
  Benchmark(const Communicator& communicator, const BenchRequest& request)
      : communicator_(communicator),
        request_(request),
        terminal_(communicator, false, is_standard_output(request.json) ? stderr : stdout),
        setting_(setting_of(request)),
        device_(choose_device(communicator, {.device = request.device}, setting_.parallel)),
        model_(device_model(device_)),
        tunes_(request.tune || (!request.no_tune && device_.cuda && request.suite.empty() &&
                                request.candidates == 1 && !request.compile_only)) {}

  /// Measures `--suite ceilings`.
  void measure_device() {
    write_json(Json::object());
    const Ceilings ceilings =
        measure_ceilings(communicator_, device_, setting_.parallel, CeilingScope::all, terminal_);
    if (communicator_.root()) remember(ceilings);
    write_json(to_json(ceilings), true);
  }

  /// Measures `--suite gemm`.
  void measure_gemm_steps() {
    measure_steps(measure_gemm);
    write_json(results_, true);
  }

  /// Measures the steps of layouts_suite.hpp; the cases of the suite follow.
  void measure_layout_steps() { measure_steps(measure_layouts); }

  void measure_cases() {
    std::vector<BenchCase> cases;
    for (const auto& file : request_.inputs) cases.push_back(case_of_input(communicator_, file, request_));
    if (request_.inputs.empty()) cases = cases_of(request_, device_.cuda);
    single_ = cases.size() == 1 && request_.candidates == 1;
    terminal_.print("{}", device_.of_rank);
    if (!request_.compile_only) {
      write_json(Json::array());  // a path that cannot be written is found now, not after hours
      if (request_.suite == "calibrate") begin_calibration();
      ceilings_ = known_ceilings(communicator_, device_, setting_.parallel, terminal_);
      print_head(request_, terminal_);
    }
    const auto [first, stride] = request_.shard;
    for (auto i = static_cast<std::size_t>(first); i < cases.size(); i += static_cast<std::size_t>(stride))
      measure_case(cases[i]);
    write_json(results_, true);
    if (request_.suite == "ablation") print_gains(results_, terminal_);
    if (request_.suite == "calibrate") calibrate_device(cases);
  }

 private:
  /// Measures steps on rank 0, which keeps their rows.
  template <class Measure>
  void measure_steps(Measure&& measure) {
    write_json(Json::array());
    on_root(communicator_, [&] {
      measure(request_, device_, terminal_, [&](Json row) {
        add(std::move(row));
        write(results_);
      });
    });
  }

  void measure_case(const BenchCase& what) {
    std::vector<Candidate> candidates;
    try {
      candidates = broadcast_candidates(communicator_, choice_and_rivals(plan_of(what), request_.candidates));
    } catch (const Error& error) {
      if (single_ || (communicator_.size() > 1 && error.status() == Status::device_failure)) throw;
      const PlanRequest& asked = what.plan;
      keep(report_failure(what, name_or(asked.unit, "auto"), name_or(asked.layout, "auto"),
                          asked.fuse.value_or(0), error, terminal_));
    }
    for (const Candidate& candidate : candidates) {
      try {
        measure_candidate(what, candidate, &candidate == &candidates.front());
      } catch (const Error& error) {  // others go on without it; peers of a rank that failed cannot
        if (single_ || communicator_.size() > 1) throw;
        keep(report_failure(what, to_string(candidate.unit), name_or(candidate.layout, "none"),
                            candidate.fuse, error, terminal_));
      }
    }
  }

  /// Measures the ceilings and plans with them, whatever was measured before.
  void begin_calibration() {
    if (!device_.cuda)
      throw Error(Status::invalid_input, "--suite calibrate: is for GPUs; on CPUs use --suite ceilings");
    ceilings_ = measure_ceilings(communicator_, device_, setting_.parallel, CeilingScope::all, terminal_);
    if (communicator_.root()) remember(ceilings_);
    const DeviceModel here = device_model(device_);
    model_ = nominal_gpu();
    model_.name = here.name;
    model_.multiprocessors = here.multiprocessors;
    model_.compute_capability = here.compute_capability;
    model_.shared_bytes_per_block = here.shared_bytes_per_block;
    model_ = scaled_model(model_, ceilings_);
  }

  /// Fits the rates of the device to the rows of `cases`, and keeps them for plans.
  void calibrate_device(const std::vector<BenchCase>& cases) const {
    std::vector<std::string> names;
    for (const Coefficient& coefficient : coefficients()) {
      const std::string name = coefficient.name;
      if (name.starts_with("rates.") && !name.starts_with("rates.driver")) names.push_back(name);
    }
    Calibration start = shipped_calibration();
    start.rates = rates_of(model_);
    const std::map<std::string, double> found =
        fit_coefficients(start, names, [&](const Calibration& calibration) {
          DeviceModel device = model_;
          calibrate(device, std::make_shared<const Calibration>(calibration));
          std::vector<double> residuals;
          for (const Json& row : results_) {
            if (row.contains("error")) continue;
            Problem problem =
                std::find_if(cases.begin(), cases.end(), [&](const BenchCase& what) {
                  return what.stencil == row["stencil"] &&
                         to_string(what.problem.precision) == row["precision"].get<std::string>();
                })->problem;
            const Method method = recorded_method(Json(row));
            residuals.push_back(std::log(1e-9 / evaluate(problem, device, method).seconds /
                                         row["gstencil_per_s"].get<double>()));
          }
          return residuals;
        });
    on_root(communicator_, [&] { remember_calibration(device_.model, found); });
    for (const auto& [name, value] : found) terminal_.print("{:<28} {:.4g}", name, value);
    if (const auto file = calibration_file(device_.model)) terminal_.print("kept in {}", file->string());
  }

  Plan plan_of(const BenchCase& what) {
    const Plan plan = agreed_plan(communicator_, what.problem, model_, what.plan);
    if (!plan.note.empty() && std::exchange(note_, plan.note) != plan.note) terminal_.warn("{}", plan.note);
    Problem planned = what.problem;  // under this problem runs remember the tuned plan
    planned.precision = plan.chosen.precision;
    require_walls_in_range(planned);
    if (!tunes_) return plan;
    const auto steps = request_.tune ? std::nullopt : std::optional(long_run);
    const std::optional<StoredPlan> tuned =
        tuned_plan(communicator_, planned, what.plan, plan, steps, device_, setting_.parallel, terminal_);
    return tuned ? agreed_plan(communicator_, what.problem, model_,
                               continue_plan(what.plan, what.problem, model_, *tuned).request)
                 : plan;
  }

  void measure_candidate(const BenchCase& what, const Candidate& candidate, bool chosen) {
    if (request_.compile_only) {
      // Profilers print the kernels of a case between its line and the next one.
      const Domain& domain = what.problem.domain;
      const std::vector<std::int64_t> shape(domain.shape.end() - domain.dimensions, domain.shape.end());
      terminal_.print("case {} {} {} {} {} {}", what.stencil, fmt::join(shape, "x"),
                      to_string(what.problem.precision), to_string(candidate.unit),
                      name_or(candidate.layout, "none"), candidate.fuse);
      compile_kernels(communicator_, what, candidate, setting_, device_);
      return;
    }
    BenchSetting setting = setting_;
    setting.errors = chosen && request_.suite != "calibrate";
    Json row = measure(communicator_, what, candidate, setting, ceilings_, device_);
    row["chosen"] = chosen;
    print_line(request_, row, terminal_);
    keep(std::move(row));
  }

  void add(Json row) {
    row["suite"] = !request_.suite.empty() ? request_.suite : request_.inputs.empty() ? "single" : "inputs";
    results_.push_back(std::move(row));
  }

  void keep(Json row) {
    add(std::move(row));
    write_json(results_);  // what is there already, should a later case take too long
  }

  /// Writes the results known so far to a file. A stream gets all results once, when they are `complete`.
  void write(const Json& json, bool complete = false) const {
    if (!request_.json.empty() && (complete || !is_stream(request_.json)))
      write_text(request_.json, json.dump(2) + "\n");
  }

  /// Lets rank 0 write().
  void write_json(const Json& json, bool complete = false) const {
    on_root(communicator_, [&] { write(json, complete); });
  }

  const Communicator& communicator_;
  const BenchRequest& request_;
  Terminal terminal_;
  BenchSetting setting_;
  DeviceChoice device_;
  DeviceModel model_;
  Ceilings ceilings_;
  std::string note_;     // what was said of a plan last; suites need not repeat it for each case
  bool tunes_;           // as runs do; suites and rivals of the plan's choice show what the model chooses
  bool single_ = false;  // one row: what fails is an error
  std::vector<Json> results_;
};

}  // namespace

Status bench(const Communicator& communicator, const BenchRequest& request) {
  if (request.list) {
    list_catalogue(Terminal(communicator, false));
    return Status::finished;
  }
  const bool of_device = request.suite == "ceilings" || request.suite == "gemm";
  if (of_device && !request.stencil.empty())
    throw Error(Status::invalid_input, fmt::format("--stencil: --suite {} has no stencils", request.suite));
  Benchmark benchmark(communicator, request);
  if (request.suite == "ceilings") {
    benchmark.measure_device();
  } else if (request.suite == "gemm") {
    benchmark.measure_gemm_steps();
  } else {
    if (has_layout_steps(request)) benchmark.measure_layout_steps();
    benchmark.measure_cases();
  }
  return Status::finished;
}

}  // namespace spsolve
