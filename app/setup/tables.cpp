// SPDX-License-Identifier: Apache-2.0
#include "app/setup/tables.hpp"

#include <fmt/format.h>

#include "halo/collectively.hpp"
#include "io/hdf5/number_dataset.hpp"

namespace spsolve {
namespace {

/// Reads a whole dataset.
Table read_whole(const DatasetForm& form) {
  const NumberDataset source(form.file, form.dataset);
  const auto& shape = source.shape();
  if (shape.empty() || shape.size() > 2)
    source.fail(fmt::format("has {} axes; wanted one or two", shape.size()));
  Table table{shape[0], shape.size() == 2 ? shape[1] : 1, {}};
  if (table.rows == 0 || table.columns == 0) source.fail("is empty");
  const Index3 extent = source.extent(static_cast<int>(shape.size()));
  constexpr std::int64_t max_values = std::int64_t{1} << 30;
  if (!has_volume_within(extent, max_values)) source.fail("has more than 2^30 values");
  source.read(static_cast<int>(shape.size()), box_of(extent), table.values);
  return table;
}

}  // namespace

std::shared_ptr<const Table> Tables::read(const DatasetForm& form, const std::string& key) {
  std::shared_ptr<const Table>& table = tables_[{form.file, form.dataset}];
  if (table) return table;
  std::shared_ptr<const Table> read;
  collectively(communicator_, [&] {
    try {
      read = std::make_shared<const Table>(read_whole(form));
    } catch (const Error& error) {
      throw Error(error.status(), error_prefix_of(form, key) + error.what());
    }
  });
  return table = std::move(read);
}

}  // namespace spsolve
