// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/packer.hpp"

#include <algorithm>
#include <bit>

#include "kernels/cuda/pack_arguments.hpp"
#include "kernels/domain.hpp"
#include "kernels/rounding.hpp"

namespace spsolve::cuda {
namespace {

constexpr unsigned largest_item = 16;  // bytes, of one load

/// Rows of fields of one geometry: first owned points lie at multiples of 64 bytes.
DevicePlace place_of(const Place& place, const Index3& extent, const Field& field, std::int64_t element) {
  if (const auto* offset = std::get_if<std::size_t>(&place))
    return {static_cast<long long>(*offset), extent[1] * extent[2] * element, extent[2] * element,
            Base::buffer};
  const Index3 at = std::get<Index3>(place) - field.owned().begin;
  const Index3& strides = field.strides();
  return {(at[0] * strides[0] + at[1] * strides[1] + at[2]) * element, strides[0] * element,
          strides[1] * element, Base::field};
}

/// A copy within a field to the first or last columns of its rows, as whole sectors of memory if that can be:
/// rows have room for them, and what is written of a sector in part is read first.
BoxCopy in_whole_sectors(BoxCopy copy, const Field& field, std::int64_t element) {
  auto *from = std::get_if<Index3>(&copy.from), *to = std::get_if<Index3>(&copy.to);
  const std::int64_t columns = 32 / element;
  if (!from || !to || wrap((*to)[x_axis] - (*from)[x_axis], columns) != 0) return copy;
  const std::int64_t aligned = field.owned().begin[x_axis];
  const Box all = field.allocated();
  if ((*to)[x_axis] + copy.extent[x_axis] == all.end[x_axis])
    copy.extent[x_axis] += wrap(aligned - all.end[x_axis], columns);
  if ((*to)[x_axis] == all.begin[x_axis]) {
    const std::int64_t before = wrap(all.begin[x_axis] - aligned, columns);
    (*from)[x_axis] -= before;
    (*to)[x_axis] -= before;
    copy.extent[x_axis] += before;
  }
  return copy;
}

class DevicePacking : public Packing {
 public:
  DevicePacking(const Kernel& kernel, cudaStream_t stream, std::vector<BoxCopy> copies, Precision precision)
      : kernel_(kernel),
        stream_(stream),
        element_(static_cast<std::int64_t>(storage_bytes(precision))),
        copies_(std::move(copies)) {
    std::erase_if(copies_, [](const BoxCopy& copy) { return volume(copy.extent) == 0; });
  }

  void copy(Field& field, std::byte* buffer) const override {
    if (copies_.empty()) return;
    if (!table_.data()) make_table(field);
    const auto blocks = static_cast<unsigned>(std::min<std::int64_t>(pieces(items_, pack_threads), 8192));
    kernel_.launch(blocks, pack_threads, 0, stream_,
                   PackArguments{{reinterpret_cast<unsigned char*>(field.bytes_at(field.owned().begin)),
                                  reinterpret_cast<unsigned char*>(buffer)},
                                 static_cast<const DeviceCopy*>(table_.data()),
                                 static_cast<int>(copies_.size()),
                                 items_});
  }

 private:
  /// Where a box lies in memory is known with the first field.
  void make_table(const Field& field) const {
    std::vector<DeviceCopy> table;
    for (const BoxCopy& exact : copies_) {
      const BoxCopy copy = in_whole_sectors(exact, field, element_);
      const DevicePlace from = place_of(copy.from, copy.extent, field, element_),
                        to = place_of(copy.to, copy.extent, field, element_);
      const auto row_bytes = static_cast<unsigned>(copy.extent[2] * element_);
      unsigned bits = largest_item | row_bytes;
      for (const DevicePlace& place : {from, to})
        bits |= static_cast<unsigned>(place.begin | place.plane_stride | place.row_stride);
      const unsigned item = 1u << std::countr_zero(bits);
      table.push_back({items_, from, to, static_cast<unsigned>(copy.extent[1]), row_bytes / item, item});
      items_ += copy.extent[0] * copy.extent[1] * (row_bytes / item);
    }
    const std::size_t bytes = table.size() * sizeof(DeviceCopy);
    table_ = DeviceBuffer(bytes);
    // On the kernels' stream: a plain cudaMemcpy may return before the last bytes are on the device.
    check_cuda(cudaMemcpyAsync(table_.data(), table.data(), bytes, cudaMemcpyHostToDevice, stream_));
  }

  const Kernel& kernel_;
  cudaStream_t stream_;
  std::int64_t element_;
  std::vector<BoxCopy> copies_;
  mutable DeviceBuffer table_;
  mutable std::int64_t items_ = 0;
};

}  // namespace

DevicePacker::DevicePacker(cudaStream_t stream, const KernelCompiler& compiler)
    : stream_(stream),
      kernel_(std::make_shared<const Kernel>(compiler.begin("pack.cuh", ""), "copy_boxes")) {}

std::unique_ptr<Packing> DevicePacker::prepare(std::vector<BoxCopy> copies, Precision precision) {
  return std::make_unique<DevicePacking>(*kernel_, stream_, std::move(copies), precision);
}

}  // namespace spsolve::cuda
