// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "kernels/cuda/mma_sweep.hpp"
#include "mma_sweep_case.hpp"
#include "tests/support/device_fields.hpp"

namespace spsolve::cuda {
namespace {

/// Rows that are whole: what is read beyond an end comes from the other end, whatever the halo holds.
class RowsOnTensorCores : public ::testing::TestWithParam<SweepCase> {
 protected:
  void SetUp() override { testing::require_gpu(); }
};

TEST_P(RowsOnTensorCores, AreWrapped) {
  const SweepCase& c = GetParam();
  std::mt19937_64 random(9200u);
  const Stencil stencil = make_stencil(c, random);
  Domain domain = domain_of(3);
  domain.shape = {23, 37, 312 + 16 / static_cast<std::int64_t>(storage_bytes(c.precision))};
  Field in = random_field(random, domain.box(), stencil.radius(), c.precision);
  testing::set_halo_columns(in, [](const Index3&) { return 77.0; });
  const Field before = random_field(random, domain.box(), stencil.radius(), c.precision),
              device_in = testing::to_device(in);
  testing::set_halo_columns(in, [&](const Index3& p) { return testing::wrapped_value(in, p); });
  Box region = domain.box();
  region.begin[y_axis] += 3;
  region.end[z_axis] -= 2;
  const Stream stream;
  Field device_out = testing::to_device(before);
  const MmaSweep sweep(domain, stencil, c.precision, c.layout, c.cores, stream, {});
  EXPECT_TRUE(sweep.wraps_rows(device_in));
  sweep(device_in, device_out, region, nullptr);
  stream.synchronize();
  expect_correlation(stencil, c, in, before, testing::to_host(device_out), nullptr, region);
}

INSTANTIATE_TEST_SUITE_P(Wrapped, RowsOnTensorCores,
                         ::testing::Values(SweepCase{3, 3, star, fp16, morph, sparse},
                                           SweepCase{3, 2, box, fp16, morph, sparse},
                                           SweepCase{3, 3, scattered, bf16, swap, sparse},
                                           SweepCase{3, 3, lopsided, bf16, morph, dense},
                                           SweepCase{3, 9, star, fp16, morph, sparse},
                                           SweepCase{3, 2, lopsided, tf32, morph, sparse},
                                           SweepCase{3, 2, box, fp32, morph, sparse},
                                           SweepCase{3, 1, star, fp32, swap, sparse},
                                           SweepCase{3, 2, box, fp64, morph, dense}),
                         [](const auto& test) { return name_of(test.param); });

}  // namespace
}  // namespace spsolve::cuda
