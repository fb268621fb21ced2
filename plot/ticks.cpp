// SPDX-License-Identifier: Apache-2.0
#include "plot/ticks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace spsolve {
namespace {

/// Is a distance between ticks: mantissa * 10^exponent.
struct Step {
  int mantissa, exponent;

  double times(std::int64_t count) const {
    const double whole = static_cast<double>(count * mantissa);
    // Powers of ten of positive exponents are exact, so 3 * 0.1 becomes 0.3.
    return exponent < 0 ? whole / std::pow(10.0, -exponent) : whole * std::pow(10.0, exponent);
  }
  double size() const { return times(1); }
};

/// Returns the next larger distance.
Step after(const Step& step) {
  if (step.mantissa == 5) return {1, step.exponent + 1};
  return {step.mantissa == 1 ? 2 : 5, step.exponent};
}

std::string label_of(double value, const Step& step, double largest) {
  if (value == 0) return "0";
  const int decimals = std::max(0, -step.exponent);
  if (largest < 1e6 && decimals <= 5) return fmt::format("{:.{}f}", value, decimals);
  const int leading = static_cast<int>(std::floor(std::log10(std::abs(value))));
  return fmt::format("{:.{}e}", value, std::clamp(leading - step.exponent, 0, 15));
}

}  // namespace

std::vector<Tick> ticks_in(double low, double high, int max_ticks) {
  const double largest = std::max(std::abs(low), std::abs(high));
  // Fewer than a thousand doubles between the ends, or a distance that doubles cannot hold, make no scale.
  const double extent = high - low;
  if (!(extent > 1000 * 0x1p-52 * largest) || !(extent > 1e-290) || !std::isfinite(extent))
    return {{low, short_number(low)}};
  Step step{1, static_cast<int>(std::floor(std::log10(extent / max_ticks))) - 1};
  const double margin = 1e-9 * extent;  // coordinates are rounded
  const auto first = [&] { return static_cast<std::int64_t>(std::ceil((low - margin) / step.size())); };
  const auto last = [&] { return static_cast<std::int64_t>(std::floor((high + margin) / step.size())); };
  while (extent / step.size() > 10.0 * max_ticks || last() - first() + 1 > max_ticks) step = after(step);
  std::vector<Tick> ticks;
  for (std::int64_t i = first(); i <= last(); ++i)
    ticks.push_back({step.times(i), label_of(step.times(i), step, largest)});
  if (ticks.empty()) ticks.push_back({low, short_number(low)});
  return ticks;
}

std::string short_number(double value) { return fmt::format("{:.6g}", value); }

}  // namespace spsolve
