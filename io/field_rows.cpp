// SPDX-License-Identifier: Apache-2.0
#include "io/field_rows.hpp"

#include <algorithm>

namespace spsolve {

RowSource rows_of(const Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, std::byte* out) {
    with_storage(field.precision(), [&]<class Stored>() {
      with_storage(file, [&]<class Written>() {
        const Stored* row = field.at<Stored>(begin);
        if constexpr (std::is_same_v<Stored, Written>)
          std::copy_n(row, points, reinterpret_cast<Written*>(out));
        else
          std::transform(row, row + points, reinterpret_cast<Written*>(out),
                         [](Stored value) { return to_storage<Written>(stored_value(value)); });
      });
    });
  };
}

RowSink rows_into(Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, const std::byte* values) {
    with_storage(field.precision(), [&]<class Stored>() {
      with_storage(file, [&]<class Read>() {
        const Read* row = reinterpret_cast<const Read*>(values);
        if constexpr (std::is_same_v<Stored, Read>)
          std::copy_n(row, points, field.at<Stored>(begin));
        else
          std::transform(row, row + points, field.at<Stored>(begin),
                         [](Read value) { return to_storage<Stored>(stored_value(value)); });
      });
    });
  };
}

}  // namespace spsolve
