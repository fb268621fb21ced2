// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>

#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/reduction.hpp"

namespace spsolve::cuda {

/// Reduces fields in device memory; each pass is one launch on `stream`, and the host waits for results that
/// are returned. Points are read once, at the bandwidth of the memory. Samples may be in pinned host memory.
class DeviceReducer : public Reducer {
 public:
  /// Makes the reducer for the current device; `stream` must outlive it.
  DeviceReducer(cudaStream_t stream, KernelCompiler compiler);

  void prepare(Precision precision, const Sampling& sampling) override { kernels_of(precision, sampling); }
  Extremes extremes(const Field& field, const Field* before, const Sample& sample) override;
  Sums sums(const Field& field, const Field* before, const SumScales& scales) override;
  void set_magnitude_bound(Field& field, int largest) override;
  void raise_magnitude_bound(Field& field, const Box& box) override;

 private:
  struct Kernels {
    Kernel extremes, sums, largest;
  };
  const Kernels& kernels_of(Precision precision, const Sampling& sampling);
  template <class Result>
  Result reduce(const Kernel& kernel, const Field& field, const Field* before, const Sample& sample,
                const SumScales& scales);

  cudaStream_t stream_;
  KernelCompiler compiler_;
  std::map<std::pair<Precision, Sampling>, Kernels> kernels_;
  int blocks_;  // blocks that fill the device
  DeviceBuffer results_;
  PinnedBuffer host_results_;
};

/// Returns constants.cuh for reduce.cuh, for fields of this precision and this sampling.
std::string reduce_constants(Precision precision, const Sampling& sampling);

}  // namespace spsolve::cuda
