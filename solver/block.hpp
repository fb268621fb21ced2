// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>

#include "halo/exchange.hpp"
#include "halo/watch.hpp"
#include "solver/backend.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

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
  /// Takes the memory of so many copies at a time.
  void prepare_copies(int count) { backend_->prepare_copies(*state_, count); }
  /// The same where they are, for the numbers of extremes() and measure(), once they are computed.
  Survey survey() { return computed({&backend_->reducer(), state_.get(), nullptr}); }
  Survey survey_of_change() { return computed({&backend_->reducer(), state_.get(), next_.get()}); }
  Survey survey_of_previous() { return computed({&backend_->reducer(), next_.get(), nullptr}); }
  const Box& owned() const { return state_->owned(); }

  /// Advances the block by `steps` <= fuse time steps in one launch: halos of that width travel while the
  /// interior is computed. Collective.
  void launch(int steps);

  /// Tells `watch`, which must outlive the block, what launches do.
  void watch_by(Watch& watch) { watch_ = &watch; }
  /// Of all launches on the backend.
  Timings timings() { return backend_->timings(); }

 private:
  struct Depth {
    HaloExchange exchange;
    Box interior;
    std::array<std::unique_ptr<Launch>, 2> launches;  // from either field into the other
  };
  /// The backend waits with an eye on what may never end; a reducer or a copy does not.
  Survey computed(const Survey& survey) {
    backend_->synchronize();
    return survey;
  }
  Depth& depth(int steps);
  void enqueue(Depth& depth, int steps);
  void enter(Phase phase) const {
    if (watch_) watch_->enter(phase);
  }
  HaloRegions regions(const Index3& width) const;
  /// Rows that launches of so many steps read: all (`width` beside the block), and those that are known
  /// before anything has arrived.
  Box rows_of(Index3 width) const;
  Box rows_at_hand(int steps) const;
  /// Ghosts beside walls of these, and of the others.
  void fill_ghosts_at_hand(int steps);
  void fill_ghosts_of_arrived(int steps);

  Communicator communicator_;
  Problem problem_;
  Method method_;
  Decomposition decomposition_;
  Backend* backend_;
  std::unique_ptr<Field> source_, state_, next_;
  std::unique_ptr<Unit> unit_, edge_unit_;  // the latter where edges are computed beside the interior
  Watch* watch_ = nullptr;
  Phase computing_ = Phase::setup;                        // what a launch tells it, exchanges apart
  bool swapped_ = false;                                  // state and next have changed places
  std::map<int, Depth> depths_;                           // by steps per launch
  std::shared_ptr<HostCopy> state_copy_, previous_copy_;  // made since the last launch
};

/// Bytes of the fields of the largest block: two, one for the source, three while the source of fused steps
/// is made (that of edges is one of its own); exchange buffers excluded.
std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method);

/// The precision that a source is kept in: that of the sums.
constexpr Precision source_precision(Precision precision) {
  return precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
}

}  // namespace spsolve
