// SPDX-License-Identifier: Apache-2.0
#include "io/field_rows.hpp"

#include <algorithm>
#include <type_traits>

namespace spsolve {
namespace {

/// The format of the numbers as they are stored: tf32 rounds operands, not what is stored.
Precision format_of(Precision precision) {
  return precision == Precision::tf32 ? Precision::fp32 : precision;
}

template <class From, class To>
void convert(const std::byte* from, std::int64_t points, std::byte* to) {
  const auto* values = reinterpret_cast<const From*>(from);
  auto* converted = reinterpret_cast<To*>(to);
  if constexpr (std::is_same_v<From, To>)
    std::copy_n(values, points, converted);
  else if constexpr (std::is_floating_point_v<To>)  // vectorised, which calls are not
    std::transform(values, values + points, converted,
                   [](From value) { return static_cast<To>(stored_value(value)); });
  else
    std::transform(values, values + points, converted,
                   [](From value) { return to_storage<To>(stored_value(value)); });
}

void convert(Precision from_precision, const std::byte* from, std::int64_t points, Precision to_precision,
             std::byte* to) {
  with_storage(format_of(from_precision), [&]<class From>() {
    with_storage(format_of(to_precision), [&]<class To>() { convert<From, To>(from, points, to); });
  });
}

}  // namespace

RowSource rows_of(const Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, std::byte* out) {
    convert(field.precision(), field.bytes_at(begin), points, file, out);
  };
}

RowSink rows_into(Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, const std::byte* values) {
    convert(file, values, points, field.precision(), field.bytes_at(begin));
  };
}

}  // namespace spsolve
