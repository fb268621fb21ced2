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

  /// Fills the part of the halo that holds periodic images of this rank's own points.
  void copy_own_images(Field& field);
  /// Packs the owned points that others need and sends them. The owned points may be read, not written, until
  /// the exchange is finished.
  PendingExchange start(Field& field);

  /// Bytes that this rank sends to other ranks in one exchange.
  std::size_t bytes_sent() const { return send_.buffer.bytes; }

 private:
  friend class PendingExchange;

  struct Buffer {
    struct Free {
      Memory* memory;
      void operator()(std::byte* freed) const { memory->free(freed); }
    };
    Buffer(Memory& memory, std::size_t size);

    std::size_t bytes;
    std::unique_ptr<std::byte, Free> data;
  };

  /// Regions packed one after another, with the messages that their bytes make up.
  struct Packed {
    Buffer buffer;
    std::unique_ptr<Packing> packing;
    std::vector<Message> messages;

    Packed(const std::vector<HaloRegion>& regions, Precision precision, Packer& packer);
  };

  Transport* transport_;
  Packed send_, receive_, own_send_;
  std::unique_ptr<Packing> own_receive_;  // from the buffer of own_send_
};

}  // namespace spsolve
