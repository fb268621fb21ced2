// SPDX-License-Identifier: Apache-2.0
#include "app/setup/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <xxhash.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>

#include "app/setup/bench_errors.hpp"
#include "app/setup/clock.hpp"
#include "app/setup/distribution.hpp"
#include "app/setup/kernels_hash.hpp"
#include "app/setup/setup.hpp"
#include "app/setup/version.hpp"
#include "io/text_file.hpp"
#include "kernels/cache_directory.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

constexpr std::size_t max_candidates = 6;
constexpr double min_seconds = 0.1;  // shortest timing
constexpr int first_launches = 3, trial_launches = 2, timings = 2;
/// Is the largest factor by which the model may be wrong about two candidates. Of 1,183 random problems on
/// H200, in 1,177 one of the candidates predicted within this factor reached at least 95% of the fastest
/// (docs/log/plan.md).
constexpr double may_be_fastest = 1.5;
constexpr double compile_seconds = 2;  // upper bound for the kernels of a candidate
constexpr double part_of_run = 0.02;   // share of the run that timing may take without being asked for
// Both limits are larger if the rates of the device are guessed.
constexpr double may_be_fastest_guessed = 2.5, part_of_run_guessed = 0.1;

/// Returns a block that a candidate advances, without data. Throws Error on all ranks if it does not fit.
std::unique_ptr<Block> make_block(const Communicator& communicator, const Problem& problem,
                                  const Candidate& candidate, const DeviceChoice& device,
                                  const ParallelConfig& parallel, Backend& backend) {
  const auto [decomposition, exchange_every] =
      distribute_within_memory(communicator, parallel, problem, candidate, device);
  return std::make_unique<Block>(communicator, problem, decomposition, candidate, backend, exchange_every);
}

/// Returns the seconds per step of the slowest rank.
double time_steps(const Communicator& communicator, Block& block, int fuse, Backend& backend) {
  const auto run = [&](std::int64_t launches) {
    communicator.barrier();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < launches; ++i) block.launch(fuse);
    backend.synchronize();
    return communicator.all_reduce(seconds_since(begin), MPI_MAX) / static_cast<double>(launches);
  };
  run(first_launches);  // compiles and captures graphs
  const double one = run(trial_launches);
  const auto launches = std::clamp<std::int64_t>(static_cast<std::int64_t>(min_seconds / one), 1, 10000);
  double best = run(launches);
  for (int i = 1; i < timings; ++i) best = std::min(best, run(launches));
  return best / fuse;
}

/// Returns true if timing these candidates takes a small part of a run, according to the model.
bool pays(const std::vector<Candidate>& candidates, const Plan& plan, double points, std::int64_t steps) {
  double seconds = 0;
  for (const Candidate& candidate : candidates) {
    const double launch = candidate.seconds * points * candidate.fuse;
    seconds += compile_seconds + (first_launches + trial_launches) * launch +
               timings * std::max(launch, min_seconds);
  }
  return seconds <= (plan.measured ? part_of_run : part_of_run_guessed) * plan.chosen.seconds * points *
                        static_cast<double>(steps);
}

/// Returns the conditions and values of all faces, as part of a key.
std::string text_of_walls(const Domain& domain) {
  std::string text;
  for (const auto& faces : domain.faces)
    for (const Face& face : faces) text += fmt::format(" {}:{:a}", static_cast<int>(face.kind), face.value);
  return text;
}

/// Returns the file that keeps the winner; its name depends on everything that the plan depends on. The
/// winner of a plan is no winner of one that leaves it out, for example because a run is too long for the
/// error of a stride.
std::optional<std::filesystem::path> file_of(const Problem& problem, const PlanRequest& request,
                                             const Plan& plan, const DeviceChoice& device) {
  std::string text =
      fmt::format("{} {} {} {} {} {} {} {} {}", version, kernels_hash, device.model,
                  to_string(problem.precision), problem.has_source, name_or(request.unit, "auto"),
                  name_or(request.layout, "auto"), request.fuse.value_or(0), accepted_per_step(request));
  text += fmt::format(" {} {} {} {}", request.events.every, request.events.last_alone, request.events.cuts,
                      request.unpromised);
  text += fmt::format(" {}", fmt::join(problem.domain.shape, "x"));
  // Whether a method exists depends on values of walls and on points, too.
  text += fmt::format(" {}", problem.has_points) + text_of_walls(problem.domain);
  if (problem.equations) {
    for (const Domain& domain : problem.equations->domains) text += text_of_walls(domain);
    for (const FilledFace& face : problem.equations->filled)
      text += fmt::format(" {}", static_cast<int>(face.condition));
  }
  text += fmt::format(" {}", checksum_of(problem));
  for (const Candidate& candidate : plan.candidates)
    text += fmt::format(" {}:{}:{}", to_string(candidate.precision), describe(candidate), candidate.fuse);
  return cache_file(fmt::format("tuned-{:016x}.json", XXH3_64bits(text.data(), text.size())));
}

/// Times the candidates and returns the fastest, if one of them fits.
std::optional<Candidate> fastest_candidate(const Communicator& communicator, Problem problem,
                                           const std::vector<Candidate>& candidates,
                                           const DeviceChoice& device, const ParallelConfig& parallel,
                                           Backend& backend, const Terminal& terminal) {
  std::optional<Candidate> fastest;
  for (Candidate candidate : candidates) {
    const std::string name =
        fmt::format("tuning: {} {} {}, {} steps per launch", to_string(candidate.precision),
                    to_string(candidate.unit), name_or(candidate.layout, "none"), candidate.fuse);
    const double predicted = 1e-9 / candidate.seconds;
    problem.precision = candidate.precision;
    std::unique_ptr<Block> block;
    try {
      block = make_block(communicator, problem, candidate, device, parallel, backend);
    } catch (const Error& error) {
      terminal.print("{}: passed over: {}", name, error.what());
      continue;
    }
    // A failure here ends the run, because other ranks cannot know of it. Zeros would save power, and so
    // time.
    if (problem.has_source) block->set_source(set_benchmark_data);
    for (std::size_t field = 0; field < problem.field_count(); ++field) {
      block->set_state(set_benchmark_data, field);
      if (problem.has_previous(field)) block->set_previous(set_benchmark_data, field);
    }
    if (problem.equations)
      for (std::size_t i = 0; i < problem.equations->canonical.coefficients.size(); ++i)
        block->set_coefficient(i, set_benchmark_data);
    candidate.seconds = time_steps(communicator, *block, candidate.fuse, backend) /
                        static_cast<double>(problem.domain.box().points());
    terminal.print("{}: {:.4g} GStencil/s, {:.4g} in the model", name, 1e-9 / candidate.seconds, predicted);
    if (!fastest || candidate.seconds < fastest->seconds) fastest = candidate;
  }
  return fastest;
}

}  // namespace

std::vector<Candidate> candidates_to_time(const Plan& plan, double points,
                                          std::optional<std::int64_t> steps) {
  std::vector<Candidate> candidates = best_candidates(plan, max_candidates);
  if (candidates.size() < 2) return {};
  if (!steps) return candidates;
  std::erase_if(candidates, [&](const Candidate& candidate) {
    return candidate.seconds >
           (plan.measured ? may_be_fastest : may_be_fastest_guessed) * plan.chosen.seconds;
  });
  if (candidates.size() < 2 || !pays(candidates, plan, points, *steps)) candidates.clear();
  return candidates;
}

std::optional<StoredPlan> remembered_plan(const Communicator& communicator, const Problem& problem,
                                          const PlanRequest& request, const Plan& plan,
                                          const DeviceChoice& device, const Terminal& terminal) {
  const auto file = communicator.root() ? file_of(problem, request, plan, device) : std::nullopt;
  std::string remembered;
  std::error_code unreadable;
  if (file && std::filesystem::is_regular_file(*file, unreadable)) {
    try {
      remembered = read_text(*file);
      parse_plan(remembered);
    } catch (const Error&) {  // it is damaged, or of another version: tuned again
      remembered.clear();
    }
    if (!remembered.empty()) terminal.print("tuned before: {}", file->string());
  }
  remembered = communicator.broadcast(remembered);
  if (remembered.empty()) return {};
  return parse_plan(remembered);
}

std::optional<StoredPlan> tuned_plan(const Communicator& communicator, const Problem& problem,
                                     const PlanRequest& request, const Plan& plan,
                                     std::optional<std::int64_t> steps, const DeviceChoice& device,
                                     const ParallelConfig& parallel, const Terminal& terminal) {
  if (auto remembered = remembered_plan(communicator, problem, request, plan, device, terminal))
    return remembered;
  const double points = static_cast<double>(problem.domain.box().points()) / communicator.size();
  const auto candidates = broadcast_candidates(communicator, candidates_to_time(plan, points, steps));
  if (candidates.empty()) return {};
  const Machine machine = make_machine(communicator, device, parallel);
  const auto fastest =
      fastest_candidate(communicator, problem, candidates, device, parallel, *machine.backend, terminal);
  if (!fastest) return {};
  Plan tuned = plan;
  tuned.chosen = *fastest;
  if (const auto file = file_of(problem, request, plan, device); file && communicator.root()) {
    try {
      write_cache(*file, to_json(tuned) + "\n");
    } catch (const std::exception& error) {
      terminal.warn("the tuned plan is not remembered: {}", error.what());
    }
  }
  return StoredPlan{tuned.device, tuned.chosen, tuned.chosen.dropped, tuned.of_equations};
}

}  // namespace spsolve
