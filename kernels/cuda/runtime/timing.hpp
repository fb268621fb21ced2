// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <thread>
#include <vector>

#include "kernels/cuda/runtime/stream.hpp"

namespace spsolve::cuda {

/// Returns the mean seconds per call of `launch`, called `count` times back to back.
template <class Launch>
double mean_seconds(const Stream& stream, int count, Launch&& launch) {
  const Event begin(true), end(true);
  begin.record(stream);
  for (int i = 0; i < count; ++i) launch();
  end.record(stream);
  end.synchronize();
  return end.seconds_since(begin) / count;
}

/// Holds the seconds per launch at the boost clock of a rested device, and at the clock of a device under
/// load.
struct LaunchTime {
  double boost_s, sustained_s;
};

/// Times a launch in two ways. Boost: the better of a batch and of the median of single launches, each after
/// a rest of 60 ms. Sustained: the mean of launches back to back for `seconds`, after a warm-up of the same
/// length.
template <class Launch>
LaunchTime launch_time(const Stream& stream, double seconds, Launch&& launch) {
  constexpr int batch = 12;
  constexpr std::chrono::milliseconds rest(60);
  launch();
  const int count = std::max(batch, static_cast<int>(seconds / mean_seconds(stream, 2, launch)) + 1);
  std::this_thread::sleep_for(rest);
  const double together = mean_seconds(stream, batch, launch);
  std::this_thread::sleep_for(rest);
  std::vector<double> single;
  for (int i = 0; i < batch; ++i) single.push_back(mean_seconds(stream, 1, launch));
  std::nth_element(single.begin(), single.begin() + batch / 2, single.end());
  mean_seconds(stream, count, launch);
  return {std::min(together, single[batch / 2]), mean_seconds(stream, count, launch)};
}

}  // namespace spsolve::cuda
