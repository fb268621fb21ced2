// SPDX-License-Identifier: Apache-2.0
#include "app/values/table_checksums.hpp"

#include <fmt/format.h>
#include <xxhash.h>

#include <optional>
#include <span>
#include <string>

#include "app/setup/points.hpp"
#include "kernels/error.hpp"

namespace spsolve {

std::string at_of_source(std::size_t number) { return fmt::format("point_sources.{}.at", number); }
std::string value_of_source(std::size_t number) { return fmt::format("point_sources.{}.value", number); }
std::string at_of_probes(std::size_t number) { return fmt::format("probes.{}.at", number); }
std::string value_of_wall(const std::string& field, int axis, int side) {
  return fmt::format("boundary.{}.{}.{}", field, axis_names[axis], side == low ? "low" : "high");
}

ValueChecksums checksums_of_tables(const Communicator& communicator, const RunConfig& config,
                                   std::int64_t steps) {
  ValueChecksums checksums;
  // Adds the checksum of the first `rows` rows of a dataset, or of all rows if no number is given.
  const auto add = [&](const std::string& key, const auto& form, std::optional<std::int64_t> rows = {}) {
    const auto* dataset = std::get_if<DatasetForm>(&form);
    if (!dataset) return;
    try {
      const Table table = read_table(communicator, *dataset, key);
      const std::int64_t wanted = rows.value_or(table.rows);
      if (wanted > table.rows) return;
      const std::span counted(table.values.data(), static_cast<std::size_t>(wanted * table.columns));
      checksums[key] = fmt::format("{:016x}", XXH3_64bits_withSeed(counted.data(), counted.size_bytes(),
                                                                   static_cast<XXH64_hash_t>(table.columns)));
    } catch (const Error&) {  // the run reads the dataset again and says what is wrong
    }
  };
  for (std::size_t i = 0; i < config.point_sources.size(); ++i) {
    add(at_of_source(i), config.point_sources[i].at);
    add(value_of_source(i), config.point_sources[i].value, steps);
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
