// SPDX-License-Identifier: Apache-2.0
#include <H5PLextern.h>

#include <atomic>
#include <cstdint>

namespace {

std::atomic<std::int64_t> decoded{0};  // chunks

/// Inverts all bits, forwards and backwards. Bytes that begin with 0 are what it never makes of these tests'
/// values, and fail.
std::size_t invert(unsigned flags, std::size_t, const unsigned*, std::size_t bytes, std::size_t*,
                   void** buffer) {
  auto* const values = static_cast<std::uint8_t*>(*buffer);
  if ((flags & H5Z_FLAG_REVERSE) != 0) ++decoded;
  if ((flags & H5Z_FLAG_REVERSE) != 0 && bytes > 0 && values[0] == 0) return 0;
  for (std::size_t i = 0; i < bytes; ++i) values[i] = static_cast<std::uint8_t>(~values[i]);
  return bytes;
}

/// Has a number of those that are for tests, https://github.com/HDFGroup/hdf5_plugins.
const H5Z_class2_t inverting_filter{H5Z_CLASS_T_VERS, 300, 1, 1, "inverts", nullptr, nullptr, invert};

}  // namespace

extern "C" {
/// Returns how many chunks this process has decoded.
std::int64_t decodings() { return decoded; }
H5PL_type_t H5PLget_plugin_type() { return H5PL_TYPE_FILTER; }
const void* H5PLget_plugin_info() { return &inverting_filter; }
}
