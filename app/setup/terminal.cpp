// SPDX-License-Identifier: Apache-2.0
#include "app/setup/terminal.hpp"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace spsolve {
namespace {

/// Whether a bar that is drawn anew can be read. Open MPI gives every rank a terminal of its own, wherever
/// mpirun (the parent of rank 0) prints to: that is what counts.
bool can_draw() {
  const char* kind = std::getenv("TERM");
  if (!isatty(STDOUT_FILENO) || (kind && std::string_view(kind) == "dumb")) return false;
  if (!std::getenv("OMPI_COMM_WORLD_SIZE")) return true;
  const int output = open(fmt::format("/proc/{}/fd/1", getppid()).c_str(), O_WRONLY | O_NOCTTY | O_CLOEXEC);
  if (output < 0) return false;
  const bool terminal = isatty(output) == 1;
  close(output);
  return terminal;
}

}  // namespace

Progress::Progress(const Communicator& communicator, bool quiet, std::int64_t first, std::int64_t last,
                   std::int64_t points)
    : speaks_(communicator.root() && !quiet), bar_(can_draw()), first_(first), last_(last), points_(points) {}

void Progress::at(std::int64_t step) {
  if (!speaks_) return;
  const Clock::time_point now = Clock::now();
  if (now - printed_ < (bar_ ? std::chrono::milliseconds(200) : std::chrono::seconds(5))) return;
  printed_ = now;
  const double elapsed = seconds_since(started_);
  const auto done = static_cast<double>(step - first_);
  const double rate = done * static_cast<double>(points_) / elapsed;
  const std::chrono::seconds left(
      static_cast<std::int64_t>(elapsed * static_cast<double>(last_ - step) / done));
  const std::string numbers =
      fmt::format("step {}/{}  {:.3f} GStencil/s  {}:{:%M:%S} to go", step, last_, rate * 1e-9,
                  std::chrono::floor<std::chrono::hours>(left).count(), left);
  if (bar_) {
    constexpr int width = 30;
    const auto filled = static_cast<int>(width * static_cast<double>(step) / static_cast<double>(last_));
    std::fputs(fmt::format("\r[{:#<{}}{:.<{}}] {} ", "", filled, "", width - filled, numbers).c_str(),
               stdout);
    drawn_ = true;
  } else {
    std::puts(numbers.c_str());
  }
  std::fflush(stdout);
}

void Progress::pause() {
  if (drawn_) std::fputs("\r\x1b[K", stdout);
  drawn_ = false;
}

}  // namespace spsolve
