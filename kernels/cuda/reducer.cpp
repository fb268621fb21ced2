// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/reducer.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "kernels/cuda/kernel_stencil.hpp"
#include "kernels/cuda/reduce_arguments.hpp"

namespace spsolve::cuda {
namespace {

constexpr int blocks_per_multiprocessor = 8;  // 2048 threads
constexpr std::size_t largest_result = std::max(sizeof(Extremes), sizeof(Sums));

int multiprocessors() {
  int device = 0, count = 0;
  check_cuda(cudaGetDevice(&device));
  check_cuda(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

StoredBlock stored(const Field& field) {
  return {field.bytes_at(field.owned().begin), field.strides()[z_axis], field.strides()[y_axis]};
}

}  // namespace

DeviceReducer::DeviceReducer(cudaStream_t stream, KernelCompiler compiler)
    : stream_(stream),
      compiler_(std::move(compiler)),
      blocks_(blocks_per_multiprocessor * multiprocessors()),
      results_(static_cast<std::size_t>(blocks_) * largest_result),
      host_results_(static_cast<std::size_t>(blocks_) * largest_result) {}

Extremes DeviceReducer::extremes(const Field& field, const Field* before) {
  return reduce<Extremes>(kernels_of(field.precision()).extremes, field, before, {});
}

Sums DeviceReducer::sums(const Field& field, const Field* before, const SumScales& scales) {
  return reduce<Sums>(kernels_of(field.precision()).sums, field, before, scales);
}

const DeviceReducer::Kernels& DeviceReducer::kernels_of(Precision precision) {
  if (const auto found = kernels_.find(precision); found != kernels_.end()) return found->second;
  const std::vector<char> code = compiler_.compile("reduce.cuh", reduce_constants(precision));
  return kernels_.try_emplace(precision, Kernels{Kernel(code, "extremes"), Kernel(code, "sums")})
      .first->second;
}

template <class Result>
Result DeviceReducer::reduce(const Kernel& kernel, const Field& field, const Field* before,
                             const SumScales& scales) {
  const Index3 extent = field.owned().extent();
  kernel.launch(static_cast<unsigned>(blocks_), reduce_threads, 0, stream_,
                ReduceArguments{stored(field), stored(before ? *before : field), extent[0], extent[1],
                                extent[2], scales, results_.data()});
  const std::span results(static_cast<Result*>(host_results_.data()), static_cast<std::size_t>(blocks_));
  check_cuda(cudaMemcpyAsync(results.data(), results_.data(), results.size_bytes(), cudaMemcpyDeviceToHost,
                             stream_));
  check_cuda(cudaStreamSynchronize(stream_));
  return std::accumulate(results.begin() + 1, results.end(), results.front(),
                         [](const Result& a, const Result& b) { return combined(a, b); });
}

std::string reduce_constants(Precision precision) {
  return std::string(
             "#pragma once\n#include \"precision.cuh\"\nnamespace spsolve::cuda::constants {\nusing "
             "Stored = ") +
         stored_name(precision) + ";\n}\n";
}

}  // namespace spsolve::cuda
