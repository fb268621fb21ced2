// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <random>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/reduction.hpp"

namespace spsolve::testing {

/// Makes a field in host memory. Every element, x fastest, halo included, is a result of value().
/// magnitude_bound() is set as well.
template <class Value>
Field make_field(const Box& owned, const Index3& halo, Precision precision, Value&& value) {
  Field field(owned, halo, precision);
  with_storage(precision, [&]<class Storage>() {
    for_each_point(field.allocated(),
                   [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(value()); });
  });
  HostReducer().raise_magnitude_bound(field, field.allocated());
  return field;
}

/// Makes a field of random numbers of magnitude at most 1.
inline Field random_field(std::mt19937_64& random, const Box& owned, const Index3& halo,
                          Precision precision) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  return make_field(owned, halo, precision, [&] { return value(random); });
}

/// Returns the value at a point of a field in host memory.
inline double value_at(const Field& field, const Index3& p) {
  return with_storage(field.precision(),
                      [&]<class Storage>() { return stored_value(*field.at<Storage>(p)); });
}

/// Returns the values of all points of a box, x fastest.
inline std::vector<double> points_of(const Field& field, const Box& box) {
  std::vector<double> values;
  with_storage(field.precision(), [&]<class Storage>() {
    for_each_point(box, [&](const Index3& p) { values.push_back(stored_value(*field.at<Storage>(p))); });
  });
  return values;
}

}  // namespace spsolve::testing
