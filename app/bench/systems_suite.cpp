// SPDX-License-Identifier: Apache-2.0
#include "app/bench/systems_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bench/bench_suites.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"

namespace spsolve {
namespace {

/// Returns an input that states a system between walls of a value.
std::string input_text(const CatalogueSystem& system, const std::vector<std::int64_t>& shape, double wall) {
  const std::string axes = std::string("zyx").substr(static_cast<std::size_t>(3 - system.dimensions));
  std::string phase;  // differs from point to point along every axis
  for (const char axis : axes) phase += fmt::format(" + 0.{}*{}", 7 + axis - 'x', axis);
  std::string text = fmt::format(
      "name = \"{}\"\n"
      "grid = {{shape = [{}], spacing = [{}]}}\n"
      "time = {{dt = {}, steps = 1000000}}\n",
      system.name, fmt::join(shape, ", "), fmt::join(std::vector<std::string>(axes.size(), "1.0"), ", "),
      system.dt);
  for (const char axis : axes) text += fmt::format("boundary.{} = {{dirichlet = {}}}\n", axis, wall);
  for (std::size_t i = 0; i < system.fields.size(); ++i)
    text += fmt::format("fields.{}.initial = \"0.5 + 0.5*sin({}{})\"\n", system.fields[i], i, phase);
  for (std::size_t i = 0; i < system.coefficients.size(); ++i)
    text += fmt::format("coefficients.{} = \"0.75 + 0.25*cos({}{})\"\n", system.coefficients[i], i, phase);
  return text + fmt::format("equations.step = \"\"\"\n{}\n\"\"\"\n", system.step);
}

/// Returns the sides of grids beyond the caches.
std::vector<std::int64_t> sides_of(int axes, bool cuda) {
  if (axes == 3) return cuda ? std::vector<std::int64_t>{512, 768} : std::vector<std::int64_t>{160};
  if (axes == 2) return {cuda ? 8192 : 2048};
  return {cuda ? 1 << 26 : 1 << 22};
}

}  // namespace

BenchCase system_case(const CatalogueSystem& system, const std::vector<std::int64_t>& shape, double wall,
                      Precision precision) {
  const auto config = std::make_shared<const RunConfig>(
      parse_config(input_text(system, shape, wall), system.name,
                   {fmt::format("compute.precision={}", to_string(precision))}));
  const Problem problem = problem_of(Communicator(), *config);
  return {system.name, problem, plan_request(*config, problem), config};
}

std::vector<BenchCase> systems_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const CatalogueSystem& system : catalogue_systems())
    for (const std::int64_t side : sides_of(system.dimensions, cuda))
      for (const double wall : {0.0, 0.5})
        for (const Precision precision : {Precision::fp32, Precision::fp64, Precision::fp16}) {
          const std::vector<std::int64_t> shape(static_cast<std::size_t>(system.dimensions), side);
          BenchCase what = system_case(system, shape, wall, precision);
          what.plan.unpromised = true;
          for (const Candidate& candidate : make_plan(what.problem, nominal(cuda), what.plan).candidates) {
            cases.push_back(what);
            PlanRequest& plan = cases.back().plan;
            plan.unit = candidate.unit;
            plan.layout = candidate.layout;
            plan.fuse = candidate.fuse;
            plan.strided = candidate.strided;
          }
        }
  return cases;
}

}  // namespace spsolve
