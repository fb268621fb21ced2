// SPDX-License-Identifier: Apache-2.0
#include "app/tune.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "app/clock.hpp"
#include "app/planning.hpp"
#include "app/version.hpp"
#include "io/atomic_file.hpp"
#include "kernels/cache_directory.hpp"
#include "solver/block.hpp"

namespace spsolve {
namespace {

constexpr std::size_t most_candidates = 6;
constexpr double least_seconds = 0.1;  // of one timing

/// Zeros would save power, and so time.
void fill_with_noise(Field& field) {
  with_storage(field.precision(), [&]<class Storage>() {
    const Index3 extent = field.owned().extent();
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < extent[0] * extent[1]; ++row) {
      Storage* values = field.at<Storage>(field.owned().begin + Index3{row / extent[1], row % extent[1], 0});
      for (std::int64_t x = 0; x < extent[2]; ++x)
        values[x] =
            to_storage<Storage>(static_cast<double>((row * 7919 + x) * 2654435761 % 1021) / 1021 - 0.5);
    }
  });
}

/// Seconds per step of a candidate, the slowest rank's.
double time_candidate(const Communicator& communicator, Problem problem, const Candidate& candidate,
                      const std::optional<Index3>& ranks, Backend& backend) {
  problem.precision = candidate.precision;
  const Index3 grid = ranks ? *ranks
                            : least_surface_rank_grid(problem.domain.shape, communicator.size(),
                                                      candidate.fuse * problem.stencil.radius());
  Block block(communicator, problem, Decomposition(problem.domain.shape, grid), candidate, backend);
  if (problem.has_source) block.set_source(fill_with_noise);
  block.set_state(fill_with_noise);
  const auto run = [&](std::int64_t launches) {
    communicator.barrier();
    const auto begin = Clock::now();
    for (std::int64_t i = 0; i < launches; ++i) block.launch(candidate.fuse);
    backend.synchronize();
    return communicator.all_reduce(seconds_since(begin), MPI_MAX) / static_cast<double>(launches);
  };
  run(3);  // compiles, captures
  const double one = run(2);
  const auto launches = std::clamp<std::int64_t>(static_cast<std::int64_t>(least_seconds / one), 1, 10000);
  return std::min(run(launches), run(launches)) / candidate.fuse;
}

/// Everything that the winner depends on, as a short name.
std::string key_of(const Communicator& communicator, const Setup& setup) {
  RunConfig problem = setup.config;  // without what does not matter
  problem.name = "tuned";
  problem.output = {};
  problem.checkpoint = {};
  problem.diagnostics = {};
  problem.initial = ExpressionForm{"0"};
  problem.time = {1, 1.0, setup.config.time.fuse, {}};
  std::string text = to_toml(problem) + setup.device.model;
  text += fmt::format("{} ranks, version {}", communicator.size(), version);
  return communicator.broadcast(fmt::format("{:016x}", std::hash<std::string>{}(text)));
}

}  // namespace

Candidate fastest_candidate(const Communicator& communicator, const Problem& problem, const Plan& plan,
                            const std::optional<Index3>& ranks, Backend& backend, const Terminal& terminal) {
  std::optional<Candidate> fastest;
  for (Candidate candidate : best_candidates(plan, most_candidates)) {
    const double predicted = 1e-9 / candidate.seconds;
    try {
      candidate.seconds = time_candidate(communicator, problem, candidate, ranks, backend) /
                          static_cast<double>(problem.domain.box().points());
    } catch (const std::invalid_argument&) {
      continue;  // no such kernel on this device: on every rank alike
    }
    terminal.print("tuning: {} {} {}, {} steps per launch: {:.4g} GStencil/s, {:.4g} in the model",
                   to_string(candidate.precision), candidate.unit, candidate.layout, candidate.fuse,
                   1e-9 / candidate.seconds, predicted);
    if (!fastest || candidate.seconds < fastest->seconds) fastest = candidate;
  }
  return fastest.value_or(plan.chosen);
}

std::string tuned_plan(const Communicator& communicator, const Setup& setup, const Terminal& terminal) {
  const std::filesystem::path cache = cache_directory();
  const std::filesystem::path file = cache / fmt::format("tuned-{}.json", key_of(communicator, setup));
  std::string remembered;
  if (communicator.root() && std::filesystem::is_regular_file(file)) {
    try {
      remembered = read_text(file);
      plan_request(setup.config, device_model(setup.device.cuda, {}), remembered);
    } catch (const Error&) {  // damaged, or of another version: tuned anew
      remembered.clear();
    }
  }
  remembered = communicator.broadcast(remembered);
  if (!remembered.empty()) {
    terminal.print("tuned before: {}", file.string());
    return remembered;
  }
  const Machine machine = make_machine(communicator, setup.device, setup.config.parallel);
  Plan tuned = setup.plan;
  tuned.chosen = fastest_candidate(communicator, setup.problem, setup.plan, setup.config.parallel.ranks,
                                   *machine.backend, terminal);
  if (communicator.root() && !cache.empty()) {
    try {
      std::filesystem::create_directories(cache);
      write_text(file, to_json(tuned) + "\n");
    } catch (const std::exception& error) {
      terminal.warn("the tuned plan is not remembered: {}", error.what());
    }
  }
  return to_json(tuned);
}

}  // namespace spsolve
