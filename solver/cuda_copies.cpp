// SPDX-License-Identifier: Apache-2.0
#include "solver/cuda_copies.hpp"

#include <algorithm>

namespace spsolve {
namespace {

/// Device memory that is left to what CUDA and NCCL allocate later.
constexpr std::size_t spare_bytes = std::size_t{1} << 30;

/// Enqueues a copy of the owned points to the device.
void copy_owned(const Field& from, Field& to, cudaStream_t stream) {
  const Box& box = from.owned();
  const Index3 extent = box.extent();
  const std::size_t element = storage_bytes(from.precision());
  cudaMemcpy3DParms copy{};
  const auto pitched = [&](const Field& field) {
    return cudaPitchedPtr{const_cast<std::byte*>(field.bytes_at(box.begin)),
                          static_cast<std::size_t>(field.strides()[y_axis]) * element,
                          static_cast<std::size_t>(extent[2]) * element,
                          static_cast<std::size_t>(field.strides()[z_axis] / field.strides()[y_axis])};
  };
  copy.srcPtr = pitched(from);
  copy.dstPtr = pitched(to);
  copy.extent = {static_cast<std::size_t>(extent[2]) * element, static_cast<std::size_t>(extent[1]),
                 static_cast<std::size_t>(extent[0])};
  copy.kind = cudaMemcpyDefault;
  cuda::check_cuda(cudaMemcpy3DAsync(&copy, stream));
}

/// Enqueues a copy of all memory between fields of one geometry, halos included: faster than row by row.
void copy_whole(const Field& from, Field& to, cudaStream_t stream) {
  const Box box = from.allocated();
  const std::byte* begin = from.bytes_at(box.begin);
  const std::byte* end = from.bytes_at(box.end - Index3{1, 1, 1}) + storage_bytes(from.precision());
  cuda::check_cuda(cudaMemcpyAsync(to.bytes_at(box.begin), begin, static_cast<std::size_t>(end - begin),
                                   cudaMemcpyDefault, stream));
}

bool alike(const Field& a, const Field& b) {
  return a.owned() == b.owned() && a.halo() == b.halo() && a.precision() == b.precision();
}

}  // namespace

class CudaCopies::Copy : public HostCopy {
 public:
  Copy(const Field& like, cuda::PinnedMemory& memory, int device)
      : values(like.owned(), like.halo(), like.precision(), memory), device_(device) {}

  const Field& wait() override {
    cuda::select_device(device_);  // a thread begins with device 0
    arrived.synchronize();
    return values;
  }

  Field values;
  cuda::Event arrived;

 private:
  int device_;
};

CudaCopies::CudaCopies(const cuda::Stream& compute) : compute_(compute) {
  cuda::check_cuda(cudaGetDevice(&device_));
}

std::shared_ptr<HostCopy> CudaCopies::copy_out(const Field& field) {
  const std::shared_ptr<Copy> copy = unused_copy(field);
  if (staging_ && alike(*staging_, field)) {
    cuda::check_cuda(cudaStreamWaitEvent(compute_, travelled_));  // what was staged before has left
    copy_whole(field, *staging_, compute_);
    computed_.record(compute_);
    cuda::check_cuda(cudaStreamWaitEvent(travel_, computed_));
    copy_whole(*staging_, copy->values, travel_);
    travelled_.record(travel_);
  } else {
    computed_.record(compute_);
    cuda::check_cuda(cudaStreamWaitEvent(travel_, computed_));
    copy_whole(field, copy->values, travel_);
    travelled_.record(travel_);
    cuda::check_cuda(cudaStreamWaitEvent(compute_, travelled_));
  }
  copy->arrived.record(travel_);
  return copy;
}

void CudaCopies::prepare(const Field& field, int count, std::size_t reserve) {
  std::size_t free_bytes = 0, total_bytes = 0;
  cuda::check_cuda(cudaMemGetInfo(&free_bytes, &total_bytes));
  if (free_bytes >= field.bytes() + reserve + spare_bytes)
    staging_.emplace(field.owned(), field.halo(), field.precision(), memory_);
  std::vector<std::shared_ptr<Copy>> at_a_time;
  while (std::ssize(at_a_time) < count) at_a_time.push_back(unused_copy(field));
}

void CudaCopies::set(Field& field, const FillField& fill) {
  const std::shared_ptr<Copy> copy = unused_copy(field);
  fill(copy->values);
  copy_owned(copy->values, field, compute_);
  compute_.synchronize();
}

std::shared_ptr<CudaCopies::Copy> CudaCopies::unused_copy(const Field& field) {
  std::erase_if(copies_,
                [&](const auto& copy) { return copy.use_count() == 1 && !alike(copy->values, field); });
  const auto unused = std::find_if(copies_.begin(), copies_.end(), [&](const auto& copy) {
    return copy.use_count() == 1 && alike(copy->values, field);
  });
  if (unused != copies_.end()) return *unused;
  return copies_.emplace_back(std::make_shared<Copy>(field, pinned_, device_));
}

}  // namespace spsolve
