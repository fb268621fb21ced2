// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/pack.hpp"
#include "halo/regions.hpp"
#include "halo/transport.hpp"

namespace spsolve {

class HaloExchange;

/// An exchange under way. Until finish() the halo it fills must not be read nor written.
class [[nodiscard]] PendingExchange {
 public:
  /// Waits for the neighbours and fills the halo of the field that start() was given.
  void finish();

 private:
  friend class HaloExchange;
  PendingExchange(HaloExchange& exchange, Field& field) : exchange_(&exchange), field_(&field) {}

  HaloExchange* exchange_;
  Field* field_;
};

/// Copies owned points into the halos of the ranks that need them: one message per pair of ranks and
/// direction, packed from all regions between them. Owns the buffers; one exchange at a time.
class HaloExchange {
 public:
  HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
               Transport& transport);

  /// Packs the owned points that others need and sends them. The owned points may be read, not written, until
  /// then.
  PendingExchange start(Field& field);

  /// Bytes that this rank sends to other ranks in one exchange.
  std::size_t bytes_sent() const;

 private:
  friend class PendingExchange;

  Transport* transport_;
  std::vector<PackedBox> send_, receive_;
  std::vector<std::byte> send_buffer_, receive_buffer_;
  std::vector<Message> send_messages_, receive_messages_;
  std::vector<PackedBox>
      own_send_;  // periodic images of this rank's own points: packed into the receive buffer
};

}  // namespace spsolve
