// SPDX-License-Identifier: Apache-2.0
// Runs the general tensor sweep, as it is compiled for GPUs, in an emulation of its blocks and of tensor
// cores. No GPU is needed.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "emulated.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/rounding.hpp"
#include "kernels/sparse/accuracy.hpp"
#include "mma_case.hpp"
#include "tests/support/fields.hpp"
#include "tile_map.hpp"

namespace spsolve::cuda {
namespace {

using testing::value_at;

/// Runs one launch, cut in two along the march.
void launch(const EmulatedMmaCase& c, const Field& in, Field& out, const Field& source, const Box& region) {
  const MmaProgram program = c.program();
  const std::array<int, 3> axes = grid_axes(c.domain());
  MmaArguments a = program.arguments(view_of(in, axes), view_of(out, axes), view_of(source, axes),
                                     region_of(region, axes));
  ASSERT_EQ(program.is_aligned(a), c.aligned);
  const std::vector<WeightChunk> weights = chunks_of(program.weights());
  const std::vector<std::uint32_t> metadata = program.metadata();
  a.weights = weights.data();
  a.metadata = metadata.data();
  const emulated::TileMap map{program.copied_box(a.in)};
  emulated::set_tile_map(a.in_map, &map);
  a.chunks_per_block = program.tile().group ? program.tile().group : ceil_div(a.chunks, 2);
  launch_emulated_mma(a, static_cast<int>(program.blocks(a, column_axis)),
                      static_cast<int>(program.blocks(a, row_axis)),
                      static_cast<int>(ceil_div(a.chunks, a.chunks_per_block)), program.threads());
}

TEST(EmulatedMma, IsTheCorrelation) {
  const EmulatedMmaCase& c = case_named(emulated_case, mma_cases);
  const Stencil stencil = c.stencil();
  Box owned = c.domain().box();
  for (const int axis : {y_axis, x_axis})
    if (c.shape[axis] > 1 && !c.aligned) owned.begin[axis] -= 5, owned.end[axis] -= 5;
  Box region = owned;
  ++region.begin[x_axis];
  region.end[x_axis] -= 2;
  std::mt19937_64 random(32);
  const Precision sums = c.precision == Precision::fp64 ? Precision::fp64 : Precision::fp32;
  const Field in = testing::random_field(random, owned, c.radius, c.precision),
              source = testing::random_field(random, owned, {0, 0, 0}, sums);
  constexpr double untouched = 77;
  Field out = testing::make_field(owned, c.radius, c.precision, [&] { return untouched; });
  launch(c, in, out, source, region);

  // Errors of a launch relative to sum |w| max |u|, which is 1; the source is at most 1.
  const double magnitude = 1 + sum_abs(stencil);
  const Layout layout = c.precision == Precision::fp64 ? Layout::natural_order : c.layout;
  const double bound = sweep_error(stencil, c.precision, layout, 0.0).total() * magnitude;
  int wrong = 0;
  for_each_point(owned, [&](const Index3& p) {
    double wanted = value_at(source, p);
    for (const spsolve::Tap& tap : stencil.taps()) wanted += tap.weight * value_at(in, p + tap.offset);
    const bool inside = contains(region, Box{p, p + Index3{1, 1, 1}});
    const double found = value_at(out, p), most = inside ? bound : 0.0;
    if (!inside) wanted = untouched;
    if (!(std::abs(found - wanted) <= most) && wrong++ < 5)
      ADD_FAILURE() << found << " for " << wanted << " at " << p[0] << ", " << p[1] << ", " << p[2];
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace spsolve::cuda
