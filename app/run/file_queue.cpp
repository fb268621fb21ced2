// SPDX-License-Identifier: Apache-2.0
#include "app/run/file_queue.hpp"

#include <algorithm>
#include <utility>

namespace spsolve {
namespace {

/// The time of smaller files is that of opening and flushing, whatever their size.
constexpr double telling_bytes = 16 << 20;

double bytes_of(const std::vector<const Field*>& fields) {
  double bytes = 0;
  for (const Field* field : fields)
    bytes +=
        static_cast<double>(field->owned().points()) * static_cast<double>(storage_bytes(field->precision()));
  return bytes;
}

}  // namespace

FileQueue::~FileQueue() {
  try {
    finish();
  } catch (...) {  // an earlier failure is reported instead
  }
}

void FileQueue::make_room(Kind kind) {
  const auto full = [&] {
    return std::ssize(files_) == max_files ||
           (kind == Kind::checkpoint && std::ranges::count(files_, kind, &File::kind) > 0);
  };
  while (full()) take_oldest();
}

void FileQueue::add(Kind kind, Copies copies, Write write, Done done) {
  std::vector<HostCopy*> waited;
  for (const auto& copy : copies) waited.push_back(copy.get());
  auto work = [progress = progress_, waited = std::move(waited), write = std::move(write),
               before = files_.empty() ? std::shared_future<void>() : files_.back().written]() mutable {
    if (before.valid()) std::exchange(before, {}).wait();
    const Clock::time_point begin = Clock::now();
    double bytes = 0;
    try {
      std::vector<const Field*> written;
      for (HostCopy* copy : waited) written.push_back(&copy->wait());
      bytes = bytes_of(written);
      write(written);
    } catch (...) {
      ++progress->failures;
      throw;
    }
    const double rate = seconds_since(begin) / std::max(bytes, telling_bytes);
    const bool first_to_tell = bytes >= telling_bytes && !std::exchange(progress->rate_is_known, true);
    progress->seconds_per_byte = first_to_tell ? rate : std::max(progress->seconds_per_byte.load(), rate);
  };
  const auto policy = background_ ? std::launch::async : std::launch::deferred;
  files_.push_back(
      {kind, std::move(copies), std::async(policy, std::move(work)), std::move(done), Clock::now()});
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

double FileQueue::seconds_to_finish(double bytes) const {
  const double oldest = files_.empty() ? 0.0 : seconds_since(files_.front().begin);
  const double one = std::max(bytes, telling_bytes) * progress_->seconds_per_byte;
  return static_cast<double>(files_.size() + 1) * std::max(oldest, one);
}

/// Waits for the oldest file and reports how it ended.
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
