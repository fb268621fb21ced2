// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"
#include "tests/support/fields.hpp"

namespace spsolve::testing {

/// Holds a reproducible problem of awkward shape: odd, prime and tiny extents, asymmetric weights of any
/// sign, and any walls.
struct RandomCase {
  std::mt19937_64 random;
  Domain domain;
  Stencil stencil;
  std::vector<double> u, source;

  explicit RandomCase(std::uint64_t seed, int largest_radius = 3, std::int64_t max_points = 4000);

  /// Returns a random integer, from `least` to `most`.
  std::int64_t between(std::int64_t least, std::int64_t most);
  /// Returns `count` random numbers from -1 to 1.
  std::vector<double> uniform(std::int64_t count);
  /// Returns random weights for the dimensions of `domain`, of at most this radius. Their magnitudes sum
  /// to 1.
  Stencil random_stencil(int largest_radius);
  /// Returns a text for messages of failures: extents, radii, walls and the number of taps.
  std::string describe() const;

 private:
  Domain random_domain(std::int64_t max_points);
};

/// Bounds the error of `steps` steps in arithmetic of unit roundoff `roundoff` on data of at most `largest`
/// in magnitude. Every step adds at most (taps + 2) roundings of a sum of magnitude sum|w| * largest + |s|
/// (Higham 2002, eq. 3.3), and amplifies earlier errors by at most sum|w|.
double rounding_bound(const Stencil& stencil, double roundoff, int steps, double largest);

/// Bounds the error of one launch of `steps` steps in a precision: roundings of sums in fp64 or fp32, and of
/// storage twice per launch (16 bit) or of both operands in every step (tf32).
double launch_bound(const Stencil& stencil, Precision precision, int steps, double largest);

/// Sets the points of `box` in a field from a grid array. The grid is continued periodically along periodic
/// axes; points beyond walls are clamped.
void set_points(Field& field, const Box& box, const Domain& domain, const std::vector<double>& values);

/// Returns a random box of the grid and the boxes around it, some thin, unaligned or thinner than the radius.
std::vector<Box> random_regions(RandomCase& problem);

}  // namespace spsolve::testing
