// SPDX-License-Identifier: Apache-2.0
#include "solver/window_reader.hpp"

#include <algorithm>
#include <utility>

namespace spsolve {

WindowReader::WindowReader(const Field& values, std::size_t window_bytes, TakeWindow take)
    : values_(values), window_bytes_(window_bytes), take_(std::move(take)) {}

WindowReader::WindowReader(const WindowReader& other)
    : WindowReader(other.values_, other.window_bytes_, other.take_) {}

const std::byte* WindowReader::operator()(const Index3& begin, std::int64_t elements) {
  const std::size_t element = storage_bytes(values_.precision());
  const std::byte* const first = values_.bytes_at(begin);
  const auto bytes = static_cast<std::size_t>(elements) * element;
  if (first < first_ || first + bytes > last_) {
    if (!window_) window_ = take_();
    const std::byte* const end = values_.bytes_at(values_.owned().end - Index3{1, 1, 1}) + element;
    const std::size_t brought =
        std::min(std::max(window_bytes_, bytes), static_cast<std::size_t>(end - first));
    first_ = last_ = nullptr;  // the window holds nothing if this fails
    on_host_ = window_->bring(first, brought);
    first_ = first;
    last_ = first + brought;
  }
  return on_host_ + (first - first_);
}

}  // namespace spsolve
