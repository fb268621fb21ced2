// SPDX-License-Identifier: Apache-2.0
// The model against what was measured of the plan's candidates (bench/results/candidates-h200.json): 90% of
// its choices have to be predicted within a quarter, and 95% to be at least 95% as fast as the best that was
// measured.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "kernels/presets.hpp"
#include "solver/plan.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::json;

BoundaryKind boundary_of(const std::string& name) {
  return name == "dirichlet" ? BoundaryKind::dirichlet
         : name == "neumann" ? BoundaryKind::neumann
                             : BoundaryKind::periodic;
}

/// Of a row of `spsolve bench` on a preset.
Problem problem_of(const Json& row) {
  const std::string stencil = row.at("stencil");
  const std::vector<std::int64_t> shape = row.at("shape");
  const int dimensions = static_cast<int>(shape.size());
  Domain domain{dimensions, {1, 1, 1}, {}};
  std::copy(shape.begin(), shape.end(), domain.shape.end() - dimensions);
  for (int axis = domain.first_axis(); axis < axis_count; ++axis)
    for (Face& face : domain.faces[axis])
      face.kind = boundary_of(row.contains("boundary") ? row.at("boundary").front() : "periodic");
  return {domain, make_preset(stencil, dimensions, {1, 1, 1}, {}),
          parse_precision(row.at("precision").get<std::string>()).value(), false};
}

bool is_measured(const Candidate& candidate, const Json& row) {
  return row.at("unit") == candidate.unit && row.at("layout") == candidate.layout &&
         row.at("fuse") == candidate.fuse;
}

double rate_of(const Json& row) { return row.at("gstencil_per_s"); }

Json rows_of(const char* name) {
  std::ifstream file(std::string(SPSOLVE_RECORDS "/") + name);
  EXPECT_TRUE(file) << name;
  const Json record = Json::parse(file);
  return record.is_array() ? record : record.at("results");
}

TEST(ModelOnRecord, ChoosesAndPredicts) {
  std::map<std::string, std::vector<Json>> cases;
  for (const Json& row : rows_of("candidates-h200.json"))
    if (row.at("suite") != "inputs")
      cases[row.at("stencil").dump() + row.at("precision").dump() + row.at("shape").dump() +
            row.at("boundary").dump()]
          .push_back(row);
  int measured = 0, close = 0, fast = 0;
  for (const auto& [name, rows] : cases) {
    const Candidate chosen = make_plan(problem_of(rows.front()), nominal_gpu(), {}).chosen;
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const Json& candidate) { return is_measured(chosen, candidate); });
    if (row == rows.end()) continue;  // what is chosen now was no candidate then
    double best = 0;
    for (const Json& candidate : rows) best = std::max(best, rate_of(candidate));
    const double predicted = 1e-9 / chosen.seconds / rate_of(*row);
    ++measured;
    close += std::abs(predicted - 1) <= 0.25;
    fast += rate_of(*row) >= 0.95 * best;
    if (std::abs(predicted - 1) > 0.25 || rate_of(*row) < 0.95 * best)
      std::printf("%s: %s %s %d: %.0f, predicted %.0f, best %.0f\n", name.c_str(), chosen.unit.c_str(),
                  chosen.layout.c_str(), chosen.fuse, rate_of(*row), predicted * rate_of(*row), best);
  }
  std::printf(
      "%zu cases, %d with the choice among the measured: %d within 25%%, %d at least 95%% of the best\n",
      cases.size(), measured, close, fast);
  ASSERT_GT(measured, 250);
  EXPECT_GE(close, 0.9 * measured);
  EXPECT_GE(fast, 0.95 * measured);
}

TEST(ModelOnRecord, PredictsOtherRecords) {
  int count = 0, close = 0;
  for (const char* name : {"paper-h200.json", "plan-h200.json"})
    for (const Json& row : rows_of(name)) {
      const Problem problem = problem_of(row);
      const bool separable = row.at("layout") == "separable";
      const Method method(row.at("fuse"), row.at("unit"), row.at("layout"),
                          separable ? unit_roundoff(problem.precision) / 2 : 0.0);
      const double predicted = 1e-9 / evaluate(problem, nominal_gpu(), method).seconds / rate_of(row);
      ++count;
      close += std::abs(predicted - 1) <= 0.25;
    }
  std::printf("%d of %d within 25%%\n", close, count);
  EXPECT_GE(close, 0.9 * count);
}

}  // namespace
}  // namespace spsolve
