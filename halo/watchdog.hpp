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

/// What a rank is doing. In `exchange` it waits for other ranks, in `device` for its GPU, which may wait for
/// others too; everything else takes as long as it takes.
enum class Phase : int { setup, compute, device, exchange, diagnostics, snapshot, checkpoint, finished };
const char* to_string(Phase phase);

/// Ends the job where it would wait for ever: when a rank sends no heartbeat (stopped, its machine gone),
/// or when every rank waits for another or for its GPU and none gets on. A thread of every rank sends what
/// the rank does to rank 0, about ten times within the timeout, and rank 0 answers; who misses the other says
/// which rank, where and what it did last, and aborts with Status::device_failure. Ranks that are busy
/// (files, compilers, a long launch on the CPU) go on sending heartbeats.
///
/// A rank that dies is found by the launcher first, which tells the others to end and kills them soon: a rank
/// that cannot answer, since it waits for the dead one, says where it is.
class Watchdog {
 public:
  /// `place`: host and device of this rank, for messages. `termination_requested`: whether this rank was told
  /// to end and has not answered; called by another thread. Collective. Several ranks are watched only where
  /// MPI allows communication by several threads.
  Watchdog(
      const Communicator& communicator, const std::string& place, double timeout_seconds,
      std::function<bool()> termination_requested = [] { return false; });
  /// Collective, unless an exception is under way.
  ~Watchdog();
  Watchdog(const Watchdog&) = delete;
  Watchdog& operator=(const Watchdog&) = delete;

  /// This rank begins to do something else.
  void enter(Phase phase);
  /// This rank has come to that step.
  void reach(std::int64_t step);
  /// Of the newest checkpoint; -1 says nothing.
  void checkpoint_written(std::int64_t step);

  /// "rank 3 on node7: GPU 1 ..., step 4000, exchange; last checkpoint: step 3000"
  std::string whereabouts() const;

 private:
  using Clock = std::chrono::steady_clock;

  /// What ranks tell each other.
  struct Heartbeat {
    std::int64_t phase = 0, step = 0;
    std::int64_t checkpoint = -1;  // step of the last one, -1 none
    std::int64_t changes = 0;      // of phase and step so far
    std::int64_t last = 0;         // no heartbeat comes after this one
  };
  /// The other end of a conversation.
  struct Peer {
    int rank = 0;
    std::string place;
    Heartbeat sent{}, received{};  // of requests under way
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
  void require_getting_on();
  Heartbeat now() const;
  std::string describe(int rank, const std::string& place, const Heartbeat& heartbeat) const;
  [[noreturn]] void end(const std::string& message) const;

  Communicator communicator_;  // of the heartbeats alone
  std::string place_;
  Clock::duration timeout_;
  std::function<bool()> termination_requested_;
  int unanswered_ = 0;  // how often this was seen, one glance after the other, while the rank did not get on
  std::atomic<int> phase_{static_cast<int>(Phase::setup)};
  std::atomic<std::int64_t> step_{0}, checkpoint_{-1}, changes_{0};

  std::vector<Peer> peers_;  // rank 0: all others; others: rank 0
  Clock::time_point got_on_ = Clock::now();
  std::int64_t changes_seen_ = -1;  // by rank 0, of all
  std::int64_t changes_told_ = -1;  // at the last glance

  std::mutex mutex_;
  std::condition_variable wake_;
  std::atomic<bool> abandoned_{false};
  std::thread thread_;
};

}  // namespace spsolve
