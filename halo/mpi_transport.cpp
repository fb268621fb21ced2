// SPDX-License-Identifier: Apache-2.0
#include "halo/mpi_transport.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace spsolve {
namespace {

constexpr int halo_tag = 1;

}  // namespace

void MpiTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  const auto post = [&](std::span<const Message> messages, auto&& begin_one, const char* direction) {
    for (const Message& message : messages)
      for (std::size_t begin = 0; begin < message.bytes; begin += max_message_bytes_) {
        const auto bytes = static_cast<int>(std::min(max_message_bytes_, message.bytes - begin));
        check_mpi(begin_one(message.data + begin, bytes, MPI_BYTE, message.peer, halo_tag,
                            communicator_.handle(), &requests_.emplace_back()));
        posted_.push_back({direction, message.peer, bytes});
      }
  };
  post(receives, MPI_Irecv, "from");
  post(sends, MPI_Isend, "to");
}

/// Requests are waited for one by one, because MPI_Waitall of Open MPI 4.1 may hang if another message has
/// already failed.
void MpiTransport::finish() {
  for (std::size_t i = 0; i < requests_.size(); ++i)
    if (const int code = MPI_Wait(&requests_[i], MPI_STATUS_IGNORE); code != MPI_SUCCESS)
      throw Error(Status::device_failure,
                  fmt::format("MPI: {} (halo of {} bytes {} rank {})", mpi_text(code), posted_[i].bytes,
                              posted_[i].direction, posted_[i].peer));
  requests_.clear();
  posted_.clear();
}

}  // namespace spsolve
