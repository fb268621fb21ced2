// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <array>
#include <thread>

#include "halo/collectively.hpp"
#include "halo/communicator.hpp"
#include "halo/mpi_session.hpp"
#include "tests/support/failing_rank.hpp"

namespace spsolve {
namespace {

TEST(Communicator, AnErrorOfOneRankIsThrownByAll) {
  const Communicator world;
  const int failing = world.size() - 1;
  try {
    collectively(world, [&] {
      if (world.rank() == failing) throw Error(Status::file_failure, "it failed");
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::file_failure);
    EXPECT_EQ(error.what(), "it failed" + testing::found_by(failing));
  }
}

TEST(Communicator, GathersTheValuesOfAllRanksInTheirOrder) {
  const Communicator world;
  const auto values = world.all_gather(std::array{world.rank(), 10 * world.rank()});
  ASSERT_EQ(values.size(), static_cast<std::size_t>(world.size()));
  for (int rank = 0; rank < world.size(); ++rank)
    EXPECT_EQ(values[static_cast<std::size_t>(rank)], (std::array{rank, 10 * rank}));
}

TEST(Communicator, FailuresOfTheFileSystemAreErrors) {
  const Communicator world;
  try {
    collectively(world, [&] {
      if (world.rank() == world.size() - 1) static_cast<void>(std::filesystem::file_size("missing"));
    });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::file_failure);
    EXPECT_EQ(error.what(), "missing: No such file or directory" + testing::found_by(world.size() - 1));
  }
}

TEST(Communicator, TheLowestRankIsHeard) {
  const Communicator world;
  try {
    collectively(world, [&] { throw Error(Status::invalid_input, std::to_string(world.rank())); });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "0");
  }
}

TEST(Communicator, NothingIsThrownWhereNothingFails) {
  bool worked = false;
  collectively(Communicator(), [&] { worked = true; });
  EXPECT_TRUE(worked);
}

TEST(Communicator, TextsArriveWhole) {
  const Communicator world;
  const std::string mine(static_cast<std::size_t>(world.rank()) * 3, static_cast<char>('a' + world.rank()));
  const auto texts = world.gather(mine);
  EXPECT_EQ(texts.size(), world.root() ? static_cast<std::size_t>(world.size()) : 0u);
  for (std::size_t rank = 0; rank < texts.size(); ++rank)
    EXPECT_EQ(texts[rank], std::string(rank * 3, static_cast<char>('a' + rank)));
  EXPECT_EQ(world.broadcast(world.root() ? "" : "other"), "");
  EXPECT_EQ(world.broadcast(mine, world.size() - 1).size(), static_cast<std::size_t>(world.size() - 1) * 3);
}

TEST(Communicator, MpiErrorsNameTheirPlace) {
  try {
    check_mpi(MPI_ERR_COUNT);
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::device_failure);
    EXPECT_THAT(error.what(), ::testing::HasSubstr("test_communicator.cpp"));
  }
}

TEST(Communicator, DuplicatesLetTwoThreadsCommunicateAtATime) {
  if (!threads_may_communicate()) GTEST_SKIP() << "needs MPI_THREAD_MULTIPLE";
  constexpr int times = 100;
  const Communicator world;
  const DuplicateCommunicator other(world);
  int sum = 0;
  std::thread thread([&] {
    for (int i = 0; i < times; ++i) sum += other.get().all_reduce(1, MPI_SUM);
  });
  for (int i = 0; i < times; ++i) EXPECT_EQ(world.all_reduce(2, MPI_SUM), 2 * world.size());
  thread.join();
  EXPECT_EQ(sum, times * world.size());
}

}  // namespace
}  // namespace spsolve
