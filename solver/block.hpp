// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "halo/exchange.hpp"
#include "halo/watchdog.hpp"
#include "solver/backend.hpp"
#include "solver/diagnostics.hpp"

namespace spsolve {

/// Edges take turns on these: on one queue each would wait for the last of the one before.
constexpr std::array edge_queues{Queue::edges, Queue::exchange};

/// One rank's block of the grid while it is advanced: for every field of the problem the arrays of two or
/// three time levels, which take turns, and the exchange of halos.
///
/// Halos hold the steps of `exchange_every` launches. One launch exchanges them, and those that follow
/// advance what is known beside the block as well: a region that shrinks towards the block, in one piece,
/// with nothing to wait for (but Method::exchanges_in_every_launch). Results do not depend on how often halos
/// are exchanged.
class Block {
 public:
  /// Collective.
  Block(const Communicator& communicator, const Problem& problem, const Decomposition& decomposition,
        const Method& method, Backend& backend, int exchange_every = 1);

  /// Sets the owned points of the source, in compute precision, before the first launch; only if the problem
  /// has one. Collective.
  void set_source(const FillField& fill);
  /// Sets the owned points of a field at `step`, or of its values one step before.
  void set_state(const FillField& fill, std::size_t field = 0, std::int64_t step = 0);
  void set_previous(const FillField& fill, std::size_t field);

  std::size_t field_count() const { return levels_.size(); }
  /// True if the equations read `.previous` of a field, so that its values one step before are part of the
  /// state.
  bool has_previous(std::size_t field) const { return levels_[field].size() == 3; }
  /// A field now, in host memory; valid until the next launch.
  const Field& state(std::size_t field = 0);
  /// A field as it was so many launches before (1; 2 where it has values one step before), where it is, once
  /// it is computed; valid until the next launch.
  StateView view(std::size_t field = 0, int launches_before = 0) {
    return computed({backend_, &level(field, -launches_before), nullptr});
  }
  /// A field now and before the last launch, which must have been one.
  StateView view_change(std::size_t field = 0) { return computed({backend_, &now(field), &before(field)}); }
  /// Begins to compile what launches of so many steps need.
  void prepare(int steps) const;
  /// The same for a scan that keeps so much.
  void prepare(const Sampling& kept) const { backend_->reducer().prepare(problem_.precision, kept); }
  /// Takes the memory of so many copies at a time, as far as launches do not need it.
  void prepare_copies(const Sampling& sampling, int count);
  const Box& owned() const { return levels_.front().front()->owned(); }

  /// Advances the block by `steps` <= fuse time steps in one launch. Where halos are needed, they travel
  /// while the interior is computed. Collective.
  void launch(int steps);

  /// Tells `watch`, which must outlive the block, what launches do.
  void watch_by(Watchdog& watch) { watch_ = &watch; }
  /// Of all launches on the backend.
  Timings timings() { return backend_->timings(); }

 private:
  /// A launch of so many steps, from a halo that is good for so many (0: after an exchange).
  struct Kind {
    int steps, known;
    friend auto operator<=>(const Kind&, const Kind&) = default;
  };
  using Launches = std::vector<std::unique_ptr<Launch>>;  // one per turn of the arrays
  using Levels = std::vector<std::unique_ptr<Field>>;     // of a field: two arrays, or three with `.previous`
  /// The backend waits with an eye on what may never end; a reducer or a copy does not.
  StateView computed(const StateView& view) {
    backend_->synchronize();
    return view;
  }
  /// The arrays of a field: of the step now, of the step that the next launch makes, and of the step before.
  /// With two arrays the last two are one.
  Field& level(std::size_t field, std::int64_t turns) const {
    const auto count = static_cast<std::int64_t>(levels_[field].size());
    return *levels_[field][static_cast<std::size_t>((turn_ + turns + count) % count)];
  }
  Field& now(std::size_t field = 0) const { return level(field, 0); }
  Field& next(std::size_t field = 0) const { return level(field, 1); }
  Field& before(std::size_t field) const { return level(field, -1); }
  /// The fields that a launch reads: all of them now, then those of which it reads values one step before.
  State in() const;
  State out() const;
  Launches& launches(const Kind& kind);
  /// Whether such a launch scales the state by its largest magnitude on the whole grid, Field::largest().
  bool scales(int steps) const { return scales_data_ && steps == method_.fuse; }
  /// For these, begins to tell other ranks that of the block, on the queue of exchanging.
  void share_largest(int steps);
  /// What is computed from here on finds that of the whole grid.
  void await_largest(int steps);
  /// Its least, so that images beyond walls, 2 c less a point, are at most half as large again.
  int least_largest() const;
  std::unique_ptr<Unit> make_unit(Queue queue) const;
  HaloExchange exchange_of(const Domain& domain, const State& state);
  /// The exchange of what the next launch reads of other ranks.
  HaloExchange& exchange(const State& state);
  void enqueue(const Kind& kind);
  void enqueue_with_exchange(int steps);
  void enter(Phase phase) const {
    if (watch_) watch_->enter(phase);
  }
  HaloRegions regions(const Domain& domain, const Index3& width) const;
  /// The block and what is known around it when the halo is good for so many steps.
  Box known(int steps) const;
  /// The part of known(steps_of_halo_ - steps) that launches reach before anything has arrived.
  Box interior(int steps) const;
  /// Rows of what is known after an exchange: all (`width` beside the block), and those that are known before
  /// anything has arrived.
  Box rows_of(Index3 width) const;
  Box rows_at_hand() const;
  /// Ghosts beside walls of these, and of the others.
  void fill_local_ghosts();
  /// Where x is cut, launches write rows in parts that may be too short for their mirror images.
  bool writes_rows_in_parts() const { return decomposition_.rank_grid()[x_axis] > 1; }
  void fill_ghosts_of_arrived();

  Communicator communicator_;
  Problem problem_;
  Method method_;
  Decomposition decomposition_;
  Backend* backend_;
  std::array<bool, 3> repeats_;  // axes, for the units
  Index3 reach_;                 // of a step, where it needs a halo
  std::unique_ptr<Field> source_, fused_source_;
  std::vector<Levels> levels_;      // by field
  std::int64_t turn_ = 0;           // of the arrays
  std::int64_t turns_ = 2;          // after which the arrays are where they were
  std::int64_t step_ = 0;           // that the state is of
  bool previous_is_known_ = false;  // in the halo
  std::unique_ptr<Unit> unit_;
  std::array<std::unique_ptr<Unit>, edge_queues.size()> edge_units_;  // where edges are computed beside it
  Watchdog* watch_ = nullptr;
  Phase computing_ = Phase::setup;                 // what a launch tells it, exchanges apart
  int steps_of_halo_;                              // that it is good for after an exchange
  int steps_known_ = 0;                            // that the halo of the state is good for
  bool scales_data_ = false;                       // launches of `fuse` steps scale the state
  bool largest_is_known_ = false;                  // that of the block, beside the state
  std::map<std::size_t, HaloExchange> exchanges_;  // by the number of fields, made when first needed
  std::map<Kind, Launches> launches_;
  std::shared_ptr<HostCopy> state_copy_;  // that state() has given away
};

/// Bytes of the fields of the largest block: two, one for the source, and two while that of fused steps is
/// made; exchange buffers excluded. At the most: images of a block's own points that it does without count.
std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method,
                        int exchange_every = 1);

/// Bytes of a copy of what is kept of the largest block.
std::size_t copy_bytes(const Decomposition& decomposition, const Sampling& sampling);

}  // namespace spsolve
