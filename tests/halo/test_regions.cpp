// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <map>

#include "halo/regions.hpp"
#include "tests/support/wall_reflections.hpp"

namespace spsolve {
namespace {

class Regions : public ::testing::TestWithParam<int> {
 protected:
  testing::RandomCase problem{static_cast<std::uint64_t>(GetParam()), 2, 1500};
  Domain domain = problem.domain;
  Decomposition decomposition{domain.shape, random_rank_grid()};
  Index3 width = random_width();

  Regions() {
    for (int axis = 0; axis < axis_count; ++axis) {
      domain.reflected[axis] = !domain.periodic(axis) && problem.between(0, 1);
      for (Face& face : domain.faces[axis]) {
        face.value = 0.5 * static_cast<double>(problem.between(0, 2));
        if (domain.reflected[axis] && face.has_value() && problem.between(0, 1))
          face.kind = BoundaryKind::value;
      }
    }
  }
  /// Returns all points around a block that an exchange fills.
  Box with_copies(const Box& box) const {
    Domain plain = domain;
    for (int axis = 0; axis < axis_count; ++axis)
      if (domain.reflected[axis]) plain.faces[axis] = {};
    return plain.clip_to_walls(box);
  }

  Index3 random_rank_grid() {
    Index3 grid;
    for (int axis = 0; axis < axis_count; ++axis)
      grid[axis] = problem.between(1, std::min<std::int64_t>(4, domain.shape[axis]));
    return grid;
  }
  Index3 random_width() {  // often wider than a block, sometimes wider than the grid
    Index3 chosen{};
    for (int axis = domain.first_axis(); axis < axis_count; ++axis) chosen[axis] = problem.between(0, 9);
    return chosen;
  }
};

TEST_P(Regions, EveryHaloPointOfTheDomainIsReceivedOnceFromItsOwner) {
  for (int rank = 0; rank < decomposition.ranks(); ++rank) {
    std::map<Index3, int> received;
    for (const HaloRegion& region : halo_regions(domain, decomposition, rank, width).receive)
      for_each_point(region.box, [&](const Index3& p) {
        ASSERT_TRUE(received.emplace(p, region.peer).second) << "received twice";
      });
    const Box block = decomposition.block(rank);
    std::size_t expected = 0;
    for_each_point(with_copies(grow(block, width)), [&](const Index3& p) {
      if (contains(block, p)) return;
      ++expected;
      const Index3 original = testing::reflected_point(domain, p).point;
      Index3 home;
      for (int axis = 0; axis < axis_count; ++axis) home[axis] = decomposition.block_of(axis, original[axis]);
      ASSERT_TRUE(received.count(p));
      EXPECT_EQ(received[p], decomposition.rank_at(home));
    });
    EXPECT_EQ(received.size(), expected) << "rank " << rank;
  }
}

TEST_P(Regions, SendsAndReceivesOfAPairMatchInOrder) {
  // Corners are compared one by one, because a reflected box swaps its corners.
  const auto is_copy_of = [&](const HaloRegion& original, const HaloRegion& copy) {
    if (original.box.extent() != copy.box.extent() || !(original.reflection == copy.reflection)) return false;
    Index3 first = copy.box.begin, last = copy.box.end - Index3{1, 1, 1};
    for (int axis = 0; axis < axis_count; ++axis)
      if (copy.reflection.reversed[axis]) std::swap(first[axis], last[axis]);
    const testing::ReflectedPoint begin = testing::reflected_point(domain, first),
                                  end = testing::reflected_point(domain, last);
    return begin.point == original.box.begin && end.point == original.box.end - Index3{1, 1, 1} &&
           begin.scale == copy.reflection.scale && begin.offset == copy.reflection.offset;
  };
  std::vector<HaloRegions> all;
  for (int rank = 0; rank < decomposition.ranks(); ++rank)
    all.push_back(halo_regions(domain, decomposition, rank, width));
  const auto with_peer = [](const std::vector<HaloRegion>& regions, int peer) {
    std::vector<HaloRegion> chosen;
    for (const HaloRegion& region : regions)
      if (region.peer == peer) chosen.push_back(region);
    return chosen;
  };
  for (int from = 0; from < decomposition.ranks(); ++from)
    for (int to = 0; to < decomposition.ranks(); ++to) {
      const auto sent = with_peer(all[from].send, to), received = with_peer(all[to].receive, from);
      ASSERT_EQ(sent.size(), received.size()) << from << " to " << to;
      for (std::size_t i = 0; i < sent.size(); ++i) {
        EXPECT_TRUE(is_copy_of(sent[i], received[i])) << from << " to " << to << ", region " << i;
        EXPECT_TRUE(contains(decomposition.block(from), sent[i].box));
      }
    }
}

TEST_P(Regions, TheInteriorDependsOnNothingFromOtherRanks) {
  for (int rank = 0; rank < decomposition.ranks(); ++rank) {
    const Box inside = interior(domain, decomposition, rank, width);
    if (inside.empty()) continue;
    EXPECT_TRUE(contains(decomposition.block(rank), inside));
    for (const HaloRegion& region : halo_regions(domain, decomposition, rank, width).receive) {
      if (region.peer == rank) continue;
      EXPECT_TRUE(intersect(grow(inside, width), region.box).empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Random, Regions, ::testing::Range(0, 150));

}  // namespace
}  // namespace spsolve
