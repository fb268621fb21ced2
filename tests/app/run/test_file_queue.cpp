// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "app/run/file_queue.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

/// Is a copy of one value, which arrives when arrive() is called.
class LateCopy : public HostCopy {
 public:
  explicit LateCopy(double value) : values_({{0, 0, 0}, {1, 1, 1}}, {0, 0, 0}, Precision::fp64) {
    *values_.at<double>({0, 0, 0}) = value;
  }
  ReadableField readable() override {
    arrived_.get_future().wait();
    return values_;
  }
  void arrive() { arrived_.set_value(); }

 private:
  Field values_;
  std::promise<void> arrived_;
};

/// Records what was written (so it must outlive the queue) and what was reported, in order.
struct Log {
  std::vector<double> written;
  std::vector<int> told;

  void add(FileQueue& queue, std::int64_t step, const std::shared_ptr<HostCopy>& copy, bool fails = false,
           FileQueue::FileKind kind = FileQueue::FileKind::snapshot) {
    queue.add(
        kind, {copy},
        [this, fails](const std::vector<ReadableField>& values, const FileTurn& turn) {
          turn.wait();
          if (fails) throw Error(Status::file_failure, "full");
          written.push_back(*values.front().field->at<double>({0, 0, 0}));
        },
        [this, step](const std::exception_ptr& failure) {
          told.push_back(failure ? -static_cast<int>(step) : static_cast<int>(step));
          if (failure) std::rethrow_exception(failure);
        });
  }
};

TEST(FileQueue, WritesInOrderWhileTheRunGoesOn) {
  Log log;
  FileQueue queue(true);
  const auto first = std::make_shared<LateCopy>(1), second = std::make_shared<LateCopy>(2);
  log.add(queue, 10, first);
  log.add(queue, 20, second);
  EXPECT_TRUE(log.told.empty());
  second->arrive();  // its turn comes after the first
  first->arrive();
  queue.finish();
  EXPECT_EQ(log.written, (std::vector<double>{1, 2}));
  EXPECT_EQ(log.told, (std::vector<int>{10, 20}));
  EXPECT_EQ(first.use_count(), 1);
}

TEST(FileQueue, WorksOnSeveralFilesAtTheSameTime) {
  std::promise<void> second_works;
  std::vector<int> ended, slots;
  FileQueue queue(true, 3);
  const auto give = [&](int file, FileQueue::Write work) {
    const auto copy = std::make_shared<LateCopy>(1);
    copy->arrive();
    queue.add(FileQueue::FileKind::snapshot, {copy}, std::move(work),
              [&ended, file](const std::exception_ptr&) { ended.push_back(file); });
  };
  give(1, [&](const auto&, const FileTurn& turn) {
    second_works.get_future().wait();  // without the second file it would never end
    slots.push_back(turn.slot);
    EXPECT_EQ(turn.files, 3);
  });
  give(2, [&](const auto&, const FileTurn& turn) {
    second_works.set_value();
    turn.wait();
    slots.push_back(turn.slot);
  });
  queue.finish();
  EXPECT_EQ(ended, (std::vector<int>{1, 2}));
  EXPECT_EQ(slots, (std::vector<int>{0, 1}));
}

TEST(FileQueue, WithoutAThreadAFileIsWrittenWhenItIsGiven) {
  Log log;
  FileQueue queue(false);
  const auto copy = std::make_shared<LateCopy>(1);
  copy->arrive();
  log.add(queue, 10, copy);
  EXPECT_EQ(log.told, (std::vector<int>{10}));
  EXPECT_EQ(copy.use_count(), 1);
}

TEST(FileQueue, MakesRoomForTwoFilesAndOneCheckpoint) {
  using enum FileQueue::FileKind;
  Log log;
  FileQueue queue(true);
  std::vector<std::shared_ptr<LateCopy>> copies;
  const auto give = [&](FileQueue::FileKind kind) {
    copies.push_back(std::make_shared<LateCopy>(1));
    log.add(queue, std::ssize(copies), copies.back(), false, kind);
  };
  const auto make_room_once_it_arrives = [&](FileQueue::FileKind kind, std::size_t copy) {
    EXPECT_EQ(log.told.size(), copy);
    std::thread later([&] { copies[copy]->arrive(); });
    queue.make_room(kind);
    later.join();
    EXPECT_EQ(log.told.size(), copy + 1);
    EXPECT_EQ(copies[copy].use_count(), 1);
  };
  give(checkpoint);
  queue.make_room(snapshot);  // nothing has arrived: waiting would never end
  give(snapshot);
  make_room_once_it_arrives(snapshot, 0);
  queue.make_room(checkpoint);
  give(checkpoint);
  make_room_once_it_arrives(snapshot, 1);
  make_room_once_it_arrives(checkpoint, 2);
}

TEST(FileQueue, TellsOfFailuresInOrderAndGoesOn) {
  for (const bool background : {true, false}) {
    Log log;
    FileQueue queue(background);
    const auto give = [&](std::int64_t step, bool fails) {
      const auto copy = std::make_shared<LateCopy>(static_cast<double>(step));
      copy->arrive();
      log.add(queue, step, copy, fails);
    };
    EXPECT_THROW(
        {
          give(10, false);
          give(20, true);
          queue.finish();
        },
        Error);
    EXPECT_FALSE(queue.failed()) << "it was told";
    give(30, false);
    queue.finish();
    EXPECT_EQ(log.told, (std::vector<int>{10, -20, 30}));
    EXPECT_EQ(log.written, (std::vector<double>{10, 30}));
  }
}

TEST(FileQueue, FinishesAllFilesBeforeItTellsOfAFailure) {
  Log log;
  FileQueue queue(true);
  for (const std::int64_t step : {10, 20}) {
    const auto copy = std::make_shared<LateCopy>(1);
    copy->arrive();
    log.add(queue, step, copy, step == 10);
  }
  EXPECT_THROW(queue.finish(), Error);
  EXPECT_EQ(log.told, (std::vector<int>{-10, 20}));
}

TEST(FileQueue, SaysThatAFileHasFailed) {
  Log log;
  FileQueue queue(true);
  const auto copy = std::make_shared<LateCopy>(1);
  log.add(queue, 10, copy, true);
  EXPECT_FALSE(queue.failed());
  copy->arrive();
  while (!queue.failed()) std::this_thread::yield();
  EXPECT_THROW(queue.finish(), Error);
}

TEST(FileQueue, WaitsForItsFilesAtTheEnd) {
  Log log;
  const auto copy = std::make_shared<LateCopy>(1);
  {
    FileQueue queue(true);
    log.add(queue, 10, copy, true);
    copy->arrive();
  }
  EXPECT_EQ(log.told, (std::vector<int>{-10}));
}

TEST(FileQueue, GuessesFromTheOldestFile) {
  Log log;
  FileQueue queue(true);
  const auto copy = std::make_shared<LateCopy>(1);
  log.add(queue, 10, copy);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  EXPECT_GE(queue.seconds_to_finish(0), 2 * 0.2);
  copy->arrive();
  queue.finish();
}

/// Returns true if a thread of this process sleeps (proc(5), state S).
bool sleeps(pid_t thread) {
  std::ifstream file("/proc/self/task/" + std::to_string(thread) + "/stat");
  const std::string stat{std::istreambuf_iterator<char>(file), {}};
  return stat.at(stat.rfind(')') + 2) == 'S';
}

/// Holds one value that takes at least `seconds` to arrive, from the time on when `waiting`, a thread,
/// sleeps.
class SlowCopy : public HostCopy {
 public:
  explicit SlowCopy(std::optional<pid_t> waiting = {})
      : values_({{0, 0, 0}, {1, 1, 1}}, {0, 0, 0}, Precision::fp64), waiting_(waiting) {}
  static constexpr double seconds = 0.02;

  ReadableField readable() override {
    const auto deadline = Clock::now() + std::chrono::seconds(30);
    while (waiting_ && !sleeps(*waiting_) && Clock::now() < deadline) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
    return values_;
  }

 private:
  Field values_;
  std::optional<pid_t> waiting_;
};

TEST(FileQueue, TellsWhatFilesTookAndTheRunWaitedFor) {
  Log log;
  FileQueue queue(true, 1);
  const auto added = Clock::now();
  log.add(queue, 10, std::make_shared<SlowCopy>(gettid()));
  EXPECT_EQ(queue.times().files, 0);
  queue.make_room(FileQueue::FileKind::snapshot);
  const double until_room = seconds_since(added);
  log.add(queue, 20, std::make_shared<SlowCopy>());
  queue.finish();
  const double until_end = seconds_since(added);

  const FileTimes times = queue.times();
  const auto part = [&](FilePart of) { return times.parts[static_cast<std::size_t>(of)]; };
  EXPECT_EQ(times.files, 2);
  EXPECT_GE(times.waited_during_run, SlowCopy::seconds);
  EXPECT_LE(times.waited_during_run, until_room);
  EXPECT_GT(times.waited_at_end, 0);
  EXPECT_LE(times.waited_at_end, until_end - until_room);
  EXPECT_GE(part(FilePart::copy), 2 * SlowCopy::seconds);
  EXPECT_LE(part(FilePart::copy), until_end);
  EXPECT_EQ(part(FilePart::values), 0) << "only writers tell of it";
}

TEST(FileQueue, ARunThatWaitsForEachFileWaitsBetweenSteps) {
  Log log;
  FileQueue queue(false);
  log.add(queue, 10, std::make_shared<SlowCopy>());
  EXPECT_GE(queue.times().waited_during_run, SlowCopy::seconds);
  const auto begin = Clock::now();
  queue.finish();
  EXPECT_LE(queue.times().waited_at_end, seconds_since(begin));
}

TEST(FileQueue, WritesWhenTheCopiesOfAllFieldsHaveArrived) {
  FileQueue queue(true);
  const auto first = std::make_shared<LateCopy>(1), second = std::make_shared<LateCopy>(2);
  std::vector<double> written;
  std::atomic<bool> done = false;
  queue.add(
      FileQueue::FileKind::checkpoint, {first, second},
      [&](const std::vector<ReadableField>& values, const FileTurn&) {
        for (const auto& [field, read] : values) written.push_back(*field->at<double>({0, 0, 0}));
        done = true;
      },
      [](const std::exception_ptr& failure) { EXPECT_FALSE(failure); });
  first->arrive();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_FALSE(done);
  second->arrive();
  queue.finish();
  EXPECT_EQ(written, (std::vector<double>{1, 2}));
}

TEST(FileQueue, GuessesFromTheWorstRate) {
  struct Values : HostCopy {
    explicit Values(std::int64_t mib) : field(box_of({mib, 1 << 7, 1 << 10}), {0, 0, 0}, Precision::fp64) {}
    Field field;
    ReadableField readable() override { return field; }
  };
  constexpr double mib = 1 << 20;
  FileQueue queue(false);
  const auto seconds_to_write = [&](std::int64_t size, int milliseconds) {
    const auto begin = Clock::now();
    queue.add(
        FileQueue::FileKind::snapshot, {std::make_shared<Values>(size)},
        [&](const std::vector<ReadableField>&, const FileTurn&) {
          std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
        },
        [](const std::exception_ptr&) {});
    return seconds_since(begin);
  };
  EXPECT_DOUBLE_EQ(queue.seconds_to_finish(1e9), 5);  // the nominal rate
  const double small = seconds_to_write(1, 10);       // a small file tells little of the rate of a gigabyte
  EXPECT_GE(queue.seconds_to_finish(1e9), 5);
  EXPECT_LE(queue.seconds_to_finish(1e9), std::max(5.0, 1e9 / (16 * mib) * small));
  const double large = seconds_to_write(32, 20);
  const double fast = queue.seconds_to_finish(320 * mib);
  EXPECT_GE(fast, 0.2);
  EXPECT_LE(fast, 10 * large) << "the nominal rate takes 1.7 s";
  seconds_to_write(32, 60);
  EXPECT_GE(queue.seconds_to_finish(320 * mib), 0.6);
  seconds_to_write(32, 0);
  EXPECT_GE(queue.seconds_to_finish(320 * mib), 0.6);
}

}  // namespace
}  // namespace spsolve
