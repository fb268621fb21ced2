// SPDX-License-Identifier: Apache-2.0
#include "app/setup/terminal.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

namespace spsolve {
int terminal_columns() {
  const char* kind = std::getenv("TERM");
  if (!isatty(STDOUT_FILENO) || (kind && std::string_view(kind) == "dumb")) return 0;
  const bool launched = std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr;
  const int output =
      launched ? open(fmt::format("/proc/{}/fd/1", getppid()).c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC)
               : STDOUT_FILENO;
  constexpr int usual = 80;
  winsize size{};
  int columns = output >= 0 && isatty(output) == 1 ? usual : 0;
  if (columns > 0 && ioctl(output, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) columns = size.ws_col;
  if (launched && output >= 0) close(output);
  return columns;
}

namespace {

/// Draws a line over the last one. It is never wider than the terminal, because a line that wraps could not
/// be drawn over.
void draw(const std::string& line) {
  const int room = std::max(terminal_columns() - 1, 0);
  std::fputs(fmt::format("\r{:<{}.{}}", line, room, room).c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::string progress_line(double done, const std::string& numbers, int columns) {
  constexpr int widest = 30, narrowest = 5, frame = 3;  // columns of the bar and of "[] "
  const int width = std::min(widest, columns - 1 - frame - static_cast<int>(numbers.size()));
  if (width < narrowest) return numbers.substr(0, static_cast<std::size_t>(std::max(columns - 1, 0)));
  const auto filled = static_cast<int>(width * std::clamp(done, 0.0, 1.0));
  return fmt::format("[{:#<{}}{:.<{}}] {}", "", filled, "", width - filled, numbers);
}

bool ProgressLine::is_due(std::chrono::milliseconds redrawn) {
  const Clock::time_point now = Clock::now();
  if (now - printed_ < (bar_ ? redrawn : std::chrono::seconds(5))) return false;
  printed_ = now;
  return true;
}

void ProgressLine::show(double done, const std::string& numbers) {
  if (bar_) {
    draw(progress_line(done, numbers, terminal_columns()));
    drawn_ = true;
  } else {
    std::puts(numbers.c_str());
    std::fflush(stdout);
  }
}

void ProgressLine::erase() {
  if (drawn_) std::fputs("\r\x1b[K", stdout);
  drawn_ = false;
}

Progress::Progress(const Communicator& communicator, bool quiet, std::int64_t first, std::int64_t last,
                   std::int64_t points)
    : speaks_(communicator.root() && !quiet), first_(first), last_(last), points_(points) {}

void Progress::at(std::int64_t step) {
  if (!speaks_ || !line_.is_due(std::chrono::milliseconds(200))) return;
  const double elapsed = seconds_since(started_);
  const auto done = static_cast<double>(step - first_);
  const double rate = done * static_cast<double>(points_) / elapsed;
  const std::chrono::seconds left(
      static_cast<std::int64_t>(elapsed * static_cast<double>(last_ - step) / done));
  line_.show(static_cast<double>(step) / static_cast<double>(last_),
             fmt::format("step {}/{}  {:.3f} GStencil/s  {}:{:%M:%S} to go", step, last_, rate * 1e-9,
                         std::chrono::floor<std::chrono::hours>(left).count(), left));
}

ReadingProgress::ReadingProgress(const Communicator& communicator, std::string what, std::int64_t points)
    : speaks_(communicator.root()), what_(std::move(what)), points_(points) {}

ReadingProgress::~ReadingProgress() { line_.erase(); }

void ReadingProgress::advance(std::int64_t points) {
  const double done = static_cast<double>(done_ += points) / static_cast<double>(points_);
  const std::unique_lock<std::mutex> lock(mutex_, std::try_to_lock);
  if (speaks_ && lock && line_.is_due(std::chrono::milliseconds(500)))
    line_.show(done, fmt::format("{}: {:.0f}%", what_, 100 * done));
}

}  // namespace spsolve
