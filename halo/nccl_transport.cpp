// SPDX-License-Identifier: Apache-2.0
#include "halo/nccl_transport.hpp"

#include <fmt/format.h>

#include <exception>

#include "halo/collectively.hpp"

namespace spsolve {

void check_nccl(ncclResult_t result, const std::source_location& where) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw Error(Status::device_failure,
              fmt::format("NCCL: {}: {} ({}:{})", ncclGetErrorString(result), ncclGetLastError(nullptr),
                          where.file_name(), where.line()));
}

/// Aborts after a failure, since peers may then never finish the operations in progress.
void NcclTransport::DestroyCommunicator::operator()(ncclComm_t handle) const {
  if (std::uncaught_exceptions() > 0)
    ncclCommAbort(handle);
  else
    ncclCommDestroy(handle);
}

NcclTransport::NcclTransport(const Communicator& communicator, cudaStream_t stream) : stream_(stream) {
  ncclUniqueId id{};
  on_root(communicator, [&] { check_nccl(ncclGetUniqueId(&id)); });
  check_mpi(MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, communicator.handle()));
  ncclComm_t handle = nullptr;
  check_nccl(ncclCommInitRank(&handle, communicator.size(), id, communicator.rank()));
  handle_.reset(handle);
}

void NcclTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  check_nccl(ncclGroupStart());
  for (const Message& message : receives)
    check_nccl(ncclRecv(message.data, message.bytes, ncclChar, message.peer, handle_.get(), stream_));
  for (const Message& message : sends)
    check_nccl(ncclSend(message.data, message.bytes, ncclChar, message.peer, handle_.get(), stream_));
  check_nccl(ncclGroupEnd());
}

void NcclTransport::all_reduce_max(int* value) {
  check_nccl(ncclAllReduce(value, value, 1, ncclInt, ncclMax, handle_.get(), stream_));
}

void NcclTransport::check() const {
  ncclResult_t state = ncclSuccess;
  check_nccl(ncclCommGetAsyncError(handle_.get(), &state));
  check_nccl(state);
}

}  // namespace spsolve
