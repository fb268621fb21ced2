// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "halo/decomposition.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

TEST(Decomposition, BlocksTileTheGridAndDifferByOnePoint) {
  for (const Index3 shape : {Index3{17, 5, 31}, Index3{1, 7, 7}, Index3{1, 1, 13}})
    for (const Index3 ranks : {Index3{1, 1, 1}, Index3{1, 1, 7}, Index3{1, 5, 3}, Index3{11, 2, 2}}) {
      if (ranks[0] > shape[0] || ranks[1] > shape[1] || ranks[2] > shape[2]) continue;
      const Decomposition decomposition(shape, ranks);
      std::int64_t points = 0;
      for (int rank = 0; rank < decomposition.ranks(); ++rank) {
        const Box block = decomposition.block(rank);
        points += block.points();
        EXPECT_EQ(decomposition.rank_at(decomposition.coordinates(rank)), rank);
        for (int axis = 0; axis < axis_count; ++axis) {
          const std::int64_t extent = block.extent()[axis], even = shape[axis] / ranks[axis];
          EXPECT_TRUE(extent == even || extent == even + 1);
          for (std::int64_t i = block.begin[axis]; i < block.end[axis]; ++i)
            EXPECT_EQ(decomposition.block_of(axis, i), decomposition.coordinates(rank)[axis]);
        }
        for (int other = 0; other < rank; ++other)
          EXPECT_TRUE(intersect(block, decomposition.block(other)).empty()) << rank << " and " << other;
      }
      EXPECT_EQ(points, volume(shape));
    }
}

TEST(Decomposition, MoreBlocksThanPointsIsAnError) {
  EXPECT_THROW(Decomposition({1, 4, 4}, {2, 1, 1}), Error);
  EXPECT_THROW(Decomposition({1, 4, 4}, {1, 0, 1}), Error);
}

TEST(LeastSurface, CutsTheSlowestAxisOfACubeFirst) {
  const Index3 halo{1, 1, 1};
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 1, halo), (Index3{1, 1, 1}));
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 2, halo), (Index3{2, 1, 1}));
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 7, halo), (Index3{7, 1, 1}));
  // The surface equals that of 2 x 2 x 2, and rows stay whole.
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 8, halo), (Index3{4, 2, 1}));
}

TEST(LeastSurface, CutsFewAxesOfGridsOnGpus) {
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 8, {4, 4, 4}, gpu_face_cost), (Index3{8, 1, 1}));
  EXPECT_EQ(min_surface_rank_grid({1, 64, 64}, 8, {0, 8, 8}, gpu_face_cost), (Index3{1, 8, 1}));
  EXPECT_EQ(min_surface_rank_grid({64, 64, 64}, 64, {4, 4, 4}, gpu_face_cost), (Index3{16, 4, 1}));
  // Rows are cut only if no other axis can be.
  EXPECT_EQ(min_surface_rank_grid({1, 1, 64}, 8, {0, 0, 8}, gpu_face_cost), (Index3{1, 1, 8}));
}

TEST(LeastSurface, LeavesAbsentAxesAlone) {
  EXPECT_EQ(min_surface_rank_grid({1, 1000, 10}, 4, {0, 1, 1}), (Index3{1, 4, 1}));
  EXPECT_EQ(min_surface_rank_grid({1, 1, 100}, 5, {0, 0, 3}), (Index3{1, 1, 5}));
}

TEST(LeastSurface, NoOtherGridHasLessSurface) {
  const Index3 shape{30, 77, 51}, halo{2, 1, 3};
  const auto surface = [&](const Index3& grid) {
    double sum = 0;
    for (int axis = 0; axis < axis_count; ++axis)
      if (grid[axis] > 1) {
        const int a = (axis + 1) % 3, b = (axis + 2) % 3;
        sum += static_cast<double>(halo[axis]) * static_cast<double>(shape[a] * shape[b]) /
               static_cast<double>(grid[a] * grid[b]);
      }
    return sum;
  };
  for (int ranks = 1; ranks <= 24; ++ranks) {
    const double best = surface(min_surface_rank_grid(shape, ranks, halo));
    for (std::int64_t z = 1; z <= ranks; ++z)
      for (std::int64_t y = 1; z * y <= ranks; ++y) {
        if (ranks % (z * y) != 0) continue;
        EXPECT_LE(best, surface({z, y, ranks / (z * y)}) * (1 + 1e-12)) << ranks << " ranks";
      }
  }
}

TEST(LeastSurface, RanksThatDoNotFitAreAnError) {
  EXPECT_THROW(min_surface_rank_grid({1, 1, 3}, 4, {0, 0, 1}), Error);
  EXPECT_THROW(min_surface_rank_grid({2, 2, 2}, 7, {1, 1, 1}), Error);
}

}  // namespace
}  // namespace spsolve
