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

/// Represents an exchange in progress. The halo that it fills must be neither read nor written until
/// unpack().
class [[nodiscard]] PendingExchange {
 public:
  /// Waits until all messages have arrived.
  void wait();
  /// Fills the halos of the fields that were passed to start(). Call wait() first.
  void unpack();

 private:
  friend class HaloExchange;
  PendingExchange(HaloExchange& exchange, const State& state) : exchange_(&exchange), state_(state) {}

  HaloExchange* exchange_;
  State state_;
};

/// Copies owned points of all fields of a state into the halos of the ranks that need them. Each pair of
/// ranks exchanges one message per direction, packed from all regions between them. If the transport takes
/// boxes, regions with long rows go directly from field to field.
///
/// The exchange owns the buffers and does one exchange at a time. On a device everything is only enqueued, on
/// the stream of the packer, the transport or the unpacker.
class HaloExchange {
 public:
  /// Prepares exchanges for states with as many fields as `like`, of the same geometry and precision. Packers
  /// and transport must outlive the exchange and work on memory of one kind. Collective.
  HaloExchange(const Communicator& communicator, const HaloRegions& regions, const ConstState& like,
               Transport& transport, Packer& packer, Packer& unpacker);

  /// Makes the periodic copies and reflections of this rank's own points in its halo, and packs the owned
  /// points that others need into the send buffer.
  void pack(const State& state);
  /// Sends the data that pack() gathered from `state`. The fields that are passed must outlive the exchange.
  /// Collective.
  PendingExchange start(const State& state);

 private:
  friend class PendingExchange;

  /// Describes the data that go in one direction: boxes that are sent directly, and a buffer with one message
  /// per peer for all other regions.
  struct Messages {
    std::vector<HaloRegion> boxes;
    std::size_t bytes = 0;
    OwnedMemory buffer{nullptr, {}};
    std::vector<Message> messages;
  };
  /// Holds the messages of one state, bound to the memory of its fields.
  struct BoundMessages {
    std::vector<Message> sends, receives;
    std::shared_ptr<void> connection;
  };

  Transport* transport_;
  std::size_t fields_;  // the number of fields of a state
  Messages send_, receive_;
  std::map<std::vector<const Field*>, BoundMessages> bound_messages_;
  std::vector<std::unique_ptr<PreparedCopies>> local_copies_, packing_, unpacking_;  // by field
};

}  // namespace spsolve
