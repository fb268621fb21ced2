// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve {

/// Non-blocking MPI point to point between memory that MPI can read.
class MpiTransport : public Transport {
 public:
  /// Larger messages go in pieces, of the same size on all ranks, since MPI counts them in int; MPI keeps
  /// them in order between a pair of ranks.
  explicit MpiTransport(const Communicator& communicator, std::size_t largest_piece = std::size_t{1} << 30)
      : communicator_(communicator), largest_piece_(largest_piece) {}

  void start(std::span<const Message> sends, std::span<const Message> receives) override;
  /// Errors name the message that failed.
  void finish() override;
  void all_reduce_max(int* value) override { *value = communicator_.all_reduce(*value, MPI_MAX); }

 protected:
  const Communicator& communicator() const { return communicator_; }

 private:
  /// What a request is, for errors.
  struct Posted {
    const char* direction;
    int peer, bytes;
  };

  Communicator communicator_;
  std::size_t largest_piece_;  // bytes
  std::vector<MPI_Request> requests_;
  std::vector<Posted> posted_;
};

}  // namespace spsolve
