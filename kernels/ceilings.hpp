// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// A rate that nothing on the device exceeds, measured by a kernel that does nothing else.
struct Ceiling {
  std::string name;      // copy, fma fp32, mma.sp fp16 m16n8k32, ...
  std::string unit;      // B/s (read + written) or flop/s (2 per multiply-add; sparse ones count the zeros)
  double boost = 0;      // the first launches after a rest
  double sustained = 0;  // after about half a second of the same: where the power limit bites, less
};

/// One exchange of messages with the two neighbours of a ring, both directions.
struct ExchangeTime {
  double bytes = 0;  // per message
  double seconds = 0;
};

/// Which rates to measure: copies and fused multiply-adds, which shares of the roofline need; or all there
/// are.
enum class CeilingScope { roofline, all };

/// What the devices of a run can do.
struct Ceilings {
  std::string device;  // NVIDIA H200, or the processor and its threads
  std::vector<Ceiling> rates;
  std::vector<ExchangeTime> exchange;  // empty with one rank

  const Ceiling* find(std::string_view name) const {
    for (const Ceiling& rate : rates)
      if (rate.name == name) return &rate;
    return nullptr;
  }
};

}  // namespace spsolve
