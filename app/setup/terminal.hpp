// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <string>

#include "app/setup/clock.hpp"
#include "halo/communicator.hpp"

namespace spsolve {

/// Returns "1 step", "4 steps".
inline std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

/// Prints for rank 0: results and progress on standard output, warnings and errors on standard error.
class Terminal {
 public:
  /// `results` replaces standard output for results and progress, for callers that print something else
  /// there.
  Terminal(const Communicator& communicator, bool quiet, std::FILE* results = stdout)
      : speaks_(communicator.root()), quiet_(quiet), results_(results) {}

  template <class... Args>
  void print(fmt::format_string<Args...> format, Args&&... args) const {
    if (speaks_ && !quiet_) line(results_, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warn(fmt::format_string<Args...> format, Args&&... args) const {
    if (speaks_) line(stderr, "spsolve: warning: " + fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  /// Prints a line. A failure, for example on a full disk, is ignored.
  static void line(std::FILE* to, const std::string& text) {
    std::fputs((text + "\n").c_str(), to);
    std::fflush(to);
  }
  bool speaks_, quiet_;
  std::FILE* results_;
};

/// Returns the columns of the terminal that shows standard output, or 0 if it is no terminal. Open MPI gives
/// every rank a terminal of its own, so the output of mpirun, the parent of rank 0, decides.
int terminal_columns();

/// Returns a bar and numbers in fewer than `columns` columns, or as much of the numbers as fits. `done` is
/// the share that is done, from 0 to 1.
std::string progress_line(double done, const std::string& numbers, int columns);

/// Shows one line that changes. On a terminal it is a bar that is redrawn; in a file or a pipe it is a plain
/// line every few seconds.
class ProgressLine {
 public:
  /// Returns true if the last line is older than `redrawn` on a terminal, or than 5 s elsewhere.
  bool is_due(std::chrono::milliseconds redrawn);
  /// `done` is the share that is done, from 0 to 1.
  void show(double done, const std::string& numbers);
  /// Ends the bar, so that other lines can follow.
  void erase();

 private:
  bool bar_ = terminal_columns() > 0;
  Clock::time_point printed_ = Clock::now();
  bool drawn_ = false;
};

/// Shows the progress of reading values, in per cent of this rank's points. Prints nothing if reading takes a
/// short time.
class ReadingProgress {
 public:
  ReadingProgress(const Communicator& communicator, std::string what, std::int64_t points);
  ~ReadingProgress();
  ReadingProgress(const ReadingProgress&) = delete;
  ReadingProgress& operator=(const ReadingProgress&) = delete;

  /// Adds `points` to the points that are read. May be called by any thread.
  void advance(std::int64_t points);

 private:
  bool speaks_;
  std::string what_;
  std::int64_t points_;
  std::atomic<std::int64_t> done_ = 0;
  std::mutex mutex_;
  ProgressLine line_;
};

/// Shows the progress of the time loop with rate and time to go.
class Progress {
 public:
  Progress(const Communicator& communicator, bool quiet, std::int64_t first, std::int64_t last,
           std::int64_t points);

  /// Must be called after launches; prints now and then.
  void at(std::int64_t step);
  /// Ends the bar, so that other lines can follow.
  void pause() { line_.erase(); }

 private:
  bool speaks_;
  std::int64_t first_, last_, points_;
  Clock::time_point started_ = Clock::now();
  ProgressLine line_;
};

}  // namespace spsolve
