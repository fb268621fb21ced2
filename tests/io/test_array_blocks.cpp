// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <vector>

#include "io/array_blocks.hpp"

namespace spsolve {
namespace {

TEST(ArrayBlocks, CoverTheArrayOnceInOrder) {
  for (const std::int64_t points :
       {std::int64_t{1}, std::int64_t{524287}, std::int64_t{524288}, std::int64_t{524289},
        std::int64_t{2'147'483'659}, std::int64_t{1} << 37}) {
    const auto blocks = ArrayBlocks::of(points, 8);
    EXPECT_EQ(blocks.begin(0), 0);
    EXPECT_EQ(blocks.end(blocks.count() - 1), points);
    EXPECT_LT(blocks.begin(blocks.count() - 1), points);
    EXPECT_LE(blocks.count(), ArrayBlocks::max_blocks);
    for (std::int64_t b = 1; b < blocks.count(); ++b) EXPECT_EQ(blocks.begin(b), blocks.end(b - 1));
  }
}

TEST(ArrayBlocks, EveryBlockHasOneRank) {
  const auto blocks = ArrayBlocks::of(7'000'003, 8);  // 14 blocks
  for (const int ranks : {1, 2, 3, 5, 8, 14, 17, 100}) {
    EXPECT_EQ(blocks.first_of(0, ranks), 0);
    EXPECT_EQ(blocks.first_of(ranks, ranks), blocks.count());
    const std::int64_t rounds = (blocks.count() + ranks - 1) / ranks;
    for (int rank = 0; rank < ranks; ++rank) {
      const std::int64_t own = blocks.first_of(rank + 1, ranks) - blocks.first_of(rank, ranks);
      EXPECT_GE(own, 0);
      EXPECT_LE(own, rounds);
    }
  }
}

TEST(ForEachSegment, FindsEveryElementOfTheBoxAndRangeOnce) {
  const Index3 shape{3, 5, 7};
  const std::int64_t points = volume(shape);
  const std::vector<Box> boxes{box_of(shape),          {{1, 0, 0}, {2, 5, 7}}, {{0, 1, 2}, {3, 4, 6}},
                               {{2, 4, 6}, {3, 5, 7}}, {{0, 0, 3}, {3, 5, 3}}, {}};
  for (const Box& box : boxes)
    for (std::int64_t first = 0; first <= points; ++first)
      for (std::int64_t last = first; last <= points; ++last) {
        std::vector<int> expected(static_cast<std::size_t>(points)), found(expected);
        for (std::int64_t i = first; i < last; ++i) {
          const Index3 p{i / 35, i / 7 % 5, i % 7};
          expected[i] = !box.empty() && contains(box, p);
        }
        std::int64_t previous = -1;
        for_each_segment(shape, box, first, last,
                         [&](const Index3& p, std::int64_t count, std::int64_t position) {
                           ASSERT_EQ(position, (p[0] * 5 + p[1]) * 7 + p[2]);
                           ASSERT_GT(position, previous) << "not in C order";
                           ASSERT_GT(count, 0);
                           for (std::int64_t i = 0; i < count; ++i) ++found[position + i];
                           previous = position;
                         });
        ASSERT_EQ(found, expected) << "elements " << first << " to " << last;
      }
}

TEST(ForEachPart, CutsABoxIntoPartsInCOrder) {
  const Box box{{2, 3, 5}, {5, 14, 12}};
  for (const std::int64_t most : {1, 2, 7, 11, 78, 1000}) {
    std::vector<Index3> visited;
    for_each_part(box, most, [&](const Box& part) {
      EXPECT_LE(part.points(), most);
      for_each_point(part, [&](const Index3& p) { visited.push_back(p); });
    });
    ASSERT_EQ(static_cast<std::int64_t>(visited.size()), box.points());
    for (std::size_t i = 1; i < visited.size(); ++i) ASSERT_LT(visited[i - 1], visited[i]);
  }
  for_each_part(Box{}, 1, [](const Box&) { FAIL() << "an empty box has no parts"; });
}

}  // namespace
}  // namespace spsolve
