// SPDX-License-Identifier: Apache-2.0
#include "app/bench/bench_suites.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "app/bench/layouts_suite.hpp"
#include "app/bench/random_cases.hpp"
#include "app/bench/systems_suite.hpp"
#include "app/values/fill_block.hpp"
#include "kernels/catalogue/catalogue.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

std::vector<BenchCase> suite(const char* name, bool cuda) {
  BenchRequest request;
  request.suite = name;
  if (request.suite == "catalogue") request.precision = "fp32";
  return cases_of(request, cuda);
}

class BenchSuites : public ::testing::TestWithParam<bool> {};

// Plans are made for the nominal device, so no GPU is needed.
TEST_P(BenchSuites, HavePlansForEveryCase) {
  for (const BenchSuite& named : bench_suites()) {
    if (!named.cases) continue;  // no cases of stencils
    if (named.name == "layouts" && !GetParam()) continue;
    // Cases of these suites were planned when the suite was made, or have the stencils of paper.
    if (std::set<std::string_view>{"ablation", "depths", "peers", "systems", "sizes"}.contains(named.name))
      continue;
    for (const BenchCase& what : suite(std::string(named.name).c_str(), GetParam())) {
      const Candidate chosen =
          make_plan(what.problem, GetParam() ? nominal_gpu() : nominal_cpu(), what.plan).chosen;
      if (what.plan.unit) {
        EXPECT_EQ(chosen.unit, what.plan.unit) << named.name << " " << what.stencil;
      }
      if (what.plan.layout) {
        EXPECT_EQ(chosen.layout, what.plan.layout) << named.name << " " << what.stencil;
      }
    }
  }
}

TEST_P(BenchSuites, PaperHasEveryShapeInEveryPrecision) {
  std::map<std::string, std::set<Precision>> precisions;
  for (const BenchCase& what : suite("paper", GetParam()))
    precisions[what.stencil].insert(what.problem.precision);
  EXPECT_EQ(precisions.size(), 8u);
  for (const auto& [stencil, those] : precisions) EXPECT_EQ(those.size(), 5u) << stencil;
}

TEST_P(BenchSuites, CatalogueHasEveryEntryInThePrecisionAsked) {
  const auto cases = suite("catalogue", GetParam());
  ASSERT_EQ(cases.size(), catalogue().size());
  for (const BenchCase& what : cases) EXPECT_EQ(what.problem.precision, Precision::fp32);
}

TEST_P(BenchSuites, AreNarrowedToWhatIsAsked) {
  BenchRequest request;
  request.suite = "walls";
  request.precision = "fp32";
  request.boundary = "neumann";
  request.unit = "scalar";
  request.fuse = 2;
  const auto cases = cases_of(request, GetParam());
  EXPECT_EQ(cases.size(), 8u);
  for (const BenchCase& what : cases) {
    EXPECT_EQ(what.problem.precision, Precision::fp32);
    EXPECT_EQ(what.problem.domain.faces[x_axis][high].kind, BoundaryKind::neumann);
    EXPECT_EQ(what.plan.unit, UnitKind::scalar);
    EXPECT_EQ(what.plan.fuse, 2);
  }
  request.source = true;
  EXPECT_THROW(cases_of(request, GetParam()), Error);
  request.suite = "scalar";  // the suite names its unit itself
  request.boundary = "periodic";
  request.source = false;
  EXPECT_EQ(cases_of(request, GetParam()).size(), 8u);
  request.unit = "sparse-tensor";
  EXPECT_THROW(cases_of(request, GetParam()), Error);
}

/// Every system is there on every grid and between walls of both values, at the depth that plans choose too.
TEST_P(BenchSuites, SystemsHaveEveryDepth) {
  using Way = std::tuple<UnitKind, std::optional<Layout>, int>;
  std::map<std::string, std::set<std::pair<std::int64_t, double>>> grids;
  std::map<Precision, std::set<Way>> waves;  // methods of waves in 2D
  for (const BenchCase& what : suite("systems", GetParam())) {
    const Domain& domain = what.problem.domain;
    grids[what.stencil].insert({domain.shape[x_axis], domain.faces[x_axis][low].value});
    if (what.problem.precision == Precision::fp32 && domain.faces[x_axis][low].value == 0) {
      const Candidate chosen =
          make_plan(what.problem, GetParam() ? nominal_gpu() : nominal_cpu(), what.plan).chosen;
      EXPECT_EQ(chosen.unit, what.plan.unit) << what.stencil;
      EXPECT_EQ(chosen.layout, what.plan.layout) << what.stencil;
      EXPECT_EQ(chosen.fuse, what.plan.fuse) << what.stencil;
      EXPECT_EQ(chosen.strided, what.plan.strided) << what.stencil;
    }
    if (what.stencil == "wave2_2d")
      waves[what.problem.precision].insert({*what.plan.unit, what.plan.layout, *what.plan.fuse});
  }
  EXPECT_EQ(grids.size(), catalogue_systems().size());
  for (const CatalogueSystem& system : catalogue_systems())
    EXPECT_EQ(grids[system.name].size(), GetParam() && system.dimensions == 3 ? 4u : 2u) << system.name;
  for (const char* of_inputs : {"elastic_2d", "fisher_kpp_1d", "lattice_boltzmann_2d", "masked_diffusion_2d",
                                "rotating_wind_2d", "schroedinger_2d", "two_materials_2d", "yee_3d"})
    EXPECT_TRUE(grids.contains(of_inputs)) << of_inputs;
  EXPECT_EQ(waves.size(), 3u);
  for (const auto& [precision, methods] : waves)
    for (const int fuse : {1, 2, 5, 8}) EXPECT_TRUE(methods.contains({UnitKind::scalar, {}, fuse})) << fuse;
  EXPECT_EQ(waves[Precision::fp32].contains({UnitKind::sparse_tensor, Layout::morph, 7}), GetParam());
}

TEST_P(BenchSuites, SizesGrowForEveryStencil) {
  std::map<std::pair<std::string, Precision>, std::vector<std::int64_t>> sizes;
  for (const BenchCase& what : suite("sizes", GetParam()))
    sizes[{what.stencil, what.problem.precision}].push_back(what.problem.domain.box().points());
  EXPECT_EQ(sizes.size(), 20u) << "stencils x precisions";
  for (const auto& [which, points] : sizes) {
    EXPECT_TRUE(std::is_sorted(points.begin(), points.end())) << which.first;
    EXPECT_GT(points.back(), 200 * points.front()) << which.first;
  }
}

INSTANTIATE_TEST_SUITE_P(Devices, BenchSuites, ::testing::Bool());

// A public code is compared at its own depth, and then at that of the plan.
TEST(BenchPeers, AreAskedForWithAndWithoutADepth) {
  std::set<std::pair<std::string, Precision>> equal, planned;
  for (const BenchCase& what : suite("peers", true))
    (what.plan.fuse ? equal : planned).insert({what.stencil, what.problem.precision});
  EXPECT_EQ(equal, planned);
}

// Dense tensor cores come before sparse ones in the same layout and depth on the same grid, and CUDA cores
// before both; single steps are there, too.
TEST(BenchAblation, HasEveryStepAtTheSameDepth) {
  const auto cases = suite("ablation", true);
  ASSERT_FALSE(cases.empty());
  std::set<std::tuple<std::string, Precision, Index3, int>> scalar, single;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const BenchCase& what = cases[i];
    const std::tuple key{what.stencil, what.problem.precision, what.problem.domain.shape,
                         what.plan.fuse.value()};
    if (what.plan.fuse == 1) single.insert(key);
    if (what.plan.unit == UnitKind::scalar) {
      EXPECT_TRUE(scalar.insert(key).second) << what.stencil << " twice";
      continue;
    }
    EXPECT_TRUE(scalar.contains(key)) << what.stencil;
    if (what.plan.unit != UnitKind::tensor) continue;
    ASSERT_LT(i + 1, cases.size());
    const BenchCase& sparse = cases[i + 1];
    EXPECT_EQ(sparse.plan.unit, UnitKind::sparse_tensor);
    EXPECT_EQ(what.stencil, sparse.stencil);
    EXPECT_EQ(what.problem.precision, sparse.problem.precision);
    EXPECT_EQ(what.problem.domain.shape, sparse.problem.domain.shape);
    EXPECT_EQ(what.plan.layout, sparse.plan.layout);
    EXPECT_EQ(what.plan.fuse, sparse.plan.fuse);
  }
  EXPECT_EQ(single.size(), 16u + 10u) << "stencils x precisions, and two boxes on five smaller grids";
}

// One command draws SparStencil's figure 7: staging is measured before the cases, but not beside other grids
// and methods than its own.
TEST(BenchAblation, HasTheStepsOfStaging) {
  BenchRequest request;
  request.suite = "ablation";
  EXPECT_TRUE(has_layout_steps(request));
  request.precision = "fp16";
  EXPECT_TRUE(has_layout_steps(request));
  request.fuse = 3;
  EXPECT_FALSE(has_layout_steps(request));
  request.fuse.reset();
  request.shape = {256, 256};
  EXPECT_FALSE(has_layout_steps(request));
  request.suite = "layouts";
  EXPECT_TRUE(has_layout_steps(request)) << "which says that it has a grid of its own";
  request = {};
  request.suite = "sizes";
  EXPECT_FALSE(has_layout_steps(request));
}

TEST(BenchAblation, NeedsTensorCoresThatAreNotEmulated) { EXPECT_THROW(suite("ablation", false), Error); }

/// Records name random cases by seed and number.
TEST(RandomCases, AreThoseOfTheirSeedAndOfEveryKind) {
  const auto cases = random_cases(3, true), again = random_cases(3, true), others = random_cases(4, true);
  std::set<std::tuple<int, Precision>> kinds;
  ASSERT_EQ(again.size(), cases.size());
  std::size_t different = 0;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const Problem &one = cases[i].problem, &other = others[i].problem;
    EXPECT_EQ(one.domain, again[i].problem.domain);
    EXPECT_EQ(one.stencil.taps(), again[i].problem.stencil.taps());
    different += one.domain.shape != other.domain.shape;
    kinds.insert({one.domain.dimensions, one.precision});
  }
  EXPECT_EQ(different, cases.size());
  EXPECT_EQ(kinds.size(), 15u) << "dimensions x precisions";
}

TEST(BenchCases, ComplainOfUnknownSuitesStencilsAndShapes) {
  BenchRequest request;
  request.suite = "nosuch";
  EXPECT_THROW(cases_of(request, false), Error);
  request.suite.clear();
  request.stencil = "nosuch";
  EXPECT_THROW(cases_of(request, false), Error);
  request.stencil = "heat3d";
  request.shape = {4, 5};
  EXPECT_THROW(cases_of(request, false), Error);
  request.shape = {4, 5, 6};
  EXPECT_EQ(cases_of(request, false).front().problem.domain.shape, (Index3{4, 5, 6}));
}

/// The figures of papers that go through the same steps on several grids.
TEST(BenchCases, HaveTheSameMethodsAndDepthsOnOtherGrids) {
  BenchRequest request;
  request.suite = "sweet-spot";
  request.stencil = "box2d7r";
  const auto usual = cases_of(request, true);
  request.shape = {1280, 640};
  const auto small = cases_of(request, true);
  ASSERT_EQ(small.size(), usual.size());
  EXPECT_FALSE(small.empty());
  for (std::size_t i = 0; i < small.size(); ++i) {
    EXPECT_EQ(small[i].problem.domain.shape, (Index3{1, 1280, 640}));
    EXPECT_EQ(small[i].problem.precision, usual[i].problem.precision);
    EXPECT_EQ(small[i].plan.unit, usual[i].plan.unit);
    EXPECT_EQ(small[i].plan.layout, usual[i].plan.layout);
    EXPECT_EQ(small[i].plan.fuse, usual[i].plan.fuse);
  }
}

/// A suite of many grids has one case left of each method on a grid that is given.
TEST(BenchCases, AreNotRepeatedOnOneGrid) {
  BenchRequest request;
  request.suite = "sizes";
  request.stencil = "star2d1r";
  request.shape = {300, 200};
  EXPECT_EQ(cases_of(request, true).size(), 2u) << "precisions";
  request.suite = "ablation";
  request.stencil = "box2d2r";
  request.precision = "fp16";
  const std::size_t of_one_grid = cases_of(request, true).size();
  request.shape.clear();
  EXPECT_EQ(cases_of(request, true).size(), 6 * of_one_grid) << "grids";
}

/// A rate tells nothing about systems whose values overflow. Unstable steps of these sizes grow far beyond
/// the bound: by a hundredth per step, twenty times.
TEST(SystemsSuite, HasValuesThatStayBounded) {
  const Communicator world;
  for (const CatalogueSystem& system : catalogue_systems())
    for (const double wall : {0.0, 0.5}) {
      const std::vector<std::int64_t> shape(static_cast<std::size_t>(system.dimensions), 11);
      const BenchCase what = system_case(system, shape, wall, Precision::fp64);
      const Problem& problem = what.problem;
      const testing::TestBackend cpu = testing::cpu_backend(world);
      const Candidate chosen = make_plan(problem, nominal_cpu(), what.plan).chosen;
      Block block(world, problem, Decomposition(problem.domain.shape, {1, 1, 1}), chosen, *cpu.backend, 1);
      fill_block(world, *what.input, problem, {}, block, [](const auto&, const auto&) {});
      for (int step = 0; step < 300; ++step) block.launch(1);
      for (std::size_t field = 0; field < problem.field_count(); ++field)
        for (const double value : testing::gathered(world, problem.domain, block.state(field)))
          ASSERT_LE(std::abs(value), 10.0) << system.name;
    }
}

}  // namespace
}  // namespace spsolve
