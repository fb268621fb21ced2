// SPDX-License-Identifier: Apache-2.0
#include "io/field_rows.hpp"

#include "kernels/sampling.hpp"

namespace spsolve {

RowSource rows_of(const Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, std::byte* out) {
    convert(field.precision(), field.bytes_at(begin), 1, points, file, out);
  };
}

NamedRows named_rows(const std::string& name, const Field& field, Precision file) {
  const bool as_stored = format_of(field.precision()) == format_of(file);
  return {name, rows_of(field, file), as_stored ? &field : nullptr};
}

std::vector<NamedRows> rows_of(const std::vector<std::string>& names, const std::vector<const Field*>& fields,
                               Precision file) {
  std::vector<NamedRows> rows;
  for (std::size_t i = 0; i < names.size(); ++i) rows.push_back(named_rows(names[i], *fields.at(i), file));
  return rows;
}

RowSink rows_into(Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, const std::byte* values) {
    convert(file, values, 1, points, field.precision(), field.bytes_at(begin));
  };
}

}  // namespace spsolve
