// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "halo/transport.hpp"

namespace spsolve::testing {

/// Boxes of memory by MPI, row by row.
class RowsTransport : public Transport {
 public:
  explicit RowsTransport(const Communicator& communicator) : communicator_(communicator) {}
  bool takes_boxes() const override { return true; }
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    const auto for_each_row = [&](const Message& message, auto&& begin) {
      for (std::size_t plane = 0; plane < message.planes; ++plane)
        for (std::size_t row = 0; row < message.rows; ++row)
          check_mpi(begin(message.data + plane * message.plane_stride + row * message.row_stride,
                          static_cast<int>(message.bytes), MPI_BYTE, message.peer, 0, communicator_.handle(),
                          &requests_.emplace_back()));
    };
    for (const Message& message : receives) for_each_row(message, MPI_Irecv);
    for (const Message& message : sends) for_each_row(message, MPI_Isend);
  }
  void finish() override {
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }

 private:
  Communicator communicator_;
  std::vector<MPI_Request> requests_;
};

}  // namespace spsolve::testing
