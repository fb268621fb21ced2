// SPDX-License-Identifier: Apache-2.0
#include "app/bench/recorded_case.hpp"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "app/bench/random_cases.hpp"
#include "app/setup/load_input.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"
#include "kernels/catalogue/presets.hpp"

namespace spsolve {
namespace {

/// Returns the case of a row of `spsolve bench` on a preset.
BenchCase case_of_preset(const nlohmann::json& row) {
  const std::string stencil = row.at("stencil");
  const std::vector<std::int64_t> shape = row.at("shape");
  Index3 extents{1, 1, 1};
  std::copy(shape.begin(), shape.end(), extents.end() - static_cast<std::ptrdiff_t>(shape.size()));
  return preset_case(
      stencil, extents, parse_precision(row.at("precision").get<std::string>()).value(), {},
      parse_boundary(row.contains("boundary") ? row.at("boundary").front().get<std::string>() : "periodic")
          .value(),
      row.value("source", false));
}

/// Returns a case of `--suite random`, whose name begins with SEED.NUMBER.
BenchCase random_case(const std::string& name) {
  static std::map<std::uint64_t, std::vector<BenchCase>> cases;
  const std::uint64_t seed = std::stoull(name);
  if (!cases.contains(seed)) cases[seed] = random_cases(seed, true);
  return cases[seed].at(std::stoull(name.substr(name.find('.') + 1)));
}

/// Returns the case of `--input inputs/NAME.toml`; fuse is asked for in one of them.
BenchCase case_of_input(const std::string& name, const std::filesystem::path& inputs) {
  const Communicator self(MPI_COMM_SELF);
  CommandLine command;
  command.file = inputs / (name + ".toml");
  RunConfig config = load_input(self, command);
  config.time.fuse.reset();
  const Problem problem = problem_of(self, config);
  return {name, problem, plan_request(config, problem)};
}

}  // namespace

BenchCase recorded_case(const nlohmann::json& row, const std::filesystem::path& inputs) {
  const std::string suite = row.value("suite", ""), name = row.at("stencil");
  return suite == "random"   ? random_case(name)
         : suite == "inputs" ? case_of_input(name, inputs)
                             : case_of_preset(row);
}

Method recorded_method(const nlohmann::json& row) {
  const Precision precision = parse_precision(row.at("precision").get<std::string>()).value();
  const bool separable = row.at("layout") == "separable";
  return Method(row.at("fuse"), parse_unit_kind(row.at("unit").get<std::string>()).value(),
                parse_layout(row.at("layout").get<std::string>()),
                separable ? unit_roundoff(precision) / 2 : 0.0);
}

}  // namespace spsolve
