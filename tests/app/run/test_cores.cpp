// SPDX-License-Identifier: Apache-2.0
#include "app/run/cores.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <vector>

namespace spsolve {
namespace {

struct Cores {
  int first, count;
};

/// Returns the threads of every rank of a machine whose ranks may run on these cores.
std::vector<int> threads_of(std::initializer_list<Cores> ranks) {
  std::vector<CoreMask> masks;
  for (const auto [first, count] : ranks) {
    CoreMask& mask = masks.emplace_back();
    for (int core = first; core < first + count; ++core)
      mask[static_cast<std::size_t>(core) / 64] |= std::uint64_t{1} << core % 64;
  }
  std::vector<int> threads;
  for (int rank = 0; rank < std::ssize(masks); ++rank) threads.push_back(threads_of_rank(masks, rank));
  return threads;
}

TEST(ThreadsOfRank, RanksBoundToTheirOwnCoresTakeAllOfThem) {
  EXPECT_EQ(threads_of({{0, 96}}), (std::vector{96}));
  EXPECT_EQ(threads_of({{0, 48}, {48, 48}}), (std::vector{48, 48}));
  EXPECT_EQ(threads_of({{0, 1}, {1, 3}}), (std::vector{1, 3}));
}

/// Open MPI binds more than two ranks to sockets; containers and jobs bind all of their ranks to some cores.
TEST(ThreadsOfRank, RanksThatShareTheirCoresDivideThem) {
  EXPECT_EQ(threads_of({{0, 48}, {48, 48}, {0, 48}, {48, 48}}), (std::vector{24, 24, 24, 24}));
  EXPECT_EQ(threads_of({{60, 8}, {60, 8}, {60, 8}, {60, 8}}), (std::vector{2, 2, 2, 2}));
  EXPECT_EQ(threads_of({{0, 2}, {0, 2}, {0, 2}}), (std::vector{1, 1, 1}));
  EXPECT_EQ(threads_of({{0, 8}, {0, 8}, {6, 2}}), (std::vector{2, 2, 1}));
}

TEST(ThreadsOfRank, AreOneWhereTheMaskIsUnknown) {
  EXPECT_EQ(threads_of({{0, 0}, {0, 4}}), (std::vector{1, 4}));
}

}  // namespace
}  // namespace spsolve
