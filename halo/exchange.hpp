// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/regions.hpp"
#include "halo/transport.hpp"
#include "kernels/packing.hpp"
#include "kernels/state.hpp"

namespace spsolve {

class HaloExchange;

/// An exchange under way. Until unpack() the halo it fills must not be read nor written.
class [[nodiscard]] PendingExchange {
 public:
  /// Everything has arrived from here on.
  void wait();
  /// Fills the halos of the fields that start() was given, after wait().
  void unpack();

 private:
  friend class HaloExchange;
  PendingExchange(HaloExchange& exchange, const State& state) : exchange_(&exchange), state_(state) {}

  HaloExchange* exchange_;
  State state_;
};

/// Copies owned points of all fields of a state into the halos of the ranks that need them: one message per
/// pair of ranks and direction, packed from all regions between them. Where the transport takes boxes,
/// regions with long rows go from field to field as they are. Owns the buffers; one exchange at a time. On a
/// device all of it is enqueued, each part on the stream of the packer, the transport or the unpacker that
/// does it.
class HaloExchange {
 public:
  /// For states of as many fields, of the geometry and precision of `like`. Packers and transport, which must
  /// outlive the exchange, work on memory of one kind. Collective.
  HaloExchange(const Communicator& communicator, const HaloRegions& regions, const ConstState& like,
               Transport& transport, Packer& packer, Packer& unpacker);

  /// Copies what is at hand: images of this rank's own points to their places in the halo, and the owned
  /// points that others need to where they are sent from.
  void pack(const State& state);
  /// Sends what pack() gathered from `state`, whose fields outlive the exchange. Collective.
  PendingExchange start(const State& state);

  /// Bytes that this rank packs for other ranks in one exchange, padding between regions included.
  std::size_t bytes_packed() const { return send_.bytes; }

 private:
  friend class PendingExchange;

  /// What goes in one direction: regions as they are, and a buffer of the others with one message per peer.
  struct Messages {
    std::vector<HaloRegion> boxes;
    std::size_t bytes = 0;
    OwnedMemory buffer{nullptr, {}};
    std::vector<Message> messages;
  };
  /// The messages of a state.
  struct Link {
    std::vector<Message> sends, receives;
    std::shared_ptr<void> connection;
  };

  Transport* transport_;
  std::size_t fields_;  // of a state
  Messages send_, receive_;
  std::map<std::vector<const Field*>, Link> links_;
  std::vector<std::unique_ptr<Packing>> images_, packing_, unpacking_;  // by field
};

}  // namespace spsolve
