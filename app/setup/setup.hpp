// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include "app/setup/device.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/tables.hpp"
#include "halo/communicator.hpp"
#include "halo/decomposition.hpp"
#include "io/checkpoint.hpp"
#include "io/input/config.hpp"
#include "kernels/sampling.hpp"
#include "solver/plan/plan.hpp"
#include "solver/problem.hpp"

namespace spsolve {

/// Is the number of copies of the state that files written in the background need at a time.
constexpr int background_copies = 2;

/// Holds a configuration with all objects derived from it, before any field exists.
struct Setup {
  RunConfig config;  // with equations in place of [stencil] if the plan is of equations
  Problem problem;   // in the precision of the plan
  DeviceChoice device;
  Plan plan;
  std::string plan_note;  // why a former plan was not kept, or Plan::note; empty if there is neither
  std::string checksum;   // checksum_of() the problem that the input states, also where equations replace it
  Decomposition decomposition;
  int exchange_every = 1;   // launches that share an exchange of halos
  bool background = false;  // files are written during the run
  /// Holds checksums: of weights in files, and of other values by section, once fill() has read it.
  ValueChecksums values = {};

  /// Returns how far around a block points are known after an exchange.
  Index3 halo() const { return exchange_every * plan.chosen.fuse * problem.radius(); }
  /// Returns which points copies of the state hold for the files. If files hold fewer bits, the copies are
  /// rounded when they are made.
  Sampling for_snapshots() const;
  Sampling for_outputs(const OutputStreamConfig& output) const;
  Sampling for_checkpoints() const { return {1, problem.precision}; }
};

/// Holds the bytes that a rank takes. `fields` are in the memory of its device, tables of walls included. The
/// others are in host memory: `copies` of the state for files (two in progress if files are written in the
/// background), `sums` for the values of formulas that are summed and of their coefficients, and `walls` for
/// the values of walls.
struct MemoryNeed {
  std::size_t fields = 0, copies = 0, sums = 0, walls = 0;
};
MemoryNeed memory_need(const Setup& setup);

/// Returns true if a formula of diagnostics.sums uses a name.
bool sums_use(const RunConfig& config, const std::string& name);

/// Returns the weights of [stencils] by name, and those of [stencil] under the name "w". Reads them if a file
/// holds them. Collective; every rank throws the same Error.
Stencils read_stencils(const Communicator& communicator, const RunConfig& config);

/// Returns the problem that an input describes, in the precision that it names. `stencils` are those of
/// read_stencils(). Equations of a single field that are one stencil become that stencil. Collective; every
/// rank throws the same Error. If `keep_equations`, equations stay equations.
Problem problem_of(const RunConfig& config, Tables& tables, const Stencils& stencils,
                   bool keep_equations = false);
/// Does the same for a caller that needs neither tables nor weights itself.
Problem problem_of(const Communicator& communicator, const RunConfig& config);

/// Returns a checksum that identifies equations by their canonical form.
std::string checksum_of(const Canonical& canonical);
/// Returns a checksum that tells whether two problems have the same stencil, or the same equations.
std::string checksum_of(const Problem& problem);

/// Returns the key of weights of [stencils], by which Setup::values holds their checksum.
std::string key_of_stencil(const std::string& name);

/// Throws Error(invalid_input) if a dirichlet value, or what a wall whose values do not depend on time gives
/// to ghost points, is not finite in its storage format.
void require_walls_in_range(const Problem& problem);

/// Returns the numbers that a step computes with in the precision of its sums: all weights, and the numbers
/// of statements as they are after constants were combined.
std::vector<double> numbers_of(const Problem& problem);

/// Throws Error(invalid_input) if a finite weight, or a finite number of the statements, is infinite in the
/// precision of sums. The message names the number and the constants of the input that are infinite there.
void require_numbers_in_range(const Problem& problem, const RunConfig& config);

/// Reads the weights, chooses the device, makes the plan and the decomposition. `continued` is the plan of
/// the run that continues, or of earlier tuning. For setups that are only inspected, `model` replaces the
/// model of this device, and `ranks` the number of ranks that share the grid. Collective; every rank throws
/// the same Error.
Setup make_setup(const Communicator& communicator, const RunConfig& config, Tables& tables,
                 const std::optional<StoredPlan>& continued = {},
                 const std::optional<DeviceModel>& model = {}, std::optional<int> ranks = {});

/// Throws Error(invalid_input) if this machine has too little memory for its ranks, or Error(device_failure)
/// if a GPU has too little: in all and, if `use_devices`, free now. Names the key of the input that makes
/// halos too deep. Collective.
void require_memory(const Communicator& communicator, const Setup& setup, bool use_devices);

}  // namespace spsolve
