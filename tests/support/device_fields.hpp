// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/sweep.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {

/// Skips the test if there is no GPU. Call it in SetUp().
inline void require_gpu() {
  std::string why;
  if (cuda::device_count(&why) == 0) GTEST_SKIP() << why;
}

/// Copies all memory of `from` to `to`, including halos, row padding and magnitude_bound(), and waits until
/// that is done.
inline void copy_all(const Field& from, Field& to) {
  const Index3 begin = from.allocated().begin;
  const auto lead = reinterpret_cast<std::uintptr_t>(from.bytes_at(begin)) % 64;  // padding of the first row
  cuda::check_cuda(
      cudaMemcpy(to.bytes_at(begin), from.bytes_at(begin), from.bytes() - lead, cudaMemcpyDefault));
  cuda::check_cuda(cudaMemcpy(to.magnitude_bound(), from.magnitude_bound(), sizeof *from.magnitude_bound(),
                              cudaMemcpyDefault));
  cuda::check_cuda(cudaDeviceSynchronize());  // such copies may still be in progress when the call returns
}

inline Field to_device(const Field& host) {
  static cuda::DeviceMemory memory;
  Field device(host.owned(), host.halo(), host.precision(), memory);
  copy_all(host, device);
  return device;
}

inline Field to_host(const Field& device) {
  Field host(device.owned(), device.halo(), device.precision());
  copy_all(device, host);
  return host;
}

/// Returns the result of sweeps over regions of a field filled with -7, in host memory.
inline Field swept(const Sweep& sweep, const cuda::Stream& stream, const Field& in,
                   const std::vector<Box>& regions, const Field* source = nullptr) {
  const Field device_in = to_device(in);
  const std::optional<Field> device_source = source ? std::optional(to_device(*source)) : std::nullopt;
  Field out = to_device(make_field(in.owned(), in.halo(), in.precision(), [] { return -7.0; }));
  for (const Box& region : regions) sweep(device_in, out, region, device_source ? &*device_source : nullptr);
  stream.synchronize();
  return to_host(out);
}

/// Checks that points have the same bits if `inner` and the points around it are swept separately, and if
/// only `block` is the owned part of the field.
inline void expect_bits_of_any_region(const Sweep& sweep, const cuda::Stream& stream, const Field& in,
                                      const Box& inner, const Box& block) {
  const Field whole = swept(sweep, stream, in, {in.owned()});
  std::vector<Box> regions{inner};
  for_each_slab(in.owned(), inner, [&](const Box& slab) { regions.push_back(slab); });
  EXPECT_EQ(points_of(swept(sweep, stream, in, regions), in.owned()), points_of(whole, in.owned()));

  Field cut(block, in.halo(), in.precision());
  *cut.magnitude_bound() = *in.magnitude_bound();
  with_storage(in.precision(), [&]<class Storage>() {
    for_each_point(cut.allocated(), [&](const Index3& p) { *cut.at<Storage>(p) = *in.at<Storage>(p); });
  });
  EXPECT_EQ(points_of(swept(sweep, stream, cut, {block}), block), points_of(whole, block));
}

}  // namespace spsolve::testing
