// SPDX-License-Identifier: Apache-2.0
#include "kernels/field.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "kernels/error.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {
namespace {

constexpr std::int64_t row_alignment = 64;   // bytes: a cache line, and the widest vector register
constexpr std::size_t large_page = 2 << 20;  // bytes, on x86-64 and on AArch64 with 4 KiB pages

struct MemoryLayout {
  Index3 strides;
  std::int64_t lead;
  std::size_t bytes;
};

/// `before` is the number of columns before the aligned one.
MemoryLayout layout_of(const Index3& extent, const Index3& halo, Precision precision, std::int64_t before) {
  const auto element = static_cast<std::int64_t>(storage_bytes(precision));
  const std::int64_t per_line = row_alignment / element;
  const std::int64_t lead = round_up(before, per_line) - before;
  const std::int64_t pitch = row_pitch(lead + extent[x_axis] + 2 * halo[x_axis], element);
  const std::int64_t rows = extent[y_axis] + 2 * halo[y_axis];
  const std::int64_t planes = extent[z_axis] + 2 * halo[z_axis];
  // Sizes beyond the memory of any machine are cut off, so that callers can still add several of them.
  constexpr double max_bytes = 0x1p60;
  const double bytes = static_cast<double>(planes) * static_cast<double>(rows) * static_cast<double>(pitch) *
                       static_cast<double>(element);
  return {{rows * pitch, pitch, 1}, lead, static_cast<std::size_t>(std::min(bytes, max_bytes))};
}

class HostMemory : public Memory {
 public:
  std::byte* allocate(std::size_t bytes, std::size_t row_bytes) override {
    const std::size_t alignment = bytes < large_page ? row_alignment : large_page;
    const std::size_t rounded = round_up(bytes, alignment);
    auto* memory = static_cast<std::byte*>(std::aligned_alloc(alignment, rounded));
    if (!memory)
      throw Error(Status::device_failure,
                  "out of memory: the system gives no " + std::to_string(rounded) + " bytes for a field");
#ifdef MADV_HUGEPAGE
    // This is only advice and may fail. It helps because rows of many planes lie on more pages than the TLB
    // holds.
    if (alignment == large_page) static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
#endif
    const auto rows = static_cast<std::int64_t>(bytes / row_bytes);
#pragma omp parallel for schedule(static)
    for (std::int64_t row = 0; row < rows; ++row)
      std::memset(memory + static_cast<std::size_t>(row) * row_bytes, 0, row_bytes);
    std::memset(memory + static_cast<std::size_t>(rows) * row_bytes, 0, bytes % row_bytes);
    return memory;
  }
  void free(std::byte* memory) noexcept override { std::free(memory); }
};

}  // namespace

Memory& host_memory() {
  static HostMemory memory;  // stateless
  return memory;
}

std::int64_t row_pitch(std::int64_t elements, std::int64_t element_bytes) {
  constexpr std::int64_t channel_period = 1024;  // bytes
  const std::int64_t bytes = round_up(elements * element_bytes, row_alignment);
  return (bytes % channel_period == 0 ? bytes + row_alignment : bytes) / element_bytes;
}

Field::Field(const Box& owned, const Index3& halo, Precision precision, Memory& memory)
    : Field(owned, halo, precision, memory, owned.begin[x_axis]) {}

Field::Field(const Box& owned, const Index3& halo, Precision precision, Memory& memory, std::int64_t aligned)
    : owned_(owned),
      halo_(halo),
      aligned_(aligned),
      precision_(precision),
      element_(static_cast<std::int64_t>(storage_bytes(precision))),
      memory_(nullptr, FreeMemory{&memory}) {
  const MemoryLayout layout = layout_of(owned.extent(), halo, precision, aligned - allocated().begin[x_axis]);
  strides_ = layout.strides;
  lead_ = layout.lead;
  bytes_ = layout.bytes;
  memory_ = allocate(memory, bytes_ + row_alignment,
                     bytes_ ? static_cast<std::size_t>(pitch() * element_) : std::size_t{row_alignment});
}

std::size_t field_bytes(const Index3& owned_extent, const Index3& halo, Precision precision) {
  return layout_of(owned_extent, halo, precision, halo[x_axis]).bytes + row_alignment;
}

std::size_t field_bytes(const Box& owned, Precision precision, std::int64_t aligned) {
  return layout_of(owned.extent(), {}, precision, aligned - owned.begin[x_axis]).bytes + row_alignment;
}

}  // namespace spsolve
