// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_copies.hpp"

#include <algorithm>

#include "kernels/cuda/runtime/copy_rows.hpp"

namespace spsolve {
namespace {

/// Reserves device memory for later allocations by CUDA and NCCL.
constexpr std::size_t spare_bytes = std::size_t{1} << 30;

/// Enqueues a copy of the owned points to the device.
void copy_owned(const Field& from, Field& to, cudaStream_t stream) {
  const Box& box = from.owned();
  const Index3 extent = box.extent();
  const std::size_t element = storage_bytes(from.precision());
  const auto rows = [&](const Field& field) {
    return cuda::Rows{const_cast<std::byte*>(field.bytes_at(box.begin)),
                      static_cast<std::size_t>(field.strides()[y_axis]) * element,
                      static_cast<std::size_t>(field.strides()[z_axis]) * element};
  };
  cuda::copy_rows(rows(from), rows(to), static_cast<std::size_t>(extent[x_axis]) * element,
                  static_cast<std::size_t>(extent[y_axis]), static_cast<std::size_t>(extent[z_axis]), stream);
}

/// Enqueues one copy of all memory between fields of one geometry, which is faster than row by row.
void copy_whole(const Field& from, Field& to, cudaStream_t stream) {
  if (from.owned().empty()) return;
  const std::byte* begin = from.bytes_at(from.owned().begin);
  const std::byte* end = from.bytes_at(from.owned().end - Index3{1, 1, 1}) + storage_bytes(from.precision());
  cuda::check_cuda(cudaMemcpyAsync(to.bytes_at(to.owned().begin), begin,
                                   static_cast<std::size_t>(end - begin), cudaMemcpyDefault, stream));
}

}  // namespace

class CudaCopies::Copy : public HostCopy {
 public:
  /// Holds device memory for sampled points, shared by several copies.
  struct Staging {
    Staging(const Field& like, Memory& memory)
        : values(like.owned(), like.halo(), like.precision(), memory) {}

    Field values;
    cuda::Event left;
  };

  Copy(const Box& box, Precision precision, CudaCopies& all)
      : values(box, {0, 0, 0}, precision, all.pinned_), all_(all) {}

  Sample sample() override {
    if (!staging) return {&values, stride};
    cuda::check_cuda(cudaStreamWaitEvent(all_.compute_, staging->left));
    return {&staging->values, stride};
  }
  void start_transfer() override {
    if (!staging) return;
    copy_whole(staging->values, values, all_.travel_);
    staging->left.record(all_.travel_);
    arrived_.record(all_.travel_);
  }
  const Field& wait() override {
    cuda::select_device(all_.device_);  // a new thread starts with device 0
    arrived_.synchronize();
    return values;
  }

  Field values;
  std::int64_t stride = 1;
  std::shared_ptr<Staging> staging;

 private:
  CudaCopies& all_;
  cuda::Event arrived_;
};

CudaCopies::CudaCopies(const cuda::Stream& compute) : compute_(compute) {
  cuda::check_cuda(cudaGetDevice(&device_));
}

std::shared_ptr<HostCopy> CudaCopies::make_copy(const Box& owned, const Sampling& sampling) {
  const std::shared_ptr<Copy> copy = unused_copy(sampling.sampled(owned), sampling.precision);
  copy->stride = sampling.stride;
  return copy;
}

void CudaCopies::prepare(const Box& owned, const Sampling& sampling, int count, std::size_t reserve) {
  std::vector<std::shared_ptr<Copy>> at_a_time;
  while (std::ssize(at_a_time) < count)
    at_a_time.push_back(unused_copy(sampling.sampled(owned), sampling.precision));
  std::size_t free_bytes = 0, total_bytes = 0;
  cuda::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  const Copy& first = *at_a_time.front();
  if (first.staging || free_bytes < first.values.bytes() + reserve + spare_bytes) return;
  const auto staging = std::make_shared<Copy::Staging>(first.values, memory_);
  for (const auto& copy : at_a_time) copy->staging = staging;
}

void CudaCopies::set(Field& field, const FillField& fill) {
  std::erase_if(copies_, [&](const auto& copy) {  // for example the source, in the precision of sums
    return copy.use_count() == 1 && copy->values.precision() != field.precision();
  });
  const std::shared_ptr<Copy> copy = unused_copy(field.owned(), field.precision());
  fill(copy->values);
  copy_owned(copy->values, field, compute_);
  compute_.synchronize();
}

std::shared_ptr<CudaCopies::Copy> CudaCopies::unused_copy(const Box& box, Precision precision) {
  std::shared_ptr<Copy::Staging> staging;
  for (const auto& copy : copies_) {
    if (copy->values.owned() != box || copy->values.precision() != precision) continue;
    if (copy.use_count() == 1) return copy;
    staging = copy->staging;
  }
  const auto& copy = copies_.emplace_back(std::make_shared<Copy>(box, precision, *this));
  copy->staging = staging;  // of the copies that prepare() made
  return copy;
}

}  // namespace spsolve
