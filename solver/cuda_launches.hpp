// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "halo/transport.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Runs launches on one GPU. They are captured in CUDA graphs, the host runs ahead by a bounded number of
/// launches, and some launches are timed by events.
class CudaLaunches {
 public:
  /// Uses streams that outlive this object. `graphs` is true if the work of launches can be captured.
  CudaLaunches(const cuda::Stream& compute, const Transport& transport, bool graphs);
  ~CudaLaunches();

  std::unique_ptr<Launch> make_launch();
  void mark(Mark mark, cudaStream_t stream);
  /// Declares that the work of the current launch depends on its step, so it is enqueued anew every time.
  void never_replay() { replays_ = false; }
  /// Returns the time of the first launch plus that of all others, extrapolated from the launches that were
  /// timed.
  Timings timings();
  /// Waits for an event and checks the transport for failures meanwhile.
  void wait(const cuda::Event& event) const;

 private:
  class GraphLaunch;

  /// `prepared` is false for the first run of a launch.
  void begin_launch(bool prepared);
  void end_launch();
  void add_timed_launch();
  /// Returns how many launches may be in flight now.
  std::int64_t window() const;

  const cuda::Stream& compute_;
  const Transport* transport_;
  bool graphs_;
  bool replays_ = true;            // the launch that runs now may be captured
  std::int64_t preparations_ = 0;  // number of first runs; graphs captured before the last one are stale

  static constexpr std::int64_t max_in_flight = 64;  // upper limit of launches in flight
  std::array<cuda::Event, max_in_flight> finished_;
  std::int64_t launches_ = 0;
  double launch_seconds_ = 0;  // duration of the newest timed launch

  std::array<std::unique_ptr<cuda::Event>, mark_count> marks_;
  std::int64_t timed_launch_ = 0, next_timed_ = 0;
  bool timing_ = false, timed_pending_ = false;
  std::int64_t timed_for_ = 0;  // number of launches, after the first, that the timed ones represent
  Timings first_, timings_;
};

}  // namespace spsolve
