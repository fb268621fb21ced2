// SPDX-License-Identifier: Apache-2.0
#include "kernels/precision.hpp"

#include <array>
#include <cmath>
#include <utility>

namespace spsolve {
namespace {

constexpr std::array<std::pair<std::string_view, Precision>, 5> names{{{"fp64", Precision::fp64},
                                                                       {"fp32", Precision::fp32},
                                                                       {"tf32", Precision::tf32},
                                                                       {"bf16", Precision::bf16},
                                                                       {"fp16", Precision::fp16}}};

/// The float nearest to value, but rounded to odd where it is not exact: a second rounding to a format of at
/// least two bits less then gives the same as one rounding from double (Boldo and Melquiond 2008).
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
Eigen::bfloat16 to_storage<Eigen::bfloat16>(double value) {
  return Eigen::bfloat16(round_to_odd(value));
}
template <>
Eigen::half to_storage<Eigen::half>(double value) {
  return Eigen::half(round_to_odd(value));
}

std::string_view to_string(Precision precision) {
  for (const auto& [name, value] : names)
    if (value == precision) return name;
  return "unknown";
}

std::optional<Precision> parse_precision(std::string_view name) {
  for (const auto& [known, value] : names)
    if (known == name) return value;
  return std::nullopt;
}

}  // namespace spsolve
