// SPDX-License-Identifier: Apache-2.0
// spsolve_predict INPUTS ROWS... predicts rates that were measured on a GPU, with the coefficients that
// bench/fit.py sends. INPUTS is the folder of inputs, and each ROWS is a list that `spsolve bench --json`
// wrote, or bench_systems for given tiles of several steps.
//
// The program prints a JSON list with the name and the measured rate of every row that counts. Then it reads
// lines of JSON from the standard input, {"march.fill": 2e-6, ...}, and prints for each of them a list of the
// predicted rates, in 1e9 points x steps per second.
#include <mpi.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <optional>

#include "app/bench/recorded_case.hpp"
#include "app/setup/calibration_file.hpp"
#include "io/catalogue_step.hpp"
#include "kernels/catalogue/systems.hpp"
#include "kernels/cuda/system/fused_tile.hpp"
#include "kernels/error.hpp"
#include "solver/plan/model_parts.hpp"

namespace spsolve {
namespace {

struct RecordedCase {
  std::function<double(const DeviceModel&)> predict;  // returns 1e9 points x steps per second
  nlohmann::json description;
};

/// Returns a row of `spsolve bench --json`, or nothing if its method does not keep its promise.
std::optional<RecordedCase> row_of_bench(const nlohmann::json& row, const std::filesystem::path& inputs) {
  BenchCase what = recorded_case(row, inputs);
  const Method method = recorded_method(row);
  what.problem.precision = parse_precision(row.at("precision").get<std::string>()).value();
  if (!keeps_promise(what.problem, method)) return {};
  const nlohmann::json description{
      {"stencil", row.at("stencil")},     {"dimensions", what.problem.domain.dimensions},
      {"precision", row.at("precision")}, {"unit", row.at("unit")},
      {"layout", row.at("layout")},       {"fuse", row.at("fuse")},
      {"rate", row.at("gstencil_per_s")}};
  return RecordedCase{[what = std::move(what), method](const DeviceModel& device) {
                        const Candidate candidate = evaluate(what.problem, device, method);
                        return 1e-9 / mean_seconds(what.problem, device, candidate, what.plan.events);
                      },
                      description};
}

/// Returns a row of bench_systems for a given tile of several steps, or nothing if the plan would not take
/// the tile.
std::optional<RecordedCase> row_of_tile(const nlohmann::json& row) {
  const auto systems = catalogue_systems();
  const auto what = std::ranges::find(systems, row.at("case").get<std::string>(), &CatalogueSystem::name);
  if (what == systems.end()) throw Error(Status::invalid_input, row.at("case").dump() + ": no such system");
  const Canonical canonical = canonical_of(*what, what->dt);
  Domain grid;
  grid.dimensions = what->dimensions;
  grid.shape = row.at("shape").get<Index3>();
  const auto walls = row.at("walls").get<std::string>();
  const Face face{recorded_walls(walls), walls == "0" ? 0.0 : 0.5};  // as in bench_systems
  for (int axis = grid.first_axis(); axis < axis_count; ++axis) grid.faces[axis] = {face, face};
  const auto precision = parse_precision(row.at("precision").get<std::string>()).value();
  const int steps = row.at("fuse");
  const nlohmann::json description{{"stencil", row.at("case")},        {"dimensions", grid.dimensions},
                                   {"precision", row.at("precision")}, {"unit", "scalar"},
                                   {"layout", row.at("tile")},         {"fuse", steps},
                                   {"shape", row.at("shape")},         {"walls", walls},
                                   {"rate", row.at("gpoints_per_s")}};
  const std::vector<Domain> fields(what->fields.size(), grid);
  const DeviceModel nominal = nominal_gpu();
  const cuda::BlockLimits limits = limits_of(nominal);
  const auto made = cuda::fused_tile(canonical, facts_of(canonical), fields, precision, steps, limits,
                                     cuda::given_tile(row.at("tile").get<std::vector<int>>()));
  const auto* tile = std::get_if<cuda::FusedTile>(&made);
  if (!tile || !cuda::fits_fused(*tile, precision, limits)) return {};
  const double memory_speed = row.value("copy_bytes_per_s", cuda::fitted_bandwidth) / cuda::fitted_bandwidth;
  return RecordedCase{
      [tile = *tile, grid, precision, steps, memory_speed](const DeviceModel& device) {
        const double cycles = cuda::fused_cycles(tile, grid, precision, limits_of(device), memory_speed);
        return 1e-9 * static_cast<double>(grid.box().points()) * steps * clock_of(device) / cycles;
      },
      description};
}

/// Returns the rows of one GPU that have a method which keeps its promise.
std::vector<RecordedCase> rows_of(const std::filesystem::path& inputs, int files, char** names) {
  std::vector<RecordedCase> rows;
  for (int i = 0; i < files; ++i) {
    std::ifstream file(names[i]);
    if (!file) throw Error(Status::invalid_input, std::string(names[i]) + ": no such file");
    for (const nlohmann::json& row : nlohmann::json::parse(file)) {
      if (row.contains("tile") && row.contains("gpoints_per_s")) {
        if (auto found = row_of_tile(row)) rows.push_back(*std::move(found));
        continue;
      }
      if (!row.contains("gstencil_per_s") || row.value("ranks", 1) > 1 ||
          row.at("stencil") == "weights_from_hdf5")
        continue;
      if (auto found = row_of_bench(row, inputs)) rows.push_back(*std::move(found));
    }
  }
  return rows;
}

void serve(int argc, char** argv) {
  if (argc < 3) throw Error(Status::invalid_input, "spsolve_predict INPUTS ROWS...");
  const std::vector<RecordedCase> rows = rows_of(argv[1], argc - 2, argv + 2);
  nlohmann::json measured = nlohmann::json::array();
  for (const RecordedCase& row : rows) measured.push_back(row.description);
  std::cout << measured.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    DeviceModel device = nominal_gpu();
    calibrate(device,
              calibration_of({{"coefficients", nlohmann::json::parse(line)}}, "of the standard input", true));
    nlohmann::json rates = nlohmann::json::array();
    for (const RecordedCase& row : rows) rates.push_back(row.predict(device));
    std::cout << rates.dump() << std::endl;
  }
}

}  // namespace
}  // namespace spsolve

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int status = 0;
  try {
    spsolve::serve(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    status = 2;
  }
  MPI_Finalize();
  return status;
}
