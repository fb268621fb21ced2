// SPDX-License-Identifier: Apache-2.0
#include "app/run/requests.hpp"

#include <algorithm>
#include <array>

namespace spsolve {
namespace {

constexpr double poll_seconds = 0.5;

std::optional<double> seconds(std::optional<double> minutes) {
  return minutes ? std::optional(*minutes * 60.0) : std::nullopt;
}

}  // namespace

Requests::Requests(const Communicator& communicator, Signals& signals, Clock::time_point started,
                   std::optional<double> checkpoint_minutes, std::optional<double> wall_limit_minutes,
                   double checkpoint_bytes)
    : communicator_(communicator),
      signals_(&signals),
      checkpoint_seconds_(seconds(checkpoint_minutes)),
      limit_seconds_(seconds(wall_limit_minutes)),
      checkpoint_bytes_(checkpoint_bytes),
      started_(started) {}

Request Requests::poll(const FileQueue& files) {
  file_failed_ = false;
  if (++launches_since_poll_ < launches_between_polls_) return Request::none;

  // `wanted` is what this rank asks for: a request, the reason to stop, (rank 0) the launches until the ranks
  // confer again, and whether a file has failed.
  std::array<int, 4> wanted{static_cast<int>(Request::none), none, 0, files.failed()};
  while (const auto signal = signals_->next()) {
    wanted[0] =
        std::max(wanted[0], static_cast<int>(*signal == SIGUSR2 ? Request::checkpoint : Request::stop));
    if (*signal != SIGUSR2) wanted[1] = by_signal;
  }
  if (communicator_.root()) {
    if (checkpoint_seconds_ && seconds_since(last_checkpoint_) >= *checkpoint_seconds_)
      wanted[0] = std::max(wanted[0], static_cast<int>(Request::checkpoint));
    const double per_launch = seconds_since(last_poll_) / launches_since_poll_;
    // The margin is twice the time for the checkpoint that follows, plus the time until the ranks would
    // confer again. It is at most half of the limit, so that an overestimate leaves time for steps.
    const double margin =
        2 * files.seconds_to_finish(checkpoint_bytes_) + 2 * std::max(poll_seconds, per_launch);
    if (limit_seconds_ &&
        seconds_since(started_) >= std::max(*limit_seconds_ - margin, *limit_seconds_ / 2)) {
      wanted[0] = static_cast<int>(Request::stop);
      wanted[1] = std::max<int>(wanted[1], by_limit);
    }
    wanted[2] = static_cast<int>(std::clamp(poll_seconds / std::max(per_launch, 1e-9), 1.0, 1e6));
    // The first launch is not representative (page faults, connections), so the ranks confer again soon.
    wanted[2] = std::min(wanted[2], 2 * launches_between_polls_);
    last_poll_ = Clock::now();
  }
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, wanted.data(), static_cast<int>(wanted.size()), MPI_INT, MPI_MAX,
                          communicator_.handle()));
  launches_between_polls_ = wanted[2];
  launches_since_poll_ = 0;
  reason_ = wanted[1];
  file_failed_ = wanted[3] != 0;
  return static_cast<Request>(wanted[0]);
}

}  // namespace spsolve
