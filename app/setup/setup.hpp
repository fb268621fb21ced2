// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <string>

#include "app/setup/device.hpp"
#include "app/setup/planning.hpp"
#include "halo/communicator.hpp"
#include "halo/decomposition.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"
#include "kernels/sampling.hpp"
#include "solver/plan/plan.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Copies of the state that files written in the background need at a time.
constexpr int background_copies = 2;

/// A configuration with everything derived from it, before any field exists.
struct Setup {
  RunConfig config;
  Problem problem;  // in the precision of the plan
  DeviceChoice device;
  Plan plan;
  std::string
      plan_note;  // why a plan to go on with was not kept, or Plan::note; empty where there is neither
  Decomposition decomposition;
  int exchange_every = 1;      // launches that share an exchange of halos
  bool background = false;     // files are written while the run goes on
  ValueChecksums values = {};  // by section, once fill() has read it

  /// Points around a block that are known after an exchange.
  Index3 halo() const { return exchange_every * plan.chosen.fuse * problem.radius(); }
  /// Returns what copies of the state hold for the files; where values are rounded to fewer bits, it is done
  /// there.
  Sampling for_snapshots() const;
  Sampling for_checkpoints() const { return {1, problem.precision}; }
};

/// Bytes that a rank takes: fields, with the tables of their walls, where it computes; and in host memory
/// copies of the state for files, and values of walls.
struct MemoryNeed {
  std::size_t fields = 0, copies = 0, walls = 0;
};
MemoryNeed memory_need(const Setup& setup);

/// Returns what an input wants solved, in the precision that it names; weights are read where a file holds
/// them. Equations of a single field that are one stencil become that stencil. Collective; every rank throws
/// the same Error.
Problem problem_of(const Communicator& communicator, const RunConfig& config);

/// Returns the weights of [stencils] by name, read where a file holds them. Collective, as problem_of().
std::map<std::string, Stencil, std::less<>> read_stencils(const Communicator& communicator,
                                                          const EquationsConfig& equations, const Grid& grid);

/// Returns a checksum that tells whether two problems have the same stencil, or the same equations.
std::string checksum_of(const Problem& problem);

/// Throws Error(invalid_input) where a dirichlet value is infinite as it is stored.
void require_walls_in_range(const Problem& problem);

/// Reads the weights, chooses the device, makes the plan and the decomposition.
/// `continued` is the plan of the run that goes on, or of earlier tuning. To look at only: `model` of the
/// device to plan for, instead of that of this device, and how many `ranks` share the grid, instead of those
/// that there are. Collective; every rank throws the same Error.
Setup make_setup(const Communicator& communicator, const RunConfig& config,
                 const std::optional<KeptPlan>& continued = {}, const std::optional<DeviceModel>& model = {},
                 std::optional<int> ranks = {});

/// Throws Error(invalid_input) where this machine has too little memory for its ranks, Error(device_failure)
/// where a GPU has: in all, or if they are to be taken, free now. Names the key of the input that makes halos
/// too deep. Collective.
void require_memory(const Communicator& communicator, const Setup& setup, bool use_devices);

}  // namespace spsolve
