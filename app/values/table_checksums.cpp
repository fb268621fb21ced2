// SPDX-License-Identifier: Apache-2.0
#include "app/values/table_checksums.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <span>
#include <string>

#include "kernels/error.hpp"

namespace spsolve {
namespace {

/// Returns the checksum of the first rows of a table.
std::string checksum_of(const Table& table, std::int64_t rows) {
  const std::span counted(table.values.data(), static_cast<std::size_t>(rows * table.columns));
  return fmt::format("{:016x}", XXH3_64bits_withSeed(counted.data(), counted.size_bytes(),
                                                     static_cast<XXH64_hash_t>(table.columns)));
}

}  // namespace

std::string at_of_source(std::size_t number) { return fmt::format("point_sources.{}.at", number); }
std::string value_of_source(std::size_t number) { return fmt::format("point_sources.{}.value", number); }
std::string at_of_probes(std::size_t number) { return fmt::format("probes.{}.at", number); }
std::string value_of_wall(const std::string& field, int axis, int side) {
  return fmt::format("boundary.{}.{}.{}", field, axis_names[axis], side == low ? "low" : "high");
}

ValueChecksums checksums_of_tables(Tables& tables, const RunConfig& config, std::int64_t steps) {
  ValueChecksums checksums;
  // Adds the checksum of a dataset: of a row for each step, or of all its rows.
  const auto add = [&](const std::string& key, const auto& form, bool has_row_per_step = false) {
    const auto* dataset = std::get_if<DatasetForm>(&form);
    if (!dataset) return;
    try {
      const auto table = tables.read(*dataset, key);
      if (const std::int64_t rows = has_row_per_step ? steps : table->rows; rows <= table->rows)
        checksums[key] = checksum_of(*table, rows);
    } catch (const Error&) {  // the run reads the dataset again and says what is wrong
    }
  };
  for (std::size_t i = 0; i < config.point_sources.size(); ++i) {
    add(at_of_source(i), config.point_sources[i].at);
    add(value_of_source(i), config.point_sources[i].value, true);
  }
  for (std::size_t i = 0; i < config.probes.size(); ++i) add(at_of_probes(i), config.probes[i].at);
  if (config.equations)
    for (const FieldConfig& field : config.equations->fields)
      for (int axis = 0; axis < axis_count; ++axis)
        for (int side = 0; side < 2; ++side)
          if (const auto& wall = field.walls[axis][side])
            add(value_of_wall(field.name, axis, side), wall->value);
  return checksums;
}

}  // namespace spsolve
