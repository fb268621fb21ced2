// SPDX-License-Identifier: Apache-2.0
// This test compares the model with the measured rates of the plan's candidates (bench/results). For 90% of
// the cases the model must predict the rate of its choice within a quarter, and for 95% its choice must reach
// at least 95% of the best measured rate.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "app/bench/bench_suites.hpp"
#include "app/bench/recorded_case.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/single_step_tile.hpp"
#include "kernels/sparse/windowed_operand.hpp"
#include "kernels/wall_reflections.hpp"
#include "tests/support/records.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::json;
using testing::record_of, testing::rows_of;

BenchCase case_of(const Json& row) { return recorded_case(row, SPSOLVE_SOURCE "/inputs"); }

/// Returns the name that all rows of a problem share; random problems and inputs have names of their own.
std::string name_of(const Json& row) {
  const std::string stencil = row.at("stencil"), suite = row.value("suite", "");
  if (suite == "random" || suite == "inputs") return stencil;
  return stencil + " " + row.at("precision").get<std::string>() + row.at("shape").dump() +
         row.value("boundary", Json()).dump() + (row.value("source", false) ? " with a source" : "");
}

double rate_of(const Json& row) { return row.at("gstencil_per_s"); }

/// Returns true for direct sweeps in fp32 that multiplied by instructions no longer used (docs/log/mma.md):
/// those of many taps, and those of planes by strided swapping. Single cases of the present sweeps are on
/// record.
bool is_of_former_products(const Problem& problem, const Method& method, const Json& row) {
  if (problem.precision != Precision::fp32 || !method.fused_weights() || method.layout == Layout::separable ||
      row.value("suite", "") == "single")
    return false;
  const Stencil fused = fuse_steps(problem.stencil, method.fuse);
  return fused.taps().size() >= 80 ||
         (method.layout == Layout::strided_swap && supports_window(fused, problem.precision));
}

/// Returns true for rows that are out of date. Random problems of seeds up to 22 were measured before
/// separable sweeps left out slabs without weights (there are many if rows take four windows) and before
/// fused weights reached up to walls. Those of seeds up to 24 were measured before single steps of any
/// weights reached up to walls.
bool is_of_former_sweeps(const Problem& problem, const Json& row) {
  if (row.value("suite", "") != "random" || row.at("unit") == "scalar") return false;
  const auto seed = std::stoull(row.at("stencil").get<std::string>());
  const int fuse = row.at("fuse");
  const auto reflected_axes = [&](int steps) {
    return with_wall_reflections(problem.domain, problem.stencil, steps, problem.precision).reflected;
  };
  const auto reflected = reflected_axes(fuse);
  if (seed > 22) return seed <= 24 && fuse == 1 && reflected != reflected_axes(2);
  return (row.at("layout") == "separable" && 2 * fuse * problem.stencil.radius()[x_axis] >= 48) ||
         std::find(reflected.begin(), reflected.end(), true) != reflected.end();
}

/// Returns true for marches of random problems in 3D between walls that were measured when tiles still
/// stepped the points beyond.
bool is_of_former_marches(const Problem& problem, const Json& row) {
  return row.value("suite", "") == "random" && row.at("unit") == "scalar" && problem.domain.dimensions == 3 &&
         std::any_of(problem.domain.faces.begin(), problem.domain.faces.end(),
                     [](const auto& faces) { return faces[low].kind != BoundaryKind::periodic; });
}

/// Returns true for single steps of random boxes of many taps and stars of far taps that were measured before
/// tiles took them (box_step.cuh, star_step.cuh).
bool is_of_former_steps(const Problem& problem, const Json& row) {
  if (row.value("suite", "") != "random" || row.at("unit") != "scalar") return false;
  const cuda::KernelStencil stencil(problem.domain, problem.stencil, problem.precision, problem.has_source);
  const cuda::Formats formats{problem.precision, true, true};
  const auto tile = cuda::choose_single_step(stencil, stencil.grid(), formats, {}).tile;
  const auto seed = std::stoull(row.at("stencil").get<std::string>());
  return cuda::preferred_depth(stencil, formats, {}) == 0 && tile &&
         seed <= (std::holds_alternative<cuda::StarStepTile>(*tile) ? 25 : 24);
}

/// Returns the points x steps per second that the model predicts with the events of the case, or nothing if
/// the plan must not take the row.
std::optional<double> predicted_rate(const BenchCase& what, const Json& row) {
  Problem problem = what.problem;
  problem.precision = parse_precision(row.at("precision").get<std::string>()).value();
  const Method method = recorded_method(row);
  if (is_of_former_products(problem, method, row) || !keeps_promise(problem, method)) return {};
  const Candidate candidate = evaluate(problem, nominal_gpu(), method);
  return 1e-9 / mean_seconds(problem, nominal_gpu(), candidate, what.plan.events);
}

/// Summarises how the model predicts the runs of a record. For every case it chooses among the candidates
/// that were measured. If several runs have a case, the last one counts.
struct Accuracy {
  int cases = 0, close = 0, fast = 0;  // all; predicted within a quarter; at least 95% of the best

  Accuracy(const Json& record, std::initializer_list<const char*> runs) {
    std::map<std::string, std::vector<Json>> rows_of_case;
    for (const char* run : runs) {
      std::map<std::string, std::vector<Json>> found;
      for (const Json& row : rows_of(record, run))
        if (row.contains("gstencil_per_s") &&
            row.at("stencil") != "weights_from_hdf5")  // a script writes its weights
          found[name_of(row)].push_back(row);
      found.merge(rows_of_case);
      rows_of_case = std::move(found);
    }
    for (const auto& [name, rows] : rows_of_case) {
      const BenchCase what = case_of(rows.front());
      if (std::any_of(rows.begin(), rows.end(), [&](const Json& row) {
            return is_of_former_sweeps(what.problem, row) || is_of_former_marches(what.problem, row) ||
                   is_of_former_steps(what.problem, row);
          }))
        continue;
      double best = 0, most = 0, chosen = 0;
      for (const Json& row : rows) {
        const auto predicted = predicted_rate(what, row);
        if (!predicted) continue;
        best = std::max(best, rate_of(row));
        if (*predicted > most) most = *predicted, chosen = rate_of(row);
      }
      if (best == 0) continue;
      ++cases;
      close += std::abs(most / chosen - 1) <= 0.25;
      fast += chosen >= 0.95 * best;
      if (std::abs(most / chosen - 1) > 0.25 || chosen < 0.95 * best)
        std::printf("%s: %.4g, predicted %.4g, best %.4g\n", name.c_str(), chosen, most, best);
    }
    std::printf("%d cases: %d within 25%%, %d at least 95%% of the best\n", cases, close, fast);
  }
};

TEST(ModelOnRecord, ChoosesAndPredicts) {
  const Accuracy all(record_of("suites-h200.json"), {"candidates", "catalogue-fp64", "catalogue-tensor",
                                                     "walls", "inputs", "catalogue-stars"});
  ASSERT_GT(all.cases, 250);
  EXPECT_GE(all.close, 0.9 * all.cases);
  EXPECT_GE(all.fast, 0.95 * all.cases);
}

TEST(ModelOnRecord, HoldsOnProblemsThatNobodyChose) {
  const Accuracy random(
      record_of("random-h200.json"),
      {"seed-8",          "seed-9",  "seed-10",  "seed-11", "seed-12", "seed-13", "seed-14",
       "seed-15",         "seed-16", "seed-17",  "seed-18", "seed-19", "seed-20", "again-sources",
       "again-separable", "again",   "again-2d", "seed-23", "seed-24", "seed-25"});
  EXPECT_GE(random.close, 0.93 * random.cases);
  EXPECT_GE(random.fast, 0.92 * random.cases);
}

TEST(ModelOnRecord, PredictsOtherRecords) {
  const Json record = record_of("suites-h200.json");
  const Accuracy paper(record, {"paper"}), single_cases(record, {"single-cases"}),
      sources(record, {"sources"}), pairs(record, {"pairs"}), candidates(record, {"paper-candidates"});
  EXPECT_GE(paper.close + single_cases.close + sources.close + pairs.close + candidates.close,
            0.9 * (paper.cases + single_cases.cases + sources.cases + pairs.cases + candidates.cases));
}

/// The suite has the cases of every public code, at its depth.
TEST(PeersOnRecord, HaveEveryCaseOfThePublicCodes) {
  BenchRequest request;
  request.suite = "peers";
  const std::vector<BenchCase> cases = cases_of(request, true);
  for (const Json& row : rows_of(record_of("public-h200.json"), "public"))
    EXPECT_TRUE(std::ranges::any_of(cases, [&](const BenchCase& what) {
      return row.at("stencil") == what.stencil &&
             row.at("precision") == std::string(to_string(what.problem.precision)) &&
             row.at("steps_per_launch") == what.plan.fuse.value_or(0);
    })) << row.dump();
}

}  // namespace
}  // namespace spsolve
