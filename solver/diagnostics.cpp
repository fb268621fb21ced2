// SPDX-License-Identifier: Apache-2.0
#include "solver/diagnostics.hpp"

#include <array>
#include <cmath>
#include <limits>

namespace spsolve {
namespace {

/// A sum of n numbers of magnitude at most `largest` that does not depend on their order: every addend is
/// split at two fixed bit positions, chosen so that sums of the pieces are exact (pre-rounding; Demmel and
/// Nguyen, "Fast reproducible floating-point summation", ARITH 2013, algorithm 4 with K = 2). The error of an
/// addend is below n^2 2^-103 largest.
class ReproducibleSum {
 public:
  ReproducibleSum(double largest, std::int64_t count) {
    const int headroom = std::ilogb(static_cast<double>(count)) + 2;
    const int first = (largest > 0 ? std::ilogb(largest) : -900) + headroom;
    split_ = {std::ldexp(1.5, first), std::ldexp(1.5, first - 53 + headroom)};
  }

  std::array<double, 2> pieces(double value) const {
    const double high = (value + split_[0]) - split_[0];
    const double low = ((value - high) + split_[1]) - split_[1];
    return {high, low};
  }

 private:
  std::array<double, 2> split_;
};

}  // namespace

std::optional<Index3> first_not_finite(const Communicator& communicator, const Index3& shape,
                                       const Field& field) {
  constexpr std::int64_t none = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = none;
  with_storage(field.precision(), [&]<class Storage>() {
    const Index3 extent = field.owned().extent();
#pragma omp parallel for schedule(static) reduction(min : first)
    for (std::int64_t row = 0; row < extent[0] * extent[1]; ++row) {
      const Index3 begin = field.owned().begin + Index3{row / extent[1], row % extent[1], 0};
      const Storage* values = field.at<Storage>(begin);
      double zero = 0;  // becomes NaN with the first value that is not finite
#pragma omp simd reduction(+ : zero)
      for (std::int64_t x = 0; x < extent[2]; ++x) zero += stored_value(values[x]) * 0.0;
      if (zero == 0.0) continue;
      for (std::int64_t x = 0; x < extent[2]; ++x)
        if (!std::isfinite(stored_value(values[x]))) {
          first = std::min(first, (begin[0] * shape[1] + begin[1]) * shape[2] + begin[2] + x);
          break;
        }
    }
  });
  first = communicator.all_reduce(first, MPI_MIN);
  if (first == none) return std::nullopt;
  return Index3{first / (shape[1] * shape[2]), first / shape[2] % shape[1], first % shape[2]};
}

Diagnostics measure(const Communicator& communicator, const Index3& shape, const Field& field,
                    const Field* previous) {
  const Index3 extent = field.owned().extent();
  const std::int64_t rows = extent[0] * extent[1], points = volume(shape);
  Diagnostics result;
  with_storage(field.precision(), [&]<class Storage>() {
    const auto row_of = [&](const Field& of, std::int64_t row) {
      return of.at<Storage>(field.owned().begin + Index3{row / extent[1], row % extent[1], 0});
    };
    double least = std::numeric_limits<double>::infinity(), greatest = -least, largest_change = 0;
#pragma omp parallel for schedule(static) reduction(min : least) reduction(max : greatest, largest_change)
    for (std::int64_t row = 0; row < rows; ++row) {
      const Storage* now = row_of(field, row);
      const Storage* before = previous ? row_of(*previous, row) : now;
#pragma omp simd reduction(min : least) reduction(max : greatest, largest_change)
      for (std::int64_t x = 0; x < extent[2]; ++x) {
        const double value = stored_value(now[x]);
        least = std::min(least, value);
        greatest = std::max(greatest, value);
        largest_change = std::max(largest_change, std::abs(value - stored_value(before[x])));
      }
    }
    result.min = communicator.all_reduce(least, MPI_MIN);
    result.max = communicator.all_reduce(greatest, MPI_MAX);
    largest_change = communicator.all_reduce(largest_change, MPI_MAX);

    // Squares are of numbers scaled by a power of two, so that they neither overflow nor underflow.
    const double largest = std::max(std::abs(result.min), std::abs(result.max));
    const auto exponent_of = [](double magnitude) { return magnitude > 0 ? std::ilogb(magnitude) + 1 : 0; };
    const double scale = std::ldexp(1.0, -exponent_of(largest)),
                 change_scale = std::ldexp(1.0, -exponent_of(largest_change));
    const ReproducibleSum unit_sum(1.0, points);
    double sum[6] = {};  // high and low pieces of the values, their squares, the squares of their changes
#pragma omp parallel for schedule(static) reduction(+ : sum[:6])
    for (std::int64_t row = 0; row < rows; ++row) {
      const Storage* now = row_of(field, row);
      const Storage* before = previous ? row_of(*previous, row) : now;
      double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5)
      for (std::int64_t x = 0; x < extent[2]; ++x) {
        const double value = stored_value(now[x]) * scale;
        const double change = (stored_value(now[x]) - stored_value(before[x])) * change_scale;
        const auto [v0, v1] = unit_sum.pieces(value);
        const auto [q0, q1] = unit_sum.pieces(value * value);
        const auto [c0, c1] = unit_sum.pieces(change * change);
        s0 += v0, s1 += v1, s2 += q0, s3 += q1, s4 += c0, s5 += c1;
      }
      sum[0] += s0, sum[1] += s1, sum[2] += s2, sum[3] += s3, sum[4] += s4, sum[5] += s5;
    }
    check_mpi(MPI_Allreduce(MPI_IN_PLACE, sum, 6, MPI_DOUBLE, MPI_SUM, communicator.handle()));
    result.mean = (sum[0] + sum[1]) / static_cast<double>(points) / scale;
    result.l2 = std::sqrt(sum[2] + sum[3]) / scale;
    result.change_l2 = std::sqrt(sum[4] + sum[5]) / change_scale;
  });
  return result;
}

}  // namespace spsolve
