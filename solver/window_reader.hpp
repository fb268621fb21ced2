// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>

#include "kernels/field.hpp"

namespace spsolve {

/// Reads points of a field in the memory of a device for one thread; it is an ElementReader
/// (kernels/sampling.hpp). The points come through a window on the host, which holds a part of the field.
class WindowReader {
 public:
  /// Represents host memory that parts of a field are brought to, one after the other.
  class FieldWindow {
   public:
    virtual ~FieldWindow() = default;
    /// Brings `bytes` bytes of the device from the address `first` on. Returns where they are until the next
    /// call.
    virtual const std::byte* bring(const std::byte* first, std::size_t bytes) = 0;
  };
  using TakeWindow = std::function<std::unique_ptr<FieldWindow>()>;

  /// A part has `window_bytes` bytes, or more if a caller asks for more at a time. The reader takes a window
  /// when it is first called, and keeps it. The field must outlive the reader.
  WindowReader(const Field& values, std::size_t window_bytes, TakeWindow take);
  /// Makes a reader of the same field that has a window of its own.
  WindowReader(const WindowReader& other);
  WindowReader& operator=(const WindowReader&) = delete;

  const std::byte* operator()(const Index3& begin, std::int64_t elements);

 private:
  const Field& values_;
  std::size_t window_bytes_;
  TakeWindow take_;
  std::unique_ptr<FieldWindow> window_;
  const std::byte *first_ = nullptr, *last_ = nullptr;  // what the window holds, by its place on the device
  const std::byte* on_host_ = nullptr;                  // where `first_` is in the window
};

}  // namespace spsolve
