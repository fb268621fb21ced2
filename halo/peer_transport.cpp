// SPDX-License-Identifier: Apache-2.0
#include "halo/peer_transport.hpp"

#include <cudaTypedefs.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <set>

#include "halo/collectively.hpp"
#include "halo/machine.hpp"
#include "kernels/cuda/runtime/copy_rows.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/transfer/peer_max_arguments.hpp"

namespace spsolve {
namespace {

using cuda::check_cuda;
using cuda::check_driver;

constexpr int connect_tag = 2;

/// Describes device memory that another process can map: a handle of the allocation and the position in it.
struct MappableMemory {
  cudaIpcMemHandle_t allocation;
  std::size_t offset, row_stride, plane_stride;
};

MappableMemory share(const Message& message) {
  static const auto range_of = cuda::driver_function<PFN_cuMemGetAddressRange_v3020>("cuMemGetAddressRange");
  CUdeviceptr base = 0;
  const auto address = reinterpret_cast<CUdeviceptr>(message.data);
  check_driver(range_of(&base, nullptr, address));
  MappableMemory shared{{}, address - base, message.row_stride, message.plane_stride};
  check_cuda(cudaIpcGetMemHandle(&shared.allocation, reinterpret_cast<void*>(base)));
  return shared;
}

using StreamOperation = CUstreamBatchMemOpParams;

/// Writes a flag. Whoever sees the value also sees all work enqueued on the stream before.
StreamOperation write(std::uint32_t* flag, std::uint32_t value) {
  StreamOperation operation{};
  operation.writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
  operation.writeValue.address = reinterpret_cast<CUdeviceptr>(flag);
  operation.writeValue.value = value;
  operation.writeValue.flags = CU_STREAM_WRITE_VALUE_DEFAULT;
  return operation;
}

/// Waits for a flag. The comparison is cyclic, so numbers may overflow.
StreamOperation wait_until_at_least(std::uint32_t* flag, std::uint32_t value) {
  StreamOperation operation{};
  operation.waitValue.operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
  operation.waitValue.address = reinterpret_cast<CUdeviceptr>(flag);
  operation.waitValue.value = value;
  operation.waitValue.flags = CU_STREAM_WAIT_VALUE_GEQ;
  return operation;
}

void enqueue(std::vector<StreamOperation> operations, cudaStream_t stream) {
  static const auto batch = cuda::driver_function<PFN_cuStreamBatchMemOp_v11070>("cuStreamBatchMemOp");
  if (!operations.empty())
    check_driver(batch(stream, static_cast<unsigned>(operations.size()), operations.data(), 0));
}

std::vector<int> peers_of(std::span<const Message> messages) {
  std::set<int> peers;
  for (const Message& message : messages) peers.insert(message.peer);
  return {peers.begin(), peers.end()};
}

}  // namespace

/// Maps an allocation of another process.
class PeerTransport::Mapping {
 public:
  explicit Mapping(const cudaIpcMemHandle_t& allocation) {
    check_cuda(cudaIpcOpenMemHandle(&memory_, allocation, cudaIpcMemLazyEnablePeerAccess));
  }
  ~Mapping() { cudaIpcCloseMemHandle(memory_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;
  std::byte* data() const { return static_cast<std::byte*>(memory_); }

 private:
  void* memory_ = nullptr;
};

/// Holds the mapped destinations of an exchange's messages.
class PeerTransport::Connection {
 public:
  struct Destination {
    MappableMemory shared;
    std::unique_ptr<Mapping> mapping;
    std::byte* data() const { return mapping->data() + shared.offset; }
  };

  Connection(PeerTransport& transport, std::span<const Message> sends, std::span<const Message> receives)
      : readers(peers_of(sends)), writers(peers_of(receives)), transport_(&transport), key_(sends.data()) {
    transport_->connections_[key_] = this;
  }
  /// The barrier lets peers free their receive buffers only after every rank has unmapped them.
  ~Connection() {
    transport_->connections_.erase(key_);
    if (std::uncaught_exceptions() > 0) return;
    cudaStreamSynchronize(transport_->stream_);
    destinations.clear();
    MPI_Barrier(transport_->communicator_.handle());
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  std::vector<int> readers, writers;      // peers
  std::vector<Destination> destinations;  // where the messages are sent

 private:
  PeerTransport* transport_;
  const Message* key_;
};

std::unique_ptr<PeerTransport> PeerTransport::make(const Communicator& communicator, cudaStream_t stream,
                                                   const cuda::KernelCompiler& compiler) {
  if (ranks_on_this_machine(communicator) != communicator.size()) return nullptr;
  try {
    // The constructor maps the flags of all ranks. If that works, other memory can be mapped too.
    return std::unique_ptr<PeerTransport>(new PeerTransport(communicator, stream, compiler));
  } catch (const Error&) {
    cudaGetLastError();
    return nullptr;
  }
}

PeerTransport::PeerTransport(const Communicator& communicator, cudaStream_t stream,
                             const cuda::KernelCompiler& compiler)
    : communicator_(communicator), stream_(stream) {
  const auto ranks = static_cast<std::size_t>(communicator.size());
  std::vector<cudaIpcMemHandle_t> flags(ranks);
  collectively(communicator, [&] {
    const std::size_t bytes = 2 * ranks * (sizeof(std::uint32_t) + sizeof(std::uint64_t));
    flags_ = cuda::DeviceBuffer(bytes);
    check_cuda(cudaMemsetAsync(flags_.data(), 0, bytes, stream));
    enqueue({write(static_cast<std::uint32_t*>(flags_.data()), 0)}, stream);  // not all GPUs support this
    check_cuda(cudaStreamSynchronize(stream));
    check_cuda(cudaIpcGetMemHandle(&flags[static_cast<std::size_t>(communicator.rank())], flags_.data()));
  });
  check_mpi(MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, flags.data(), sizeof flags[0], MPI_BYTE,
                          communicator.handle()));
  collectively(communicator, [&] {
    for (int rank = 0; rank < communicator.size(); ++rank) {
      void* data = flags_.data();
      if (rank != communicator.rank())
        data =
            mappings_.emplace_back(std::make_unique<Mapping>(flags[static_cast<std::size_t>(rank)]))->data();
      flags_of_.push_back(static_cast<std::uint32_t*>(data));
    }
    std::vector<std::uint32_t*> places = flags_of_;
    for (std::uint32_t*& of_rank : places) of_rank += 2 * communicator.size();
    const std::size_t bytes = places.size() * sizeof places[0];
    places_of_ = cuda::DeviceBuffer(bytes);
    check_cuda(cudaMemcpyAsync(places_of_.data(), places.data(), bytes, cudaMemcpyHostToDevice, stream));
    check_cuda(cudaStreamSynchronize(stream));
    peer_max_.emplace(compiler.begin("kernels/cuda/transfer/peer_max.cuh", {}), "peer_max");
  });
}

PeerTransport::~PeerTransport() = default;

std::uint32_t* PeerTransport::flag(Flag which, int sender, int receiver) const {
  return flags_of_[static_cast<std::size_t>(receiver)] + static_cast<int>(which) * communicator_.size() +
         sender;
}

std::shared_ptr<void> PeerTransport::connect(std::span<const Message> sends,
                                             std::span<const Message> receives) {
  auto connection = std::make_shared<Connection>(*this, sends, receives);
  std::vector<MappableMemory> shared(receives.size()), theirs(sends.size());
  collectively(communicator_, [&] { std::ranges::transform(receives, shared.begin(), share); });
  std::vector<MPI_Request> requests;
  for (std::size_t i = 0; i < sends.size(); ++i)
    check_mpi(MPI_Irecv(&theirs[i], sizeof theirs[i], MPI_BYTE, sends[i].peer, connect_tag,
                        communicator_.handle(), &requests.emplace_back()));
  for (std::size_t i = 0; i < receives.size(); ++i)
    check_mpi(MPI_Isend(&shared[i], sizeof shared[i], MPI_BYTE, receives[i].peer, connect_tag,
                        communicator_.handle(), &requests.emplace_back()));
  check_mpi(MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE));
  collectively(communicator_, [&] {
    for (const MappableMemory& message : theirs)
      connection->destinations.push_back({message, std::make_unique<Mapping>(message.allocation)});
  });
  return connection;
}

void PeerTransport::start(std::span<const Message> sends, std::span<const Message> receives) {
  under_way_ = nullptr;
  if (sends.empty() && receives.empty()) return;
  under_way_ = connections_.at(sends.data());
  const int rank = communicator_.rank();
  ++exchanges_;
  std::vector<StreamOperation> operations;
  for (const int peer : under_way_->writers)
    operations.push_back(write(flag(Flag::free, rank, peer), exchanges_));
  enqueue(std::move(operations), stream_);
  ready_.record(stream_);
  while (lanes_.size() < under_way_->readers.size()) lanes_.push_back(std::make_unique<Lane>());
  for (std::size_t lane = 0; lane < under_way_->readers.size(); ++lane) {
    const int peer = under_way_->readers[lane];
    const cudaStream_t stream = lanes_[lane]->stream;
    check_cuda(cudaStreamWaitEvent(stream, ready_));
    enqueue({wait_until_at_least(flag(Flag::free, peer, rank), exchanges_)}, stream);
    for (std::size_t i = 0; i < sends.size(); ++i) {
      const Connection::Destination& destination = under_way_->destinations[i];
      if (const Message& m = sends[i]; m.peer == peer)
        cuda::copy_rows({m.data, m.row_stride, m.plane_stride},
                        {destination.data(), destination.shared.row_stride, destination.shared.plane_stride},
                        m.bytes, m.rows, m.planes, stream);
    }
    enqueue({write(flag(Flag::arrived, rank, peer), exchanges_)}, stream);
    lanes_[lane]->sent.record(stream);
  }
}

void PeerTransport::finish() {
  if (!under_way_) return;
  std::vector<StreamOperation> operations;
  for (const int peer : under_way_->writers)
    operations.push_back(wait_until_at_least(flag(Flag::arrived, peer, communicator_.rank()), exchanges_));
  enqueue(std::move(operations), stream_);
  for (std::size_t lane = 0; lane < under_way_->readers.size(); ++lane)
    check_cuda(cudaStreamWaitEvent(stream_, lanes_[lane]->sent));
}

void PeerTransport::all_reduce_max(int* value) {
  peer_max_->launch(1, 32, 0, stream_,
                    cuda::PeerMaxArguments{value, static_cast<unsigned long long* const*>(places_of_.data()),
                                           communicator_.rank(), communicator_.size(), ++reductions_});
}

}  // namespace spsolve
