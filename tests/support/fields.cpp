// SPDX-License-Identifier: Apache-2.0
#include "tests/support/fields.hpp"

namespace spsolve::testing {

Field random_field(std::mt19937_64& random, const Box& owned, const Index3& halo, Precision precision) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  return make_field(owned, halo, precision, [&] { return value(random); });
}

double value_at(const Field& field, const Index3& p) {
  return with_storage(field.precision(),
                      [&]<class Storage>() { return stored_value(*field.at<Storage>(p)); });
}

std::vector<double> points_of(const Field& field, const Box& box) {
  std::vector<double> values;
  with_storage(field.precision(), [&]<class Storage>() {
    for_each_point(box, [&](const Index3& p) { values.push_back(stored_value(*field.at<Storage>(p))); });
  });
  return values;
}

}  // namespace spsolve::testing
