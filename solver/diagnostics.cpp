// SPDX-License-Identifier: Apache-2.0
#include "solver/diagnostics.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

namespace spsolve {
namespace {

/// Returns a power of two that scales numbers up to `largest` to magnitudes below 1, so that squares neither
/// overflow nor underflow. The smallest numbers are scaled only to 2^-53, because a larger factor would be
/// infinite.
double scale_of(double largest) {
  return largest > 0 ? std::ldexp(1.0, -std::max(std::ilogb(largest) + 1, -1021)) : 1.0;
}

/// Returns how `points` numbers are split for exact sums.
SumScales scales_of(const Extremes& extremes, std::int64_t points) {
  const int headroom = std::ilogb(static_cast<double>(points)) + 2;
  return {scale_of(std::max(std::abs(extremes.min), std::abs(extremes.max))),
          std::isinf(extremes.largest_change) ? 0.0 : scale_of(extremes.largest_change),
          {std::ldexp(1.5, headroom), std::ldexp(1.5, 2 * headroom - 53)}};
}

}  // namespace

ScanResult StateView::scan(const Sampling& sampling) const {
  const std::shared_ptr<HostCopy> copy = backend->make_copy(*state, sampling);
  const Extremes extremes = backend->reducer().extremes(*state, previous, copy->sample());
  copy->max_magnitude = extremes.first_not_finite == no_point
                            ? std::max(std::abs(extremes.min), std::abs(extremes.max))
                            : std::numeric_limits<double>::infinity();
  copy->start_transfer();
  return {extremes, copy};
}

std::vector<double> values_of_row(Backend& backend, const Field& row, std::size_t count) {
  backend.synchronize();
  const auto copy = StateView{&backend, &row, nullptr}.scan({1, row.precision()}).copy;
  const auto points = static_cast<std::int64_t>(count);
  std::vector<double> values(count);
  convert(row.precision(), copy->readable().on_host({0, 0, 0}, points), 1, points, Precision::fp64,
          std::as_writable_bytes(std::span(values)).data());
  return values;
}

Extremes extremes_of_all(const Communicator& communicator, const Index3& shape, const Box& box,
                         const Extremes& own) {
  Extremes found = own;
  if (found.first_not_finite != no_point) {
    found.first_not_finite = index_of(box.begin + point_of(found.first_not_finite, box.extent()), shape);
  }
  std::array<double, 3> least{found.min, -found.max, -found.largest_change};
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, least.data(), 3, MPI_DOUBLE, MPI_MIN, communicator.handle()));
  const std::int64_t first =
      communicator.all_reduce(static_cast<std::int64_t>(found.first_not_finite), MPI_MIN);
  // The order of the ranks decides which of two zeros is the minimum. Adding zero makes both +0.
  return {least[0] + 0.0, 0.0 - least[1], 0.0 - least[2], first};
}

std::optional<Index3> first_not_finite(const Extremes& extremes, const Index3& shape) {
  if (extremes.first_not_finite == no_point) return std::nullopt;
  return point_of(extremes.first_not_finite, shape);
}

double sum_over_grid(const Communicator& communicator, const Index3& shape, const Field& host) {
  HostReducer reducer;
  const Extremes extremes =
      extremes_of_all(communicator, shape, host.owned(), reducer.extremes(host, nullptr, {}));
  if (extremes.first_not_finite != no_point) return std::numeric_limits<double>::quiet_NaN();
  const SumScales scales = scales_of(extremes, volume(shape));
  Sums sums = reducer.sums(host, nullptr, scales);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.pieces, 6, MPI_DOUBLE, MPI_SUM, communicator.handle()));
  return (sums.pieces[0] + sums.pieces[1]) / scales.value;
}

Diagnostics measure(const Communicator& communicator, const Index3& shape, const StateView& view,
                    const Extremes& extremes) {
  const std::int64_t points = volume(shape);
  const SumScales scales = scales_of(extremes, points);
  Sums sums = view.backend->reducer().sums(*view.state, view.previous, scales);
  check_mpi(MPI_Allreduce(MPI_IN_PLACE, sums.pieces, 6, MPI_DOUBLE, MPI_SUM, communicator.handle()));
  const auto whole = [&](int sum) { return sums.pieces[2 * sum] + sums.pieces[2 * sum + 1]; };
  // If a change is too large for a double, the norm of all changes is too large as well.
  return {extremes.min, extremes.max, whole(0) / static_cast<double>(points) / scales.value,
          std::sqrt(whole(1)) / scales.value,
          scales.change > 0 ? std::sqrt(whole(2)) / scales.change : extremes.largest_change};
}

}  // namespace spsolve
