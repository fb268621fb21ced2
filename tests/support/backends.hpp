// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "halo/mpi_transport.hpp"
#include "solver/backend.hpp"
#include "tests/support/rows_transport.hpp"
#ifdef SPSOLVE_CUDA
#include "kernels/cuda/runtime/device.hpp"
#include "solver/cuda_backend.hpp"
#endif

namespace spsolve::testing {

/// Holds a backend for tests, with the transport that it needs.
struct TestBackend {
  std::string name;
  std::unique_ptr<Transport> transport;
  std::unique_ptr<Backend> backend;
};

inline TestBackend cpu_backend(const Communicator& communicator) {
  auto transport = std::make_unique<MpiTransport>(communicator);
  auto backend = std::make_unique<CpuBackend>(*transport);
  return {"cpu", std::move(transport), std::move(backend)};
}

/// Returns a CPU backend that exchanges boxes, as GPUs of one machine do: halos are slabs that include
/// periodic copies.
inline TestBackend cpu_backend_of_boxes(const Communicator& communicator) {
  auto transport = std::make_unique<RowsTransport>(communicator);
  auto backend = std::make_unique<CpuBackend>(*transport);
  return {"cpu boxes", std::move(transport), std::move(backend)};
}

/// Returns every GPU backend that this machine has for these ranks: MPI with shared GPUs, and peer copies and
/// NCCL if each rank has its own GPU. Backends that support graphs are also returned without them. Returns
/// none without a GPU.
inline std::vector<TestBackend> gpu_backends([[maybe_unused]] const Communicator& communicator) {
  std::vector<TestBackend> backends;
#ifdef SPSOLVE_CUDA
  const int count = communicator.all_reduce(cuda::device_count(), MPI_MIN);
  if (count == 0) return backends;
  cuda::select_device(communicator.rank() % count);
  backends.push_back({"cuda mpi", nullptr, std::make_unique<CudaBackend>(communicator, "mpi")});
  if (communicator.size() > 1 && communicator.size() <= count)
    if (auto peer = std::make_unique<CudaBackend>(communicator, "auto"); peer->transport_name() == "peer")
      backends.push_back({"cuda peer", nullptr, std::move(peer)});
  if (communicator.size() == 1)
    backends.push_back(
        {"cuda mpi, no graphs", nullptr, std::make_unique<CudaBackend>(communicator, "mpi", false)});
#ifdef SPSOLVE_NCCL
  if (communicator.size() <= count)
    for (const bool graphs : {true, false})
      backends.push_back({graphs ? "cuda nccl" : "cuda nccl, no graphs", nullptr,
                          std::make_unique<CudaBackend>(communicator, "nccl", graphs)});
#endif
#endif
  return backends;
}

/// Is a test that runs on a device. It is skipped if the device is missing.
class DeviceTest : public ::testing::Test {
 protected:
  /// Finds the backends of a device of devices().
  void find_backends(const std::string& device) {
    on_gpus = device == "cuda";
    if (on_gpus)
      backends = gpu_backends(world);
    else
      backends.push_back(cpu_backend(world));
    if (backends.empty()) GTEST_SKIP() << "needs a GPU";
  }
  Backend& backend() const { return *backends.front().backend; }

  Communicator world;
  bool on_gpus = false;
  std::vector<TestBackend> backends;  // all that the device has
};

/// Is a test that runs on each kind of device. Instantiate it with devices().
class OnDevice : public DeviceTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void SetUp() override { find_backends(GetParam()); }
};
inline auto devices() { return ::testing::Values("cpu", "cuda"); }

}  // namespace spsolve::testing
