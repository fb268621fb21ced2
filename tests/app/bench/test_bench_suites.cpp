// SPDX-License-Identifier: Apache-2.0
#include "app/bench/bench_suites.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "app/bench/random_cases.hpp"
#include "kernels/catalogue/catalogue.hpp"

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
    if (named.name == "ceilings") continue;
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

INSTANTIATE_TEST_SUITE_P(Devices, BenchSuites, ::testing::Bool());

// Each stencil is measured with and without sparsity in turn; everything else is the same.
TEST(BenchAblation, PairsDenseAndSparse) {
  const auto cases = suite("ablation", true);
  ASSERT_FALSE(cases.empty());
  ASSERT_EQ(cases.size() % 2, 0u);
  for (std::size_t i = 0; i < cases.size(); i += 2) {
    const BenchCase &dense = cases[i], &sparse = cases[i + 1];
    EXPECT_EQ(dense.plan.unit, UnitKind::tensor);
    EXPECT_EQ(sparse.plan.unit, UnitKind::sparse_tensor);
    EXPECT_EQ(dense.stencil, sparse.stencil);
    EXPECT_EQ(dense.problem.precision, sparse.problem.precision);
    EXPECT_EQ(dense.plan.layout, sparse.plan.layout);
    EXPECT_EQ(dense.plan.fuse, sparse.plan.fuse);
  }
}

TEST(BenchAblation, IsEmptyWhereTensorCoresAreEmulated) { EXPECT_TRUE(suite("ablation", false).empty()); }

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

}  // namespace
}  // namespace spsolve
