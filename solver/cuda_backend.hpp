// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "halo/communicator.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/system/wall_filler.hpp"
#include "kernels/cuda/transfer/packer.hpp"
#include "kernels/cuda/transfer/reducer.hpp"
#include "solver/cuda_copies.hpp"
#include "solver/cuda_launches.hpp"

namespace spsolve {

/// Represents one GPU, with a stream for each queue, ordered by events. Launches are captured in CUDA graphs
/// if the transport only enqueues.
class CudaBackend : public Backend {
 public:
  /// Uses the current device. `transport` is peer, nccl, mpi, or auto (the first of these that works). Throws
  /// Error(invalid_input) if the chosen one does not work. Collective.
  CudaBackend(const Communicator& communicator, const std::string& transport, bool graphs = true);

  Memory& memory() override { return memory_; }
  Packer& packer(Queue queue) override { return queue == Queue::compute ? packer_ : unpacker_; }
  Transport& transport() override { return *transport_; }
  Reducer& reducer() override { return reducer_; }
  std::array<bool, 3> wrapped_axes(const Problem& problem, const Method& method,
                                   const Index3& block) const override;
  std::unique_ptr<Unit> make_unit(const Problem& problem, const Method& method, const GivenFields& sources,
                                  Queue queue, const std::array<bool, 3>& wraps) override;
  std::unique_ptr<PointWork> make_points(PointTable table, AmountsOfStep amounts, const Field& like) override;
  bool queues_overlap() const override { return true; }
  void require_memory(std::size_t bytes) const override;
  std::unique_ptr<Launch> make_launch() override { return launches_->make_launch(); }
  void mark(Mark mark, Queue queue) override { launches_->mark(mark, stream(queue)); }
  Timings timings() override { return launches_->timings(); }
  void order(Queue earlier, Queue later) override;
  void synchronize() override;
  std::shared_ptr<HostCopy> make_copy(const Field& field, const Sampling& sampling) override {
    return copies_.make_copy(field.owned(), sampling);
  }
  void prepare_copies(const Box& owned, const Sampling& sampling, int count, std::size_t reserve,
                      bool on_device) override {
    copies_.prepare(owned, sampling, count, reserve, on_device);
  }
  std::size_t memory_for_copies(std::size_t reserve) const override {
    return CudaCopies::memory_for_copies(reserve);
  }
  void set(Field& field, const FillField& fill) override { copies_.set(field, fill); }

  /// Returns peer, nccl, mpi (device memory) or mpi (host memory).
  const std::string& transport_name() const { return transport_name_; }

 private:
  CudaBackend(const Communicator& communicator, const std::string& transport, bool graphs,
              const cuda::KernelCompiler& compiler);
  const cuda::Stream& stream(Queue queue) const;

  cuda::Stream compute_, exchange_, edges_;
  cuda::Event reached_;
  cuda::DeviceMemory memory_;
  cuda::DevicePacker packer_, unpacker_;
  cuda::DeviceReducer reducer_;
  CudaCopies copies_;
  std::string transport_name_;
  std::unique_ptr<Transport> transport_;
  std::optional<CudaLaunches> launches_;
  std::shared_ptr<cuda::WallFiller> wall_filler_;  // belongs to the block whose units were made last
};

}  // namespace spsolve
