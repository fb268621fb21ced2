// SPDX-License-Identifier: Apache-2.0
// spsolve_predict INPUTS ROWS... predicts, for bench/fit.py, what was measured on an H200 with coefficients
// that it is given. INPUTS is the folder of inputs, and each ROWS is a list that `spsolve bench --json`
// wrote.
//
// The program prints a JSON list with the name and the measured rate of every row that counts. Then it reads
// lines of JSON from the standard input, {"march.fill": 2e-6, ...}, and prints for each of them a list of the
// predicted rates, in 1e9 points x steps per second.
#include <mpi.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>

#include "app/bench/recorded_case.hpp"
#include "app/setup/calibration_file.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

using Json = nlohmann::json;

struct Row {
  BenchCase what;
  Method method;
  Json json;
};

/// Returns the rows of one GPU whose methods keep their promise.
std::vector<Row> rows_of(const std::filesystem::path& inputs, int files, char** names) {
  std::vector<Row> rows;
  for (int i = 0; i < files; ++i) {
    std::ifstream file(names[i]);
    if (!file) throw Error(Status::invalid_input, std::string(names[i]) + ": no such file");
    const Json record = Json::parse(file);
    for (const Json& row : record) {
      if (!row.contains("gstencil_per_s") || row.value("ranks", 1) > 1 ||
          row.at("stencil") == "weights_from_hdf5")
        continue;
      Row found{recorded_case(row, inputs), recorded_method(row), row};
      found.what.problem.precision = parse_precision(row.at("precision").get<std::string>()).value();
      if (keeps_promise(found.what.problem, found.method)) rows.push_back(std::move(found));
    }
  }
  return rows;
}

double predicted(const Row& row, const DeviceModel& device) {
  const Candidate candidate = evaluate(row.what.problem, device, row.method);
  return 1e-9 / paced_seconds(row.what.problem, device, candidate, row.what.plan.pace);
}

void serve(int argc, char** argv) {
  if (argc < 3) throw Error(Status::invalid_input, "spsolve_predict INPUTS ROWS...");
  const std::vector<Row> rows = rows_of(argv[1], argc - 2, argv + 2);
  Json measured = Json::array();
  for (const Row& row : rows)
    measured.push_back({{"stencil", row.json.at("stencil")},
                        {"dimensions", row.what.problem.domain.dimensions},
                        {"precision", row.json.at("precision")},
                        {"unit", row.json.at("unit")},
                        {"layout", row.json.at("layout")},
                        {"fuse", row.json.at("fuse")},
                        {"rate", row.json.at("gstencil_per_s")}});
  std::cout << measured.dump() << std::endl;
  for (std::string line; std::getline(std::cin, line);) {
    DeviceModel device = nominal_gpu();
    calibrate(device, calibration_of({{"coefficients", Json::parse(line)}}, "of the standard input", true));
    Json rates = Json::array();
    for (const Row& row : rows) rates.push_back(predicted(row, device));
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
