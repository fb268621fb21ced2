// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/transfer/reducer.hpp"

#include <cudaTypedefs.h>

#include <algorithm>
#include <numeric>
#include <span>
#include <utility>

#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/cuda/runtime/driver.hpp"
#include "kernels/cuda/transfer/reduce_arguments.hpp"

namespace spsolve::cuda {
namespace {

constexpr int blocks_per_multiprocessor = 8;  // 2048 threads
constexpr std::size_t largest_result = std::max(sizeof(Extremes), sizeof(Sums));

StoredBlock stored(const Field& field, const Box& box) {
  return {field.bytes_at(box.begin), field.strides()[z_axis], field.strides()[y_axis]};
}

SampleBlock kept(const Sample& sample, const Field& field) {
  if (!sample.values) return {};
  Field& values = *sample.values;
  const Index3& begin = values.owned().begin;
  const Index3 skipped = sample.stride * begin - field.owned().begin;
  return {values.bytes_at(begin),
          values.strides()[z_axis],
          values.strides()[y_axis],
          {skipped[0], skipped[1], skipped[2]}};
}

}  // namespace

DeviceReducer::DeviceReducer(cudaStream_t stream, KernelCompiler compiler)
    : stream_(stream),
      compiler_(std::move(compiler)),
      blocks_(blocks_per_multiprocessor * current_device().multiprocessors),
      results_(static_cast<std::size_t>(blocks_) * largest_result),
      host_results_(static_cast<std::size_t>(blocks_) * largest_result) {}

Extremes DeviceReducer::extremes(const Field& field, const Field* before, const Sample& sample) {
  const Sampling sampling =
      sample.values ? Sampling{sample.stride, sample.values->precision()} : Sampling{1, field.precision()};
  return reduce<Extremes>(kernels_of(field.precision(), sampling).extremes, field, before, sample, {});
}

Sums DeviceReducer::sums(const Field& field, const Field* before, const SumScales& scales) {
  return reduce<Sums>(kernels_of(field.precision(), {1, field.precision()}).sums, field, before, {}, scales);
}

void DeviceReducer::set_magnitude_bound(Field& field, int largest) {
  static const auto set = driver_function<PFN_cuMemsetD32Async_v3020>("cuMemsetD32Async");
  check_driver(set(reinterpret_cast<CUdeviceptr>(field.magnitude_bound()), static_cast<unsigned>(largest), 1,
                   stream_));
}

void DeviceReducer::raise_magnitude_bound(Field& field, const Box& box) {
  const Index3 extent = box.extent();
  kernels_of(field.precision(), {1, field.precision()})
      .largest.launch(
          static_cast<unsigned>(blocks_), reduce_threads, 0, stream_,
          ReduceArguments{
              stored(field, box), {}, {}, extent[0], extent[1], extent[2], {}, field.magnitude_bound()});
}

const DeviceReducer::Kernels& DeviceReducer::kernels_of(Precision precision, const Sampling& sampling) {
  const std::pair key(precision, sampling);
  if (const auto found = kernels_.find(key); found != kernels_.end()) return found->second;
  const auto code =
      compiler_.begin("kernels/cuda/transfer/reduce.cuh", reduce_constants(precision, sampling));
  return kernels_
      .try_emplace(key, Kernels{Kernel(code, "extremes"), Kernel(code, "sums"), Kernel(code, "largest")})
      .first->second;
}

template <class Result>
Result DeviceReducer::reduce(const Kernel& kernel, const Field& field, const Field* before,
                             const Sample& sample, const SumScales& scales) {
  const Index3 extent = field.owned().extent();
  kernel.launch(
      static_cast<unsigned>(blocks_), reduce_threads, 0, stream_,
      ReduceArguments{stored(field, field.owned()), before ? stored(*before, before->owned()) : StoredBlock{},
                      kept(sample, field), extent[0], extent[1], extent[2], scales, results_.data()});
  const std::span results(static_cast<Result*>(host_results_.data()), static_cast<std::size_t>(blocks_));
  check_cuda(cudaMemcpyAsync(results.data(), results_.data(), results.size_bytes(), cudaMemcpyDeviceToHost,
                             stream_));
  check_cuda(cudaStreamSynchronize(stream_));
  return std::accumulate(results.begin() + 1, results.end(), results.front(),
                         [](const Result& a, const Result& b) { return combined(a, b); });
}

std::string reduce_constants(Precision precision, const Sampling& sampling) {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh"});
  text.type("Stored", stored_name(precision));
  text.type("Kept", stored_name(sampling.precision));
  text.put("long long", "stride", std::to_string(sampling.stride));
  return text.finished();
}

}  // namespace spsolve::cuda
