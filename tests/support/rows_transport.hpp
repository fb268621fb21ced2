// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "halo/mpi_transport.hpp"

namespace spsolve::testing {

/// Sends boxes of memory by MPI as strided planes of rows. (One message per row would take minutes.)
class RowsTransport : public MpiTransport {
 public:
  using MpiTransport::MpiTransport;
  bool supports_boxes() const override { return true; }
  void start(std::span<const Message> sends, std::span<const Message> receives) override {
    const auto begin = [&](const Message& message, auto&& call) {
      const auto stride = [](std::size_t bytes) { return static_cast<MPI_Aint>(bytes); };
      const auto count = [](std::size_t number) { return static_cast<int>(number); };
      MPI_Datatype rows{}, box{};
      check_mpi(MPI_Type_create_hvector(count(message.rows), count(message.bytes), stride(message.row_stride),
                                        MPI_BYTE, &rows));
      check_mpi(MPI_Type_create_hvector(count(message.planes), 1, stride(message.plane_stride), rows, &box));
      check_mpi(MPI_Type_commit(&box));
      check_mpi(
          call(message.data, 1, box, message.peer, 0, communicator().handle(), &requests_.emplace_back()));
      for (MPI_Datatype* type : {&rows, &box}) check_mpi(MPI_Type_free(type));
    };
    for (const Message& message : receives) begin(message, MPI_Irecv);
    for (const Message& message : sends) begin(message, MPI_Isend);
  }
  void finish() override {
    check_mpi(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }

 private:
  std::vector<MPI_Request> requests_;
};

}  // namespace spsolve::testing
