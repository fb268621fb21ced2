// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "halo/transport.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "solver/backend.hpp"

namespace spsolve {

/// Launches on one GPU: they are captured in CUDA graphs, the host runs a bounded number of them ahead, and
/// some of them are timed by events.
class CudaLaunches {
 public:
  /// On streams that outlive this. `graphs`: whether what launches enqueue can be captured.
  CudaLaunches(const cuda::Stream& compute, const Transport& transport, bool graphs);
  ~CudaLaunches();

  std::unique_ptr<Launch> make_launch();
  void mark(Mark mark, cudaStream_t stream);
  /// The first launch, and means of those that were timed times the number of all others.
  Timings timings();
  /// Returns when what `event` recorded has come to pass, looking at the transport meanwhile.
  void wait(const cuda::Event& event) const;

 private:
  class GraphLaunch;

  /// `prepared`: it is not the first of its kind.
  void begin_launch(bool prepared);
  void end_launch();
  void add_timed_launch();
  /// How many launches may be on their way now.
  std::int64_t window() const;

  const cuda::Stream& compute_;
  const Transport* transport_;
  bool graphs_;
  std::int64_t preparations_ = 0;  // launches that ran for the first time: graphs of before are stale

  static constexpr std::int64_t ahead = 64;  // launches that may be on their way at the most
  std::array<cuda::Event, ahead> finished_;
  std::int64_t launches_ = 0;
  double launch_seconds_ = 0;  // that the newest timed one took

  std::array<std::unique_ptr<cuda::Event>, mark_count> marks_;
  std::int64_t timed_launch_ = 0, next_timed_ = 0;
  bool timing_ = false, timed_pending_ = false;
  std::int64_t timed_for_ = 0;  // launches after the first that timed ones stand for
  Timings first_, timings_;
};

}  // namespace spsolve
