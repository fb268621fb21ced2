// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "halo/communicator.hpp"
#include "halo/regions.hpp"
#include "halo/transport.hpp"
#include "kernels/packing.hpp"

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
/// direction, packed from all regions between them. Owns the buffers; one exchange at a time. On a device all
/// of it is enqueued on the stream of packer and transport, in that order, and nothing waits on the host.
class HaloExchange {
 public:
  /// Packer and transport, which must outlive the exchange, work on memory of one kind.
  HaloExchange(const Communicator& communicator, const HaloRegions& regions, Precision precision,
               Transport& transport, Packer& packer);

  /// Packs the owned points that others need and sends them. The owned points may be read, not written, until
  /// then.
  PendingExchange start(Field& field);

  /// Bytes that this rank sends to other ranks in one exchange.
  std::size_t bytes_sent() const { return send_buffer_.bytes; }

 private:
  friend class PendingExchange;

  struct Buffer {
    struct Free {
      Memory* memory;
      void operator()(std::byte* data) const { memory->free(data); }
    };
    Buffer(Memory& memory, std::size_t size);

    std::size_t bytes;
    std::unique_ptr<std::byte, Free> data;
  };

  Transport* transport_;
  std::vector<Message> send_messages_, receive_messages_;
  std::unique_ptr<Packing> send_, receive_;
  std::unique_ptr<Packing>
      own_send_;  // periodic images of this rank's own points: packed into the receive buffer
  Buffer send_buffer_, receive_buffer_;
};

}  // namespace spsolve
