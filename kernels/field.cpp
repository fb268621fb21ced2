// SPDX-License-Identifier: Apache-2.0
#include "kernels/field.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace spsolve {
namespace {

constexpr std::int64_t row_alignment = 64;  // bytes: a cache line, and a vector register of any instruction set

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

struct Layout {
  Index3 strides;
  std::int64_t lead;
  std::size_t bytes;
};

Layout layout_of(const Index3& extent, const Index3& halo, Precision precision) {
  const auto element = static_cast<std::int64_t>(storage_bytes(precision));
  const std::int64_t per_line = row_alignment / element;
  const std::int64_t lead = round_up(halo[x_axis], per_line) - halo[x_axis];
  const std::int64_t pitch = round_up(lead + extent[x_axis] + 2 * halo[x_axis], per_line);
  const std::int64_t rows = extent[y_axis] + 2 * halo[y_axis];
  const std::int64_t planes = extent[z_axis] + 2 * halo[z_axis];
  return {{rows * pitch, pitch, 1}, lead, static_cast<std::size_t>(planes * rows * pitch * element)};
}

}  // namespace

Field::Field(const Box& owned, const Index3& halo, Precision precision)
    : owned_(owned),
      halo_(halo),
      precision_(precision),
      element_(static_cast<std::int64_t>(storage_bytes(precision))) {
  const Layout layout = layout_of(owned.extent(), halo, precision);
  strides_ = layout.strides;
  lead_ = layout.lead;
  bytes_ = layout.bytes;
  memory_.reset(static_cast<std::byte*>(std::aligned_alloc(row_alignment, bytes_ ? bytes_ : row_alignment)));
  if (!memory_) throw std::bad_alloc();
  // Each thread touches the planes that it will compute first, so that they lie in its memory (NUMA first touch).
  const std::int64_t row_bytes = strides_[y_axis] * element_;
  const std::int64_t rows = static_cast<std::int64_t>(bytes_) / row_bytes;
#pragma omp parallel for schedule(static)
  for (std::int64_t row = 0; row < rows; ++row)
    std::memset(memory_.get() + row * row_bytes, 0, static_cast<std::size_t>(row_bytes));
}

void Field::Free::operator()(std::byte* memory) const { std::free(memory); }

std::size_t field_bytes(const Index3& owned_extent, const Index3& halo, Precision precision) {
  return layout_of(owned_extent, halo, precision).bytes;
}

}  // namespace spsolve
