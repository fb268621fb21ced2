// SPDX-License-Identifier: Apache-2.0
//
// The error bound that the plan relies on must hold: no emulated launch of hundreds of random stencils may
// exceed it.
#include <gtest/gtest.h>

#include <cmath>

#include "kernels/cpu/cpu_unit.hpp"
#include "kernels/reduction.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "kernels/sparse/emulation/emulated_sweep.hpp"
#include "tests/kernels/sparse/stencil_zoo.hpp"

namespace spsolve {
namespace {

constexpr Layout all_layouts[] = {Layout::strided_swap, Layout::morph, Layout::dual_tessellation,
                                  Layout::separable};

/// Holds the error of a launch on random data in the L2 and the maximum norm, relative to sum |w^t| times the
/// norm of the initial data.
struct Measured {
  double l2, max;
};
template <class Run>
Measured measure(std::mt19937_64& random, const Stencil& fused, Precision precision, Run&& run) {
  Box owned = box_of({1, 1, 23});
  for (const int axis : {z_axis, y_axis})
    if (fused.radius()[axis] > 0) owned.end[axis] = 3;
  const Index3& radius = fused.radius();
  Field in(owned, radius, precision), out(owned, radius, precision);
  double before_l2 = 0, before_max = 0, l2 = 0, max = 0, weights = 0;
  return with_storage(precision, [&]<class Storage>() {
    for (const Index3& p : points_of(in.allocated())) {
      *in.at<Storage>(p) = to_storage<Storage>(std::uniform_real_distribution<double>(-1.0, 1.0)(random));
      const double value = stored_value(*in.at<Storage>(p));
      before_l2 += value * value;
      before_max = std::max(before_max, std::abs(value));
    }
    HostReducer().raise_magnitude_bound(in, in.allocated());
    run(in, out, owned);
    weights += sum_abs(fused);
    for (const Index3& p : points_of(owned)) {
      double exact = 0;
      for (const Tap& tap : fused.taps()) exact += tap.weight * stored_value(*in.at<Storage>(p + tap.offset));
      const double error = std::abs(stored_value(*out.at<Storage>(p)) - exact);
      l2 += error * error;
      max = std::max(max, error);
    }
    return Measured{std::sqrt(l2 / before_l2) / weights, max / before_max / weights};
  });
}

/// Bounds the error of the reference itself, which sums in double.
double reference_error(const Stencil& fused) {
  return static_cast<double>(fused.taps().size() + 1) * 0x1p-53;
}

class Accuracy : public ::testing::TestWithParam<int> {};

TEST_P(Accuracy, OfEverySweepKeepsItsBound) {
  std::mt19937_64 random(3000u + static_cast<std::uint64_t>(GetParam()));
  const auto zoo = testing::random_zoo_stencil(random);
  const int steps = zoo.stencil.taps().size() < 12 ? 1 + GetParam() % 3 : 1;
  const Stencil fused = fuse_steps(zoo.stencil, steps);
  const Index3 shape{fused.radius()[z_axis] > 0 ? 16 : 1, 16, 64};
  for (const Precision precision : all_precisions)
    for (const Layout layout : all_layouts) {
      if (!supports(layout, precision)) continue;
      // The sums of both sparse layouts are alike, so each is tested on half of the stencils (matching is
      // slow).
      if (layout == (GetParam() % 2 ? Layout::morph : Layout::strided_swap)) continue;
      if (layout == Layout::morph && fused.taps().size() > 40) continue;
      const double dropped = GetParam() % 2 ? unit_roundoff(precision) / 4 : 0x1p-6;
      SCOPED_TRACE(zoo.name + " steps " + std::to_string(steps) + " " + std::string(to_string(precision)) +
                   " " + std::string(to_string(layout)));
      const auto sweep = required(make_emulated_sweep(fused, precision, layout, dropped, shape));
      const Measured error = measure(
          random, fused, precision,
          [&](const Field& in, Field& out, const Box& region) { (*sweep)(in, out, region, nullptr); });
      const LaunchError bound = sweep_error(fused, precision, layout, dropped);
      EXPECT_LE(error.l2, bound.total() + reference_error(fused));
      EXPECT_LE(error.max, bound.total() + reference_error(fused));
    }
}

TEST_P(Accuracy, OfTheScalarUnitKeepsItsBound) {
  std::mt19937_64 random(4000u + static_cast<std::uint64_t>(GetParam()));
  const Stencil stencil = testing::random_zoo_stencil(random).stencil;
  const int steps = stencil.taps().size() < 50 ? 1 + GetParam() % 4 : 1;
  const Stencil fused = fuse_steps(stencil, steps);
  for (const Precision precision : all_precisions) {
    SCOPED_TRACE(to_string(precision));
    const Domain everywhere{3, {1 << 20, 1 << 20, 1 << 20}, {}};
    const CpuUnit unit(everywhere, stencil, precision, nullptr);
    const Measured error = measure(
        random, fused, precision,
        [&](const Field& in, Field& out, const Box& region) { unit.advance(in, out, region, steps); });
    const double bound = scalar_error(stencil, steps, precision).total();
    EXPECT_LE(error.l2, bound + reference_error(fused));
    EXPECT_LE(error.max, bound + reference_error(fused));
  }
}

TEST(ScalarError, IsANumberHoweverLittleItSays) {
  const Stencil cancels({1, 1, 9}, {1, 0, 0, 0, 0, 0, 0, 0, -1}, {0, 0, 4});  // every wave of 8 points
  const Stencil grows({1, 1, 3}, {0.375, 0.75, -0.125}, {0, 0, 1});
  for (const Precision precision : all_precisions) {
    EXPECT_TRUE(std::isfinite(scalar_error(cancels, 3, precision).total()));
    EXPECT_TRUE(std::isfinite(scalar_error(grows, 5000, precision).total()));
  }
}

INSTANTIATE_TEST_SUITE_P(Zoo, Accuracy, ::testing::Range(0, 120));

}  // namespace
}  // namespace spsolve
