// SPDX-License-Identifier: Apache-2.0
#include "app/run/cores.hpp"

#include <gtest/gtest.h>

#include <initializer_list>
#include <string>
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

const JobCores of_mpirun{8, "mpirun", "mpirun --bind-to none"};

TEST(IdleCores, AreThoseBesideBoundRanks) {
  EXPECT_EQ(advice_on_idle_cores(of_mpirun, "node1", 1, 1),
            "7 of 8 cores of node1 lie idle: mpirun has bound 1 rank to fewer; use mpirun --bind-to none, or "
            "more ranks");
  EXPECT_EQ(
      advice_on_idle_cores(of_mpirun, "node1", 2, 2),
      "6 of 8 cores of node1 lie idle: mpirun has bound 2 ranks to fewer; use mpirun --bind-to none, or "
      "more ranks");
}

TEST(IdleCores, AreNoneIfThreadsTakeAllOrNobodyKnowsHowManyThereAre) {
  EXPECT_EQ(advice_on_idle_cores(of_mpirun, "node1", 8, 1), "");
  EXPECT_EQ(advice_on_idle_cores(of_mpirun, "node1", 9, 3), "");
  EXPECT_EQ(advice_on_idle_cores({}, "node1", 1, 1), "");
}

/// A job has other cores and ranks on each of its hosts, and each one counts for itself.
TEST(IdleCores, AreCountedOnEachHost) {
  const auto begin = [](int cores, const char* host, int threads, int ranks) {
    const std::string text =
        advice_on_idle_cores({cores, "srun", "srun --cpus-per-task"}, host, threads, ranks);
    return text.substr(0, text.find(" to fewer"));
  };
  EXPECT_EQ(begin(8, "node1", 3, 3), "5 of 8 cores of node1 lie idle: srun has bound 3 ranks");
  EXPECT_EQ(begin(2, "node2", 1, 1), "1 of 2 cores of node2 lie idle: srun has bound 1 rank");
  EXPECT_EQ(begin(1, "node3", 1, 1), "");
}

}  // namespace
}  // namespace spsolve
