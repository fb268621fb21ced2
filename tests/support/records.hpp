// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <vector>

namespace spsolve::testing {

using Json = nlohmann::json;

/// Reads a record of bench/results.
inline Json record_of(const char* file_name) {
  std::ifstream file(std::string(SPSOLVE_SOURCE "/bench/results/") + file_name);
  EXPECT_TRUE(file) << file_name;
  return Json::parse(file);
}

/// Returns the rows of a run of a record, each an object (bench/rows.py describes the format).
inline std::vector<Json> rows_of(const Json& record, const std::string& run_name) {
  const Json& runs = record.at("runs");
  const auto run =
      std::find_if(runs.begin(), runs.end(), [&](const Json& one) { return one.at("name") == run_name; });
  if (run == runs.end()) throw std::invalid_argument("the record has no run " + run_name);
  const Json& columns = run->at("columns");
  std::vector<Json> rows;
  for (const Json& values : run->at("rows")) {
    Json& row = rows.emplace_back(run->at("of_all_rows"));
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (!values.at(i).is_null()) row[columns.at(i).get<std::string>()] = values.at(i);
  }
  return rows;
}

}  // namespace spsolve::testing
