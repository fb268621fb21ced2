// SPDX-License-Identifier: Apache-2.0
#include "kernels/reduction.hpp"

#include <algorithm>
#include <cmath>

#include "kernels/magnitude.hpp"

namespace spsolve {
namespace {

/// Returns combined() of `of_nothing` and the results of visit(row number, values of the row, values before,
/// points) for every row.
template <class Storage, class Result, class Visit>
Result over_rows(const Field& field, const Field* before, const Result& of_nothing, Visit&& visit) {
  const Box& box = field.owned();
  Result result = of_nothing;
#pragma omp parallel
  {
    Result own = of_nothing;
#pragma omp for schedule(static) nowait
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Index3 begin = row_begin(box, row);
      const Storage* now = field.at<Storage>(begin);
      own = combined(own, visit(row, now, before ? before->at<Storage>(begin) : now, box.extent()[x_axis]));
    }
#pragma omp critical(spsolve_reduction)
    result = combined(result, own);
  }
  return result;
}

}  // namespace

Extremes HostReducer::extremes(const Field& field, const Field* before, const Sample& sample) {
  if (sample.values) copy_sampled(field, sample);
  return with_storage(field.precision(), [&]<class Storage>() {
    return over_rows<Storage>(
        field, before, no_extremes,
        [](std::int64_t row, const Storage* now, const Storage* then, std::int64_t points) {
          Extremes found = no_extremes;
          double least = found.min, greatest = found.max, largest_change = 0;
          double zero = 0;  // becomes NaN with the first value that is not finite
#pragma omp simd reduction(min : least) reduction(max : greatest, largest_change) reduction(+ : zero)
          for (std::int64_t x = 0; x < points; ++x) {
            const double value = stored_value(now[x]);
            least = std::min(least, value);
            greatest = std::max(greatest, value);
            largest_change = std::max(largest_change, std::abs(value - stored_value(then[x])));
            zero += value * 0.0;
          }
          if (zero != 0.0) {
            const auto* bad = std::find_if(now, now + points,
                                           [](Storage value) { return !std::isfinite(stored_value(value)); });
            found.first_not_finite = row * points + (bad - now);
          }
          return Extremes{least, greatest, largest_change, found.first_not_finite};
        });
  });
}

Sums HostReducer::sums(const Field& field, const Field* before, const SumScales& scales) {
  return with_storage(field.precision(), [&]<class Storage>() {
    return over_rows<Storage>(
        field, before, Sums{},
        [&](std::int64_t, const Storage* now, const Storage* then, std::int64_t points) {
          double s0 = 0, s1 = 0, s2 = 0, s3 = 0, s4 = 0, s5 = 0;
#pragma omp simd reduction(+ : s0, s1, s2, s3, s4, s5)
          for (std::int64_t x = 0; x < points; ++x) {
            const double value = stored_value(now[x]);
            const Sums point = summands(value, value - stored_value(then[x]), scales);
            s0 += point.pieces[0], s1 += point.pieces[1], s2 += point.pieces[2];
            s3 += point.pieces[3], s4 += point.pieces[4], s5 += point.pieces[5];
          }
          return Sums{{s0, s1, s2, s3, s4, s5}};
        });
  });
}

void HostReducer::raise_magnitude_bound(Field& field, const Box& box) {
  int largest = *field.magnitude_bound();
  with_storage(field.precision(), [&]<class Storage>() {
#pragma omp parallel for schedule(static) reduction(max : largest)
    for (std::int64_t row = 0; row < row_count(box); ++row) {
      const Storage* const values = field.at<Storage>(row_begin(box, row));
      for (std::int64_t x = 0; x < box.extent()[x_axis]; ++x)
        largest = std::max(largest, magnitude(static_cast<float>(stored_value(values[x]))));
    }
  });
  *field.magnitude_bound() = largest;
}

}  // namespace spsolve
