// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace spsolve {

struct Tick {
  double value;
  std::string label;
};

/// Returns round numbers within [low, high], multiples of 1, 2 or 5 times a power of ten: as many as possible
/// but at most `max_ticks` (>= 2). Labels have as many digits as it takes to tell the ticks apart. If the
/// ends are equal, or too near to each other for doubles between them, the only tick is `low`.
std::vector<Tick> ticks_in(double low, double high, int max_ticks);

/// Returns a number in at most six digits, without zeros at the end: "0.125", "1.5e-09".
std::string short_number(double value);

}  // namespace spsolve
