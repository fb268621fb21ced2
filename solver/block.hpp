// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "halo/exchange.hpp"
#include "solver/backend.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

/// Seconds that this rank spent, by what it waited for.
struct Timings {
  double compute = 0;
  double exchange = 0;  // packing, and waiting for neighbours beyond what computing hid
};

/// One rank's block of the grid while it is advanced: two fields that take turns, and the exchange of halos.
class Block {
 public:
  /// Halos hold the steps of one launch. Collective.
  Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
        const Method& method, Backend& backend);

  /// Sets the owned points of the source, in compute precision, before the first launch; only if the problem
  /// has one. Collective.
  void set_source(const FillField& fill);
  /// Sets the owned points of the state.
  void set_state(const FillField& fill);

  /// The state now, in host memory; valid until the next launch.
  const Field& state() { return copy_state()->wait(); }
  /// The state now, and that before the last launch (meaningless before the first), on their way to host
  /// memory; calls between two launches share a copy.
  std::shared_ptr<HostCopy> copy_state();
  std::shared_ptr<HostCopy> copy_previous();
  /// The same where they are, for the numbers of extremes() and measure().
  Survey survey() { return {&backend_->reducer(), state_.get(), nullptr}; }
  Survey survey_of_change() { return {&backend_->reducer(), state_.get(), next_.get()}; }
  Survey survey_of_previous() { return {&backend_->reducer(), next_.get(), nullptr}; }
  const Box& owned() const { return state_->owned(); }

  /// Advances the block by `steps` <= fuse time steps in one launch: halos of that width travel while the
  /// interior is computed. Collective.
  void launch(int steps);

  const Timings& timings() const { return timings_; }

 private:
  struct Depth {
    HaloExchange exchange;
    Box interior;
  };
  Depth& depth(int steps);
  /// Ghosts beside walls of the rows that the halo of so many steps holds, and of all rows where x is cut.
  void fill_halo_ghosts(int steps);

  Communicator communicator_;
  Problem problem_;
  Decomposition decomposition_;
  Backend* backend_;
  std::unique_ptr<Field> source_, state_, next_;
  std::unique_ptr<Unit> unit_;
  std::map<int, Depth> depths_;                           // by steps per launch
  std::shared_ptr<HostCopy> state_copy_, previous_copy_;  // made since the last launch
  Timings timings_;
};

/// Bytes of the fields of the largest block: two, one for the source, two while the source of fused steps is
/// made; exchange buffers excluded.
std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method);

/// The precision that a source is kept in: that of the sums.
constexpr Precision source_precision(Precision precision) {
  return precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
}

}  // namespace spsolve
