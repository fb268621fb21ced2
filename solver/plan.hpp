// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "solver/method.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// What a device can do, per device (GPU) or per node (CPU); rates that kernels reach, not data-sheet peaks.
struct DeviceModel {
  std::string name;
  double bandwidth;  // bytes/s, read + write
  double fma_fp64;   // fused multiply-adds/s of the scalar unit, operands from the nearest memory
  double fma_fp32;
  double cache_bytes;     // what the intermediate steps of the tiles being worked on may take, all together
  double cores;           // that share cache_bytes
  double launch_seconds;  // cost of starting one launch
  double write_traffic;   // bytes moved per byte written: 2 where a line is read before it is written
                          // (write-allocate)
  double level_cost;      // of an fma on an intermediate time level, kept in cache, against one on the field
};

/// A nominal pair of server CPU cores (bench/results/cpu-unit.json). The plan is made from this, not from the
/// machine at hand, so that every machine makes the same plan for the same problem.
DeviceModel nominal_cpu();

/// An NVIDIA H200: rates measured under its power limit.
DeviceModel nominal_gpu();

/// What the user insists on; nothing: the plan decides.
struct PlanRequest {
  std::string unit = "auto";
  std::string layout = "auto";
  std::optional<int> fuse;
};

/// One way of solving, with the numbers that the model gives it, per point and time step.
struct Candidate : Method {
  double bytes = 0;    // to and from main memory
  double fma = 0;      // executed, recomputed halos of tiles included
  double seconds = 0;  // modelled, per point and step
  std::string bound;   // memory or compute
};

/// How a problem is advanced (DESIGN 5). A function of the global problem and the request only: the same for
/// any number of ranks, so that results are too.
struct Plan {
  std::string device;  // cpu, cuda
  Candidate chosen;
  std::vector<Candidate> candidates;  // in order of depth
};

/// Models every unit and depth and chooses the fastest, or what is requested. Throws Error(invalid_input) if
/// the request cannot be met.
Plan make_plan(const Problem& problem, const DeviceModel& device, const PlanRequest& request);

}  // namespace spsolve
