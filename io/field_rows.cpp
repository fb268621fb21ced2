// SPDX-License-Identifier: Apache-2.0
#include "io/field_rows.hpp"

#include <optional>

namespace spsolve {

RowSource rows_of(const ReadableField& values, Precision file) {
  return [values, file](const Index3& begin, std::int64_t points, std::byte* out) {
    convert(values.field->precision(), values.on_host(begin, points), 1, points, file, out);
  };
}

NamedRows named_rows(const std::string& name, const ReadableField& values, Precision file) {
  const bool as_stored = format_of(values.field->precision()) == format_of(file);
  return {name, rows_of(values, file), as_stored ? std::optional(values) : std::nullopt};
}

std::vector<NamedRows> rows_of(const std::vector<std::string>& names,
                               const std::vector<ReadableField>& fields, Precision file) {
  std::vector<NamedRows> rows;
  for (std::size_t i = 0; i < names.size(); ++i) rows.push_back(named_rows(names[i], fields.at(i), file));
  return rows;
}

RowSink rows_into(Field& field, Precision file) {
  return [&field, file](const Index3& begin, std::int64_t points, const std::byte* values) {
    convert(file, values, 1, points, field.precision(), field.bytes_at(begin));
  };
}

}  // namespace spsolve
