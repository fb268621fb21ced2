// SPDX-License-Identifier: Apache-2.0
// Runs separable tensor sweeps, as they are compiled for GPUs, in an emulation of their blocks, of the copy
// engine and of tensor cores. No GPU is needed.
#include <gtest/gtest.h>

#include <cmath>

#include "emulated.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "separable_case.hpp"
#include "tests/support/fields.hpp"
#include "tile_map.hpp"

namespace spsolve::cuda {
namespace {

using testing::value_at;

/// Runs one launch, with strips of several blocks of input.
void launch(const EmulatedSeparableCase& c, const Field& in, Field& out, const Field& source,
            const Box& region) {
  constexpr std::array<int, 3> axes{z_axis, y_axis, x_axis};
  const SeparableProgram program = c.program();
  SeparableArguments a =
      program.arguments(view_of(in, axes), view_of(out, axes), c.with_source ? view_of(source, axes) : View{},
                        region_of(region, axes));
  a.steps_per_strip = 2;
  a.planes_per_block = 4;
  const std::vector<WeightChunk> weights = chunks_of(program.weights());
  const std::vector<std::uint32_t> metadata = program.metadata();
  a.weights = weights.data();
  a.metadata = metadata.data();
  const emulated::TileMap maps[]{{program.input_box(a)}, {program.output_box(a)}, {program.source_box(a)}};
  emulated::set_tile_map(a.in_map, &maps[0]);
  emulated::set_tile_map(a.out_map, &maps[1]);
  emulated::set_tile_map(a.source_map, &maps[2]);
  launch_emulated_separable(a, program.blocks(a), program.threads(c.with_source));
}

TEST(EmulatedSeparable, IsTheCorrelation) {
  const EmulatedSeparableCase& c = case_named(emulated_case, separable_cases);
  const SeparableStencil stencil = c.stencil();
  // Rows of the input begin at multiples of 16 bytes; rows of results do not if they need not.
  const Index3 halo{c.radius[z_axis], c.radius[y_axis], round_up(c.radius[x_axis], 8)};
  const Box owned = box_of(c.shape);
  Box region = owned;
  ++region.begin[x_axis];
  region.end[x_axis] -= 2;
  ++region.begin[y_axis];
  region.end[y_axis] -= 3;
  std::mt19937_64 random(42);
  const Field in = testing::random_field(random, owned, halo, c.precision);
  const Field source = testing::random_field(random, owned, {0, 0, 0}, Precision::fp32);
  constexpr double untouched = 77;
  Field out = testing::make_field(owned, {0, 0, c.aligned ? 8 : 3}, c.precision, [&] { return untouched; });
  launch(c, in, out, source, region);

  const double bound = testing::separable_bound(stencil, c.precision);
  const std::vector<double> sums = testing::correlate(stencil, in);
  std::size_t at = 0;
  int wrong = 0;
  for_each_point(owned, [&](const Index3& p) {
    const double sum = sums[at++] + (c.with_source ? value_at(source, p) : 0.0);
    const bool inside = contains(region, Box{p, p + Index3{1, 1, 1}});
    const double wanted = inside ? sum : untouched, found = value_at(out, p);
    if (!(std::abs(found - wanted) <= (inside ? bound : 0.0)) && wrong++ < 5)
      ADD_FAILURE() << found << " for " << wanted << " at " << p[0] << ", " << p[1] << ", " << p[2];
  });
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace spsolve::cuda
