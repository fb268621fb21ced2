// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "halo/communicator.hpp"

namespace spsolve {

/// Names the activity of a rank. In `exchange` it waits for other ranks, and in `device` for its GPU, which
/// may also wait for others. The other phases may take any time.
enum class Phase : int { setup, compute, device, exchange, diagnostics, snapshot, checkpoint, finished };
const char* to_string(Phase phase);

/// Ends the job if it would wait forever: when a rank sends no heartbeat (it is stopped, or its machine is
/// gone), or when every rank waits for another or for its GPU and none makes progress.
///
/// A thread of every rank sends the rank's state to rank 0, about ten times within the timeout, and rank 0
/// answers. If a heartbeat does not come, the rank that waits for it reports the silent rank, its machine and
/// what it did last, and aborts with Status::device_failure. Busy ranks (files, compilers, a long launch on
/// the CPU) continue to send heartbeats.
///
/// If a rank dies, the launcher notices first. It asks the other ranks to end and kills them soon after. A
/// rank that cannot react, because it waits for the dead one, reports its position, and which rank has been
/// silent if some have: the launcher knows only the host that it has lost.
class Watchdog {
 public:
  /// `place` names host and device of this rank in messages. `termination_requested`, which another thread
  /// calls, returns true if this rank was asked to end and has not reacted. Several ranks are watched only if
  /// MPI allows several threads to communicate. Collective.
  Watchdog(
      const Communicator& communicator, const std::string& place, double timeout_seconds,
      std::function<bool()> termination_requested = [] { return false; });
  /// The destructor is collective, unless an exception is in flight.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// Records that this rank begins another activity.
  void enter(Phase phase);
  /// Records that this rank has reached a step.
  void reach(std::int64_t step);
  /// Records the step of the newest checkpoint. -1 is ignored.
  void checkpoint_written(std::int64_t step);

  /// Returns a text like "rank 3 on node7: GPU 1 ..., step 4000, exchange; last checkpoint: step 3000".
  std::string whereabouts() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// Is the message that ranks send each other.
  struct Heartbeat {
    std::int64_t phase = 0, step = 0;
    std::int64_t checkpoint = -1;  // step of the last checkpoint, -1 if none
    std::int64_t changes = 0;      // how often phase or step have changed
    std::int64_t last = 0;         // not 0 in the last heartbeat of a rank
  };
  /// Holds the state of the exchange of heartbeats with one rank.
  struct Peer {
    int rank = 0;
    std::string place;
    Heartbeat sent{}, received{};  // buffers of the requests in progress
    MPI_Request sending = MPI_REQUEST_NULL, receiving = MPI_REQUEST_NULL;
    Heartbeat newest{};
    Clock::time_point heard{};
    bool told_last = false;
  };

  void run();
  void grant_timeout();
  void pause();
  bool exchange_heartbeats();
  bool exchange_heartbeats(Peer& peer, const Heartbeat& heartbeat);
  bool finished() const { return phase_ == static_cast<int>(Phase::finished); }
  void require_heartbeats() const;
  void require_progress();
  Heartbeat now() const;
  std::string describe(int rank, const std::string& place, const Heartbeat& heartbeat) const;
  std::string silence_beyond(Clock::duration limit) const;
  [[noreturn]] void end(const std::string& message) const;

  Communicator communicator_;  // used only for heartbeats
  std::string place_;
  Clock::duration timeout_;
  std::function<bool()> termination_requested_;
  int unanswered_ = 0;  // number of consecutive checks that found a request to end but no progress
  std::atomic<int> phase_{static_cast<int>(Phase::setup)};
  std::atomic<std::int64_t> step_{0}, checkpoint_{-1}, changes_{0};

  std::vector<Peer> peers_;  // rank 0: all others; others: rank 0
  Clock::time_point last_progress_ = Clock::now();
  std::int64_t changes_seen_ = -1;  // rank 0: the sum over all ranks
  std::int64_t changes_told_ = -1;  // at the last check

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> abandoned_{false};
  std::thread thread_;
};

}  // namespace spsolve
