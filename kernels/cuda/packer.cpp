// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/packer.hpp"

#include <algorithm>

#include "kernels/cuda/pack_arguments.hpp"

namespace spsolve::cuda {

class DevicePacking : public Packing {
 public:
  DevicePacking(DevicePacker& packer, std::vector<PackedBox> boxes, Precision precision)
      : kernels_(packer.kernels_[precision == Precision::fp64    ? 2
                                 : storage_bytes(precision) == 4 ? 1
                                                                 : 0]),
        stream_(packer.stream_),
        element_(static_cast<std::int64_t>(storage_bytes(precision))),
        boxes_(std::move(boxes)) {}

  void pack(const Field& field, std::byte* buffer) const override {
    // The kernel reads the field; its arguments are the same for both directions.
    launch(kernels_.pack, const_cast<Field&>(field), buffer);
  }
  void unpack(Field& field, const std::byte* buffer) const override {
    launch(kernels_.unpack, field, const_cast<std::byte*>(buffer));
  }

 private:
  void launch(const Kernel& kernel, Field& field, std::byte* buffer) const {
    if (boxes_.empty()) return;
    if (!table_.data()) make_table(field);
    constexpr unsigned threads = 256;
    const auto blocks =
        static_cast<unsigned>(std::min<std::int64_t>((elements_ + threads - 1) / threads, 4096));
    kernel.launch(blocks, threads, 0, stream_,
                  PackArguments{field.bytes_at(field.allocated().begin), buffer,
                                static_cast<const DeviceBox*>(table_.data()), static_cast<int>(boxes_.size()),
                                elements_, field.strides()[z_axis], field.strides()[y_axis]});
  }

  /// All fields have one geometry: where a box lies in memory is known with the first.
  void make_table(const Field& field) const {
    std::vector<DeviceBox> table;
    const Index3 origin = field.allocated().begin;
    for (const PackedBox& packed : boxes_) {
      const Index3 at = packed.box.begin - origin;
      table.push_back({elements_, static_cast<std::int64_t>(packed.offset) / element_,
                       at[0] * field.strides()[0] + at[1] * field.strides()[1] + at[2],
                       static_cast<unsigned>(packed.box.extent()[1]),
                       static_cast<unsigned>(packed.box.extent()[2])});
      elements_ += packed.box.points();
    }
    const std::size_t bytes = table.size() * sizeof(DeviceBox);
    table_ = DeviceBuffer(bytes);
    // On the kernels' stream: a plain cudaMemcpy may return before the last bytes are on the device.
    check_cuda(cudaMemcpyAsync(table_.data(), table.data(), bytes, cudaMemcpyHostToDevice, stream_));
  }

  const DevicePacker::Kernels& kernels_;
  cudaStream_t stream_;
  std::int64_t element_;
  std::vector<PackedBox> boxes_;
  mutable DeviceBuffer table_;
  mutable std::int64_t elements_ = 0;
};

DevicePacker::DevicePacker(cudaStream_t stream, const KernelCompiler& compiler)
    : stream_(stream), kernels_([&] {
        const std::vector<char> code = compiler.compile("pack.cuh", "");
        return std::array<Kernels, 3>{Kernels{Kernel(code, "pack_2"), Kernel(code, "unpack_2")},
                                      Kernels{Kernel(code, "pack_4"), Kernel(code, "unpack_4")},
                                      Kernels{Kernel(code, "pack_8"), Kernel(code, "unpack_8")}};
      }()) {}

std::unique_ptr<Packing> DevicePacker::prepare(std::vector<PackedBox> boxes, Precision precision) {
  return std::make_unique<DevicePacking>(*this, std::move(boxes), precision);
}

}  // namespace spsolve::cuda
