// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve {

/// Non-blocking MPI point to point between memory that MPI can read.
class MpiTransport : public Transport {
 public:
  explicit MpiTransport(const Communicator& communicator) : communicator_(communicator) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  /// Errors name the message that failed.
  void finish() override;

 private:
  /// What a request is, for errors.
  struct Posted {
    const char* direction;
    int peer, bytes;
  };

  Communicator communicator_;
  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;
};

}  // namespace spsolve
