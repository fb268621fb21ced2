// SPDX-License-Identifier: Apache-2.0
#include "halo/watchdog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "halo/mpi_session.hpp"

namespace spsolve {
namespace {

constexpr int heartbeat_tag = 1;
constexpr int heartbeats_within_timeout = 10;
/// A rank that is asked to end reports the first one that was silent for this many heartbeats.
constexpr int missed_heartbeats = 3;
/// Is the time between checks for a request to end.
constexpr std::chrono::milliseconds poll_interval(200);
/// Counts the ranks that report their position; there are two because one may be dead.
constexpr int reporting_ranks = 2;
/// Is the time between heartbeats at the end, when all other ranks wait for the last one.
constexpr std::chrono::milliseconds final_interval(1);

bool waits(std::int64_t phase) {
  return phase == static_cast<int>(Phase::exchange) || phase == static_cast<int>(Phase::device);
}

}  // namespace

const char* to_string(Phase phase) {
  static constexpr const char* names[] = {"setup",       "compute",  "launch on the GPU", "exchange",
                                          "diagnostics", "snapshot", "checkpoint",        "finished"};
  return names[static_cast<int>(phase)];
}

Watchdog::Watchdog(const Communicator& communicator, const std::string& place, double timeout_seconds,
                   std::function<bool()> termination_requested)
    : communicator_(duplicate(communicator)),
      place_(place),
      timeout_(std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_seconds))),
      termination_requested_(std::move(termination_requested)) {
  const std::vector<std::string> places = communicator.gather(place);
  const std::string place_of_root = communicator.broadcast(place);
  if (communicator.size() > 1) {
    if (!threads_may_communicate()) return;
    for (int rank = 1; communicator.root() && rank < communicator.size(); ++rank)
      peers_.push_back({rank, places[static_cast<std::size_t>(rank)]});
    if (!communicator.root()) peers_.push_back({0, place_of_root});
    grant_timeout();
  }
  thread_ = std::thread([this] { run(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = std::uncaught_exceptions() > 0;
    enter(Phase::finished);
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
  // After an abort, heartbeats may still be in flight. The communicator is then left to MPI_Finalize.
  MPI_Comm handle = communicator_.handle();
  if (!abandoned_) MPI_Comm_free(&handle);
}

void Watchdog::enter(Phase phase) {
  phase_ = static_cast<int>(phase);
  ++changes_;
}

void Watchdog::reach(std::int64_t step) {
  step_ = step;
  ++changes_;
}

void Watchdog::checkpoint_written(std::int64_t step) {
  if (step > checkpoint_) checkpoint_ = step;
}

std::string Watchdog::whereabouts() const { return describe(communicator_.rank(), place_, now()); }

void Watchdog::run() {
  try {
    bool over = false;
    Clock::time_point last_pass = Clock::now();
    while (!over && !abandoned_) {
      // A process that was stopped, as suspended jobs are, could not hear the others, so it must not blame
      // them.
      const Clock::time_point before = std::exchange(last_pass, Clock::now());
      if (last_pass - before > timeout_ / 2) grant_timeout();
      over = exchange_heartbeats();
      if (Clock::now() - last_pass > timeout_ / 2) continue;
      require_heartbeats();
      require_progress();
      if (over) break;
      if (finished()) {
        std::this_thread::sleep_for(final_interval);
      } else {
        pause();
      }
    }
    if (over) return;
    for (Peer& peer : peers_)
      for (MPI_Request* request : {&peer.sending, &peer.receiving})
        if (*request != MPI_REQUEST_NULL) {
          MPI_Cancel(request);
          MPI_Request_free(request);
        }
  } catch (const Error& error) {
    end(error.what());
  }
}

/// Restarts the timeout of every peer.
void Watchdog::grant_timeout() {
  last_progress_ = Clock::now();
  for (Peer& peer : peers_) peer.heard = last_progress_;
}

/// Sleeps until the next heartbeat is due.
void Watchdog::pause() {
  const Clock::time_point end = Clock::now() + timeout_ / heartbeats_within_timeout;
  const bool reports = communicator_.size() > 1 && communicator_.rank() < reporting_ranks;
  std::unique_lock lock(mutex_);
  for (bool woken = false; !woken && Clock::now() < end;) {
    woken = wake_.wait_until(lock, reports ? std::min(end, Clock::now() + poll_interval) : end,
                             [this] { return finished(); });
    if (!reports) continue;
    const std::int64_t changes = changes_;
    const bool made_progress = std::exchange(changes_told_, changes) != changes;
    unanswered_ = !termination_requested_() ? 0 : made_progress ? 1 : unanswered_ + 1;
    if (unanswered_ == 2) {
      const std::string silence = silence_beyond(missed_heartbeats * timeout_ / heartbeats_within_timeout);
      fmt::print(stderr, "spsolve: told to end: {}{}{}\n", whereabouts(), silence.empty() ? "" : "; ",
                 silence);
    }
  }
}

/// Returns true if all ranks have sent their last heartbeat. Rank 0 sends its last one when it and all others
/// have finished.
bool Watchdog::exchange_heartbeats() {
  Heartbeat heartbeat = now();
  heartbeat.last = finished() && (!communicator_.root() || std::ranges::all_of(peers_, [](const Peer& peer) {
                     return peer.newest.last != 0;
                   }));
  bool over = finished();
  for (Peer& peer : peers_) over = exchange_heartbeats(peer, heartbeat) && over;
  return over;
}

/// Sends and receives as far as possible without waiting. Returns true if both ends have sent their last
/// heartbeat.
bool Watchdog::exchange_heartbeats(Peer& peer, const Heartbeat& heartbeat) {
  constexpr int bytes = sizeof(Heartbeat);
  int done = 0;
  if (peer.receiving != MPI_REQUEST_NULL) {
    check_mpi(MPI_Test(&peer.receiving, &done, MPI_STATUS_IGNORE));
    if (done) {
      peer.newest = peer.received;
      peer.heard = Clock::now();
    }
  }
  if (peer.receiving == MPI_REQUEST_NULL && !peer.newest.last)
    check_mpi(MPI_Irecv(&peer.received, bytes, MPI_BYTE, peer.rank, heartbeat_tag, communicator_.handle(),
                        &peer.receiving));
  if (peer.sending != MPI_REQUEST_NULL) check_mpi(MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE));
  if (peer.sending == MPI_REQUEST_NULL && !peer.told_last) {
    peer.sent = heartbeat;
    peer.told_last = heartbeat.last != 0;
    check_mpi(MPI_Isend(&peer.sent, bytes, MPI_BYTE, peer.rank, heartbeat_tag, communicator_.handle(),
                        &peer.sending));
    check_mpi(MPI_Test(&peer.sending, &done, MPI_STATUS_IGNORE));
  }
  return peer.told_last && peer.newest.last && peer.sending == MPI_REQUEST_NULL;
}

void Watchdog::require_heartbeats() const {
  if (const std::string silence = silence_beyond(timeout_); !silence.empty()) end(silence);
}

/// Returns text about the first rank that has not been heard for longer than the limit, or "" if there is
/// none.
std::string Watchdog::silence_beyond(Clock::duration limit) const {
  for (const Peer& peer : peers_)
    if (const Clock::duration silence = Clock::now() - peer.heard; !peer.newest.last && silence > limit)
      return fmt::format("no sign of life for {:.0f} s from {}",
                         std::chrono::duration<double>(silence).count(),
                         describe(peer.rank, peer.place, peer.newest));
  return "";
}

/// Checks for progress on rank 0 only, since the others know no more than it does.
void Watchdog::require_progress() {
  if (!communicator_.root()) return;
  const Heartbeat own = now();
  std::int64_t changes = own.changes;
  bool all_wait = waits(own.phase);
  const Peer* behind = nullptr;
  for (const Peer& peer : peers_) {
    changes += peer.newest.changes;
    all_wait = all_wait && waits(peer.newest.phase);
    if (peer.newest.step < (behind ? behind->newest : own).step) behind = &peer;
  }
  if (changes != changes_seen_ || !all_wait) last_progress_ = Clock::now();
  changes_seen_ = changes;
  if (Clock::now() - last_progress_ > timeout_)
    end(fmt::format("no rank has made progress for {:.0f} s; farthest behind is {}",
                    std::chrono::duration<double>(Clock::now() - last_progress_).count(),
                    behind ? describe(behind->rank, behind->place, behind->newest) : whereabouts()));
}

Watchdog::Heartbeat Watchdog::now() const { return {phase_, step_, checkpoint_, changes_, 0}; }

std::string Watchdog::describe(int rank, const std::string& place, const Heartbeat& heartbeat) const {
  // Checkpoints are those of all ranks, and this rank may know of a later one.
  const std::int64_t checkpoint = std::max(heartbeat.checkpoint, now().checkpoint);
  return fmt::format("rank {} on {}, step {}, {}; last checkpoint: {}", rank, place, heartbeat.step,
                     to_string(static_cast<Phase>(heartbeat.phase)),
                     checkpoint < 0 ? "none" : fmt::format("step {}", checkpoint));
}

void Watchdog::end(const std::string& message) const {
  communicator_.abort(Error(Status::device_failure, message));
}

}  // namespace spsolve
