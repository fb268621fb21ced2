// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>

namespace spsolve {

/// Names the ends of the parts of a launch.
enum class Mark { begin, packed, interior, arrived, unpacked, edges };
constexpr std::size_t mark_count = 6;

/// Holds the seconds that launches took on this rank, in total and by part. Parts overlap: messages travel
/// while the interior is computed.
struct Timings {
  double compute = 0;
  double exchange = 0;  // packing, and waiting for neighbours that computation did not hide
  double packing = 0, travel = 0, unpacking = 0;
  double interior = 0, edges = 0;

  /// Adds a launch whose parts ended at the times `at`, in seconds. It counts for `launches` launches.
  void add(const std::array<double, mark_count>& at, double launches) {
    const auto between = [&](Mark from, Mark to) {
      return launches * (at[static_cast<std::size_t>(to)] - at[static_cast<std::size_t>(from)]);
    };
    packing += between(Mark::begin, Mark::packed);
    travel += between(Mark::packed, Mark::arrived);
    unpacking += between(Mark::arrived, Mark::unpacked);
    interior += between(Mark::packed, Mark::interior);
    edges += between(Mark::unpacked, Mark::edges);
    const double exposed =
        between(Mark::begin, Mark::packed) + std::max(0.0, between(Mark::interior, Mark::unpacked));
    exchange += exposed;
    compute += std::max(between(Mark::begin, Mark::interior), between(Mark::begin, Mark::edges)) - exposed;
  }

  friend Timings operator*(double factor, Timings t) {
    for (const auto part : parts) t.*part *= factor;
    return t;
  }
  Timings& operator+=(const Timings& other) {
    for (const auto part : parts) this->*part += other.*part;
    return *this;
  }

 private:
  static const std::array<double Timings::*, 7> parts;
};

inline constexpr std::array<double Timings::*, 7> Timings::parts{
    &Timings::compute,   &Timings::exchange, &Timings::packing, &Timings::travel,
    &Timings::unpacking, &Timings::interior, &Timings::edges};

}  // namespace spsolve
