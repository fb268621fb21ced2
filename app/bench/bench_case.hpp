// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/setup/ceilings.hpp"
#include "app/setup/options.hpp"
#include "io/input/config.hpp"
#include "solver/plan/plan.hpp"

namespace spsolve {

/// Describes one thing to measure: a problem, and the demands on how it is solved.
struct BenchCase {
  std::string stencil;  // its name, or that of the input
  Problem problem;
  PlanRequest plan;
  std::shared_ptr<const RunConfig> input = {};  // gives the values of systems of equations
};

/// Returns the case of a preset without parameters on a grid with the same boundary on all faces (dirichlet:
/// value 0), and with a source if `source`.
BenchCase preset_case(const std::string& stencil, const Index3& shape, Precision precision,
                      const PlanRequest& plan = {}, BoundaryKind boundary = BoundaryKind::periodic,
                      bool source = false);

/// Holds the parts of a request that every case shares.
struct BenchSetting {
  ParallelConfig parallel;
  bool graphs = true;
  bool errors = true;    // measure them, too
  int steps = 0;         // steps of one timed run; 0: as many as take `seconds`
  double seconds = 0.3;  // the length of one timed run
};

/// Sets a candidate up and measures its rate and its error against the fp64 reference. Launches end at the
/// events of the case. Returns both with the model's numbers, as an object of the JSON file. Collective.
nlohmann::ordered_json measure(const Communicator& communicator, const BenchCase& what,
                               const Candidate& candidate, const BenchSetting& setting,
                               const Ceilings& ceilings, const DeviceChoice& device);

/// Compiles the kernels of a candidate, so that a later process finds them in the cache. Collective.
void compile_kernels(const Communicator& communicator, const BenchCase& what, const Candidate& candidate,
                     const BenchSetting& setting, const DeviceChoice& device);

}  // namespace spsolve
