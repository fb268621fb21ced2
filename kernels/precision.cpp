// SPDX-License-Identifier: Apache-2.0
#include "kernels/precision.hpp"

#include <cmath>

namespace spsolve {
namespace {

/// Returns the float nearest to value, rounded to odd where that is not exact. A second rounding to a format
/// with at least two bits fewer then equals one rounding from double (Boldo and Melquiond 2008).
float round_to_odd(double value) {
  const auto nearest = static_cast<float>(value);
  if (static_cast<double>(nearest) == value || !std::isfinite(nearest)) return nearest;
  if (std::bit_cast<std::uint32_t>(nearest) & 1u) return nearest;
  const float direction = static_cast<double>(nearest) < value ? HUGE_VALF : -HUGE_VALF;
  return std::nextafter(nearest, direction);
}

}  // namespace

template <>
double to_storage<double>(double value) {
  return value;
}
template <>
float to_storage<float>(double value) {
  return static_cast<float>(value);
}
template <>
Tf32 to_storage<Tf32>(double value) {
  return Tf32(static_cast<float>(value));
}
template <>
Bfloat16 to_storage<Bfloat16>(double value) {
  return Bfloat16(round_to_odd(value));
}
template <>
Half to_storage<Half>(double value) {
  return Half(round_to_odd(value));
}

std::optional<Precision> parse_precision(std::string_view name) {
  for (const Precision precision : all_precisions)
    if (to_string(precision) == name) return precision;
  return std::nullopt;
}

}  // namespace spsolve
