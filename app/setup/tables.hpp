// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "halo/communicator.hpp"
#include "io/input/config.hpp"

namespace spsolve {

/// Holds numbers in rows and columns, from a dataset of one axis (one column) or two.
struct Table {
  std::int64_t rows = 0, columns = 1;
  std::vector<double> values;  // row after row
};

/// Reads the tables that an input names: points, values of point sources and values of walls. Each dataset is
/// read once, although a run needs it for its checksum, too.
class Tables {
 public:
  explicit Tables(const Communicator& communicator) : communicator_(communicator) {}

  /// Returns a whole dataset; `key` names it in errors. Collective; every rank throws the same Error if the
  /// dataset cannot be read.
  std::shared_ptr<const Table> read(const DatasetForm& form, const std::string& key);
  /// Forgets all tables. Tables that are still in use stay in memory.
  void clear() { tables_.clear(); }

 private:
  Communicator communicator_;
  std::map<std::pair<std::filesystem::path, std::string>, std::shared_ptr<const Table>> tables_;
};

}  // namespace spsolve
