// SPDX-License-Identifier: Apache-2.0
#pragma once

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
Field random_field(std::mt19937_64& random, const Box& owned, const Index3& halo, Precision precision);

/// Returns the value at a point of a field in host memory.
double value_at(const Field& field, const Index3& p);

/// Returns the values of all points of a box, x fastest.
std::vector<double> points_of(const Field& field, const Box& box);

}  // namespace spsolve::testing
