// SPDX-License-Identifier: Apache-2.0
#include "app/file_queue.hpp"

#include <algorithm>
#include <utility>

namespace spsolve {

FileQueue::~FileQueue() {
  try {
    finish();
  } catch (...) {  // another failure is on its way already
  }
}

void FileQueue::make_room(Kind kind) {
  const auto full = [&] {
    return std::ssize(files_) == copies ||
           (kind == Kind::checkpoint && std::ranges::count(files_, kind, &File::kind) > 0);
  };
  while (full()) take_oldest();
}

void FileQueue::add(Kind kind, std::shared_ptr<HostCopy> values,
                    std::function<void(const Field& values)> write, Done done) {
  const Clock::time_point begin = Clock::now();
  auto work = [progress = progress_, copy = values.get(), write = std::move(write), begin,
               before = files_.empty() ? std::shared_future<void>() : files_.back().written]() mutable {
    if (before.valid()) std::exchange(before, {}).wait();
    try {
      write(copy->wait());
    } catch (...) {
      ++progress->failures;
      throw;
    }
    progress->longest_seconds = std::max(progress->longest_seconds.load(), seconds_since(begin));
  };
  const auto policy = background_ ? std::launch::async : std::launch::deferred;
  files_.push_back({kind, std::move(values), std::async(policy, std::move(work)), std::move(done), begin});
  if (!background_) finish();
}

void FileQueue::finish() {
  std::exception_ptr first;
  while (!files_.empty()) try {
      take_oldest();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  if (first) std::rethrow_exception(first);
}

double FileQueue::seconds_to_finish() const {
  const double oldest = files_.empty() ? 0.0 : seconds_since(files_.front().begin);
  return static_cast<double>(files_.size() + 1) * std::max(oldest, progress_->longest_seconds.load());
}

/// Waits for the oldest file and tells how it ended.
void FileQueue::take_oldest() {
  File file = std::move(files_.front());
  files_.pop_front();
  std::exception_ptr failure;
  try {
    file.written.get();
  } catch (...) {
    failure = std::current_exception();
    --progress_->failures;
  }
  file.done(failure);
}

}  // namespace spsolve
