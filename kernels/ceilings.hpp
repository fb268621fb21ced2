// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace spsolve {

/// Holds an upper limit of a rate on the device, measured by a kernel that does nothing else.
struct Ceiling {
  std::string name;      // copy, fma fp32, mma.sp fp16 m16n8k32, ...
  std::string unit;      // B/s (read + written) or flop/s (2 per multiply-add; sparse rates count the zeros)
  double boost = 0;      // in the first launches after a pause
  double sustained = 0;  // after about half a second of load, so lower where the power limit applies
};

/// Holds the time of one message exchange with the two neighbours of a ring, in both directions.
struct ExchangeTime {
  double bytes = 0;  // per message
  double seconds = 0;
};

/// Selects the rates to measure: only copies and fused multiply-adds, which the roofline needs, or all rates.
enum class CeilingScope { roofline, all };

/// Holds the measured limits of the devices of a run.
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
