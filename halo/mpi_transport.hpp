// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve {

/// Sends messages by non-blocking MPI point-to-point calls. Their memory must be readable by MPI.
class MpiTransport : public Transport {
 public:
  /// MPI counts bytes in int, so messages go in pieces of `max_message_bytes`, which must be the same on all
  /// ranks. MPI keeps pieces in order between a pair of ranks.
  explicit MpiTransport(const Communicator& communicator,
                        std::size_t max_message_bytes = std::size_t{1} << 30)
      : communicator_(communicator), max_message_bytes_(max_message_bytes) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  /// Waits for all messages. Errors name the message that failed.
  void finish() override;
  void all_reduce_max(int* value) override { *value = communicator_.all_reduce(*value, MPI_MAX); }

 protected:
  const Communicator& communicator() const { return communicator_; }

 private:
  /// Describes a request in error messages.
  struct Posted {
    const char* direction;
    int peer, bytes;
  };

  Communicator communicator_;
  std::size_t max_message_bytes_;
  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;
};

}  // namespace spsolve
