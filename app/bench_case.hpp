// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "app/ceilings.hpp"
#include "app/command_line.hpp"
#include "solver/plan.hpp"

namespace spsolve {

/// One thing to measure: a stencil on a periodic grid, and what is insisted on of how it is solved.
struct BenchCase {
  std::string stencil;  // a preset without parameters
  Index3 shape;
  Precision precision;
  PlanRequest plan;

  Problem problem() const;
};

/// The parts of a request that every case shares.
struct BenchSetting {
  ParallelConfig parallel;
  bool graphs = true;
  bool tune = false;     // time the plan's best candidates first, and take the winner
  int steps = 0;         // of one timed run; 0: as many as take `seconds`
  double seconds = 0.3;  // of one timed run
};

/// Sets a case up, measures its error against the fp64 reference and its rate, and tells both with the
/// model's numbers: an object as DESIGN 2 lists it. Collective.
nlohmann::ordered_json measure(const Communicator& communicator, const BenchCase& what,
                               const BenchSetting& setting, const Ceilings& ceilings,
                               const DeviceChoice& device);

}  // namespace spsolve
