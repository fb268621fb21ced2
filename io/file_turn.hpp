// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <semaphore>
#include <string_view>

namespace spsolve {

/// Names the parts of the work on a file, in their order: waiting until the copy of the state may be read;
/// reserving space and laying the file out; writing values; flushing; waiting for the files before this one.
enum class FilePart { copy, layout, values, flush, turn };
/// Holds the names in the order of FilePart.
inline constexpr std::array<std::string_view, 5> file_part_names{"copy", "layout", "values", "flush", "turn"};

/// Says how the work on a file shares a rank with that on other files. Their values are written at the same
/// time, because the threads that write to one file wait for one another in most file systems. The files
/// appear under their names in their order.
struct FileTurn {
  int slot = 0;     // differs from the slots of all other files in progress
  int files = 1;    // files that may be in progress: each takes its share of `threads`
  int threads = 0;  // threads per rank; 0: as many as OpenMP starts on the calling thread
  /// Counts the turns that are left for threads which work on files. There are as many turns as the rank has
  /// threads, because files may have more threads together. Null: there is one file at a time.
  std::counting_semaphore<>* workers = nullptr;
  std::function<void()> wait = [] {};  // returns when all files before this one have ended
  /// Is called after a part of the work with the seconds that it took.
  std::function<void(FilePart part, double seconds)> took = [](FilePart, double) {};
};

/// Lasts while a thread works in a turn of FileTurn::workers.
class WorkTurn {
 public:
  explicit WorkTurn(std::counting_semaphore<>* workers) : workers_(workers) {
    if (workers_) workers_->acquire();
  }
  ~WorkTurn() {
    if (workers_) workers_->release();
  }
  WorkTurn(const WorkTurn&) = delete;
  WorkTurn& operator=(const WorkTurn&) = delete;

 private:
  std::counting_semaphore<>* workers_;
};

}  // namespace spsolve
