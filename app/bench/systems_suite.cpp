// SPDX-License-Identifier: Apache-2.0
#include "app/bench/systems_suite.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <set>

#include "app/bench/bench_suites.hpp"
#include "app/setup/planning.hpp"
#include "app/setup/setup.hpp"

namespace spsolve {
namespace {

/// Returns an input that states a system.
std::string input_text(const CatalogueSystem& system, const std::vector<std::int64_t>& shape) {
  const std::string axes = std::string("zyx").substr(static_cast<std::size_t>(3 - system.dimensions));
  std::string phase;  // differs from point to point along every axis
  for (const char axis : axes) phase += fmt::format(" + 0.{}*{}", 7 + axis - 'x', axis);
  std::string text = fmt::format(
      "name = \"{}\"\n"
      "grid = {{shape = [{}], spacing = [{}]}}\n"
      "time = {{dt = {}, steps = 1000000}}\n",
      system.name, fmt::join(shape, ", "), fmt::join(std::vector<std::string>(axes.size(), "1.0"), ", "),
      system.dt);
  for (const char axis : axes) text += fmt::format("boundary.{} = {{dirichlet = 0.0}}\n", axis);
  for (std::size_t i = 0; i < system.fields.size(); ++i)
    text += fmt::format("fields.{}.initial = \"0.5*sin({}{})\"\n", system.fields[i], i, phase);
  for (std::size_t i = 0; i < system.coefficients.size(); ++i)
    text += fmt::format("coefficients.{} = \"0.75 + 0.25*cos({}{})\"\n", system.coefficients[i], i, phase);
  return text + fmt::format("equations.step = \"\"\"\n{}\n\"\"\"\n", system.step);
}

/// Returns a grid beyond the caches.
std::vector<std::int64_t> shape_of(int axes, bool cuda) {
  if (axes == 3) return std::vector<std::int64_t>(3, cuda ? 512 : 160);
  if (axes == 2) return std::vector<std::int64_t>(2, cuda ? 8192 : 2048);
  return {cuda ? 1 << 26 : 1 << 22};
}

}  // namespace

BenchCase system_case(const CatalogueSystem& system, const std::vector<std::int64_t>& shape,
                      Precision precision) {
  const auto config = std::make_shared<const RunConfig>(parse_config(
      input_text(system, shape), system.name, {fmt::format("compute.precision={}", to_string(precision))}));
  const Problem problem = problem_of(Communicator(), *config);
  return {system.name, problem, plan_request(*config, problem), config};
}

std::vector<BenchCase> systems_suite(const BenchRequest&, bool cuda) {
  std::vector<BenchCase> cases;
  for (const CatalogueSystem& system : catalogue_systems())
    for (const Precision precision : {Precision::fp32, Precision::fp64, Precision::fp16}) {
      if (precision == Precision::fp16 && !system.name.starts_with("wave")) continue;
      const BenchCase what = system_case(system, shape_of(system.dimensions, cuda), precision);
      for (BenchCase method : with_every_method(what, cuda))
        for (const int fuse : std::set{1, make_plan(what.problem, nominal(cuda), method.plan).chosen.fuse}) {
          method.plan.fuse = fuse;
          if (has_plan(method, cuda)) cases.push_back(method);
        }
    }
  return cases;
}

}  // namespace spsolve
