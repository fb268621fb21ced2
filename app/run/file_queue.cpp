// SPDX-License-Identifier: Apache-2.0
#include "app/run/file_queue.hpp"

#include <omp.h>

#include <algorithm>
#include <utility>

#include "app/machine/host_memory.hpp"
#include "app/setup/state_copies.hpp"
#include "halo/machine.hpp"

namespace spsolve {
namespace {

/// The time of smaller files is that of opening and flushing, whatever their size.
constexpr double telling_bytes = 16 << 20;

double bytes_of(const std::vector<ReadableField>& values) {
  double bytes = 0;
  for (const auto& [field, read] : values)
    bytes +=
        static_cast<double>(field->owned().points()) * static_cast<double>(storage_bytes(field->precision()));
  return bytes;
}

/// Returns how many files may be in progress, from `least` to `most`, with copies of the state that fit into
/// `bytes` bytes.
int files_within(const Setup& setup, double bytes, int least, int most) {
  int files = least;
  while (files < most && static_cast<double>(bytes_of_state_copies(setup, files + 1)) <= bytes) ++files;
  return files;
}

}  // namespace

FilesAtATime files_at_a_time(const Communicator& communicator, const Setup& setup, const Block& block) {
  if (!setup.background) return {};
  constexpr double share_of_memory = 0.125;  // the rest is for the page cache, which holds files on their way
  constexpr double share_of_device = 0.5;    // the rest is for other programs
  constexpr int most = 16;                   // a tmpfs takes two thirds of its best rate from eight
  const double free = available_memory(true).bytes / ranks_on_this_machine(communicator);
  // Ranks that share a GPU do not know what the others take of its memory.
  const double free_on_device = setup.device.shared ? 0 : static_cast<double>(block.memory_for_copies());
  const int useful = std::clamp(omp_get_max_threads(), background_copies, most);
  const int in_host_memory = files_within(setup, share_of_memory * free, background_copies, useful);
  // With more copies than files at work, a thread that has ended a file finds the next one.
  const int on_device = files_within(setup, share_of_device * free_on_device, 0, useful + useful / 2);
  const std::array<int, 2> files{communicator.all_reduce(in_host_memory, MPI_MIN),
                                 communicator.all_reduce(on_device, MPI_MIN)};
  const bool stay = files[1] >= files[0];
  return {files[stay ? 1 : 0], stay};
}

FileQueue::FileQueue(bool background, int files)
    : background_(background),
      max_files_(files),
      threads_(omp_get_max_threads()),  // the number of this thread: OpenMP may give threads of files more
      progress_(std::make_shared<FileProgress>(threads_)) {}

FileQueue::~FileQueue() {
  try {
    finish();
  } catch (...) {  // an earlier failure is reported instead
  }
}

void FileQueue::make_room(FileKind kind) {
  const auto full = [&] {
    return std::ssize(files_) == max_files_ ||
           (kind == FileKind::checkpoint && std::ranges::count(files_, kind, &File::kind) > 0);
  };
  const Clock::time_point begin = Clock::now();
  while (full()) take_oldest();
  times_.waited_during_run += seconds_since(begin);
}

void FileQueue::add(FileKind kind, Copies copies, Write write, Done done) {
  std::vector<HostCopy*> waited;
  for (const auto& copy : copies) waited.push_back(copy.get());
  auto work = [progress = progress_, waited = std::move(waited), write = std::move(write), slot = slot_,
               files = max_files_, threads = threads_,
               before = files_.empty() ? std::shared_future<void>() : files_.back().written]() mutable {
    const auto took = [&progress](FilePart part, double seconds) {
      const std::lock_guard lock(progress->mutex);
      progress->parts[static_cast<std::size_t>(part)] += seconds;
    };
    const auto wait = [&] {
      if (!before.valid()) return;
      const Clock::time_point since = Clock::now();
      std::exchange(before, {}).wait();
      took(FilePart::turn, seconds_since(since));
    };
    const Clock::time_point begin = Clock::now();
    double bytes = 0;
    try {
      std::vector<ReadableField> written;
      for (HostCopy* copy : waited) written.push_back(copy->readable());
      took(FilePart::copy, seconds_since(begin));
      bytes = bytes_of(written);
      write(written, {slot, files, threads, &progress->workers, wait, took});
    } catch (...) {
      ++progress->failures;
      wait();
      throw;
    }
    wait();
    const double rate = seconds_since(std::max(begin, progress->last_end)) / std::max(bytes, telling_bytes);
    progress->last_end = Clock::now();
    const bool first_to_tell = bytes >= telling_bytes && !std::exchange(progress->rate_is_known, true);
    progress->seconds_per_byte = first_to_tell ? rate : std::max(progress->seconds_per_byte.load(), rate);
  };
  slot_ = (slot_ + 1) % max_files_;
  const auto policy = background_ ? std::launch::async : std::launch::deferred;
  files_.push_back(
      {kind, std::move(copies), std::async(policy, std::move(work)), std::move(done), Clock::now()});
  if (!background_) take_all(times_.waited_during_run);
}

void FileQueue::finish() { take_all(times_.waited_at_end); }

/// Waits for all files, then throws the first exception. Adds the time that this takes to `waited`.
void FileQueue::take_all(double& waited) {
  const Clock::time_point begin = Clock::now();
  std::exception_ptr first;
  while (!files_.empty()) try {
      take_oldest();
    } catch (...) {
      if (!first) first = std::current_exception();
    }
  waited += seconds_since(begin);
  if (first) std::rethrow_exception(first);
}

FileTimes FileQueue::times() const {
  FileTimes times = times_;
  const std::lock_guard lock(progress_->mutex);
  times.parts = progress_->parts;
  return times;
}

double FileQueue::seconds_to_finish(double bytes) const {
  const auto files = static_cast<double>(files_.size());
  // The files in progress share what the file system takes.
  const double of_oldest = files_.empty() ? 0.0 : seconds_since(files_.front().begin) / files;
  const double one = std::max(bytes, telling_bytes) * progress_->seconds_per_byte;
  return (files + 1) * std::max(of_oldest, one);
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
  ++times_.files;
  file.done(failure);
}

}  // namespace spsolve
