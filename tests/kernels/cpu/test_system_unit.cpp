// SPDX-License-Identifier: Apache-2.0
// These tests compare the CPU unit of systems with the canonical form, bit by bit, on rows of any length:
// whole blocks of vectors, overlapping last blocks, rows of intermediate values, stores that bypass the
// caches, regions and threads.
#include <gtest/gtest.h>

#include <omp.h>

#include <limits>
#include <random>

#include "kernels/cpu/program_queries.hpp"
#include "kernels/cpu/system_unit.hpp"
#include "kernels/operator/interpret_coefficient.hpp"
#include "kernels/operator/repeating_form.hpp"
#include "kernels/operator/statement_boxes.hpp"
#include "kernels/reference.hpp"
#include "tests/kernels/operator/example_steps.hpp"
#include "tests/kernels/operator/given_rows.hpp"
#include "tests/support/evaluate_canonical.hpp"

namespace spsolve {
namespace {

using testing::ExampleStep;

/// Holds values between 0.1 and 1 on a grid, whose walls are in turn periodic or of both kinds.
struct WideProblem {
  WideProblem(const ExampleStep& example, const Index3& shape, bool periodic, std::mt19937& random) {
    std::uniform_real_distribution<float> value(0.1f, 1.0f);
    Domain domain{example.names.dimensions, shape, {}};
    if (!periodic)
      for (int axis = domain.first_axis(); axis < axis_count; ++axis)
        domain.faces[axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::dirichlet, 0.5}};
    given.fields.assign(example.names.fields.size(), domain);
    given.spacing = example.names.spacing;
    given.dt = example.names.dt;
    const auto array = [&] {
      std::vector<double> values(static_cast<std::size_t>(volume(shape)));
      for (double& v : values) v = value(random);
      return values;
    };
    for (std::size_t i = 0; i < example.names.coefficients.size(); ++i) given.coefficients.push_back(array());
    for (std::size_t i = 0; i < example.names.fields.size(); ++i) {
      now.push_back(array());
      previous.push_back(array());
    }
  }
  StepContext given;
  std::vector<std::vector<double>> now, previous;
};

/// Returns a field whose halo holds the values beyond the faces, except that rows beyond walls across y and
/// z, which the unit must not read, hold NaN.
template <class T>
Field padded_field(const Domain& domain, const std::vector<double>& values, const Index3& halo,
                   Precision precision) {
  Field field(domain.box(), halo, precision);
  const std::vector<T> rounded(values.begin(), values.end());
  const auto is_beyond_wall = [&](const Index3& p, int axis) {
    return !domain.periodic(axis) && (p[axis] < 0 || p[axis] >= domain.shape[axis]);
  };
  for_each_point(field.allocated(), [&](const Index3& p) {
    const bool is_read = !is_beyond_wall(p, z_axis) && !is_beyond_wall(p, y_axis);
    *field.at<T>(p) = is_read ? padded(domain, rounded, p) : std::numeric_limits<T>::quiet_NaN();
  });
  return field;
}

template <class T>
void expect_canonical(const ExampleStep& example, const WideProblem& problem,
                      const std::vector<Box>& regions) {
  constexpr Precision precision = sizeof(T) == 8 ? Precision::fp64 : Precision::fp32;
  const Domain& domain = problem.given.fields.front();
  const Canonical of_text = canonical_form(testing::system_of(example));
  const Canonical canonical = repeating_form(of_text, domain);
  const SystemFacts facts = facts_of(canonical);
  const Index3 halo = halo_radius(facts, domain);
  std::vector<Field> in, out, coefficients;
  SystemState<T> state;
  const std::size_t count = problem.now.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Domain& walls = problem.given.fields[i];
    in.push_back(padded_field<T>(walls, problem.now[i], halo, precision));
    out.emplace_back(domain.box(), halo, precision);
    state.now.emplace_back(problem.now[i].begin(), problem.now[i].end());
    state.previous.emplace_back(problem.previous[i].begin(), problem.previous[i].end());
  }
  for (std::size_t i = 0; i < count; ++i)
    if (!facts.reach_previous[i].empty())
      in.push_back(padded_field<T>(problem.given.fields[i], problem.previous[i], halo, precision));
  for (std::size_t i = 0; i < canonical.coefficients.size(); ++i) {
    const Index3 reach = halo + halo;
    coefficients.emplace_back(domain.box(), reach, precision);
    interpret_coefficient(canonical, i, domain, coefficients.back().allocated(),
                          testing::given_rows(problem.given, 0),
                          [&](const Index3& first, std::span<const double> values) {
                            std::copy(values.begin(), values.end(), coefficients.back().at<T>(first));
                          });
  }
  std::vector<const Field*> given;
  for (const Field& field : coefficients) given.push_back(&field);
  std::vector<Field*> read, written;
  for (Field& field : in) read.push_back(&field);
  for (Field& field : out) written.push_back(&field);
  const CpuSystemUnit unit(canonical, problem.given.fields, problem.given.dt, precision, given);
  for (const Box& region : regions) unit.advance(State(read), State(written), region, 1);
  const SystemState<T> expected = canonical_step(of_text, problem.given, state);
  for (std::size_t field = 0; field < count; ++field)
    for_each_point(domain.box(), [&](const Index3& p) {
      const T wanted = expected.now[field][static_cast<std::size_t>(index_of(p, domain.shape))];
      const T found = *out[field].template at<T>(p);
      if (found != wanted && !(std::isnan(found) && std::isnan(wanted)))
        ADD_FAILURE() << example.name << ", field " << field << " at " << p[0] << " " << p[1] << " " << p[2]
                      << ": " << found << ", not " << wanted;
    });
}

/// Returns a grid of `dimensions` axes with `length` points along x.
Index3 wide_shape(int dimensions, std::int64_t length) {
  return {dimensions == 3 ? 5 : 1, dimensions >= 2 ? 6 : 1, length};
}

TEST(CpuSystemUnit, HasTheBitsOfTheCanonicalFormOnRowsOfAnyLength) {
  std::mt19937 random(31);
  bool periodic = false;
  for (const ExampleStep& example : testing::example_steps())
    for (const std::int64_t length : {63, 64, 128, 131, 300}) {
      periodic = !periodic;
      const WideProblem problem(example, wide_shape(example.names.dimensions, length), periodic, random);
      const std::vector<Box> whole{problem.given.fields.front().box()};
      expect_canonical<double>(example, problem, whole);
      expect_canonical<float>(example, problem, whole);
      if (HasFailure()) return;
    }
}

TEST(CpuSystemUnit, HasTheBitsOfTheCanonicalFormOnRegions) {
  std::mt19937 random(32);
  for (const ExampleStep& example : testing::example_steps()) {
    const WideProblem problem(example, wide_shape(example.names.dimensions, 200), false, random);
    Box left = problem.given.fields.front().box(), right = left;
    left.end[x_axis] = right.begin[x_axis] = 57;
    expect_canonical<double>(example, problem, {left, right});
    expect_canonical<float>(example, problem, {right, left});
    if (HasFailure()) return;
  }
}

/// Returns an example whose parts are read at many displacements along x, so that they become rows.
ExampleStep nested_example() {
  ExampleStep example{"nested", {}, R"(
    a = u^3*k
    b = laplace(a, order=4)*v
    u.next = u + d(b, x, order=4) + laplace(a, order=8)
    v.next = v*u.next + mean(b, x, at=0.5) + max(u.next, 0.5, v)
  )"};
  example.names.dimensions = 2;
  example.names.spacing = {1.25, 0.75, 1.0};
  example.names.dt = 0.125;
  example.names.fields = {"u", "v"};
  example.names.coefficients = {"k"};
  return example;
}

TEST(CpuSystemUnit, KeepsRowsOfIntermediateValues) {
  const ExampleStep example = nested_example();
  const StepProgram program = step_program(canonical_form(testing::system_of(example)), 0, 2, false);
  EXPECT_GE(program.rows.size(), 2u);
  std::mt19937 random(33);
  for (const std::int64_t length : {7, 100, 257, 5000}) {
    const WideProblem problem(example, {1, 20, length}, length == 100, random);
    expect_canonical<double>(example, problem, {problem.given.fields.front().box()});
    expect_canonical<float>(example, problem, {problem.given.fields.front().box()});
    if (HasFailure()) return;
  }
}

/// Returns a wave in 3D whose laplacian has an order.
ExampleStep wave_example(int order) {
  ExampleStep example{"wave of order " + std::to_string(order), {}, {}, true};
  example.step = "p.next = 2*p - p.previous + (c*dt)^2*laplace(p, order=" + std::to_string(order) + ")";
  if (order == 2) example.step = "p.next = 2*p - p.previous + dt^2*laplace(p)";
  example.names.dimensions = 3;
  example.names.spacing = {1.25, 0.75, 1.0};
  example.names.dt = 0.125;
  example.names.fields = {"p"};
  if (order > 2) example.names.coefficients = {"c"};
  return example;
}

/// Rows of four planes are computed together, except near walls and in the last planes of a region.
TEST(CpuSystemUnit, HasTheBitsOfTheCanonicalFormInJoinedPlanes) {
  std::mt19937 random(36);
  for (const int order : {2, 4, 8, 16}) {
    const ExampleStep example = wave_example(order);
    EXPECT_TRUE(pays_in_planes(step_program(canonical_form(testing::system_of(example)), 0, 1, false)));
    for (const std::int64_t length : {33, 64, 77})
      for (const bool periodic : {false, true}) {
        const WideProblem problem(example, {order + 7, order + 3, length}, periodic, random);
        Box first = problem.given.fields.front().box(), second = first;
        first.end[z_axis] = second.begin[z_axis] = 6;
        expect_canonical<double>(example, problem, {first, second});
        expect_canonical<float>(example, problem, {first, second});
        if (HasFailure()) return;
      }
  }
}

/// Returns the threads that OpenMP uses by default, and lets it use `count`.
int exchange_threads(int count) {
  const int threads = omp_get_max_threads();
  omp_set_num_threads(count);
  return threads;
}

/// Fields larger than the last-level cache are written with stores that bypass it. One thread counts as
/// having 64 MiB of that cache at most.
TEST(CpuSystemUnit, HasTheBitsOfTheCanonicalFormOnLargeGrids) {
  std::mt19937 random(34);
  const int threads = exchange_threads(1);
  for (const ExampleStep& example : testing::example_steps())
    if (example.name == "Gray-Scott" || example.name == "Yee in 2D") {
      const WideProblem problem(example, {1, 900, 1500}, example.name == "Gray-Scott", random);
      expect_canonical<double>(example, problem, {problem.given.fields.front().box()});
    }
  for (const bool periodic : {true, false}) {
    const WideProblem wave(wave_example(4), {20, 20, 3003}, periodic, random);
    Box first = wave.given.fields.front().box(), second = first;
    first.end[x_axis] = second.begin[x_axis] = 1001;
    expect_canonical<double>(wave_example(4), wave, {first, second});
  }
  omp_set_num_threads(threads);
}

/// A row is cut into tiles along x, whose threads fill the ghosts beside walls.
TEST(CpuSystemUnit, CutsLongRows) {
  std::mt19937 random(35);
  const int threads = exchange_threads(3);
  for (const ExampleStep& example : testing::example_steps())
    if (example.names.dimensions == 1) {
      const WideProblem problem(example, {1, 1, 20'001}, false, random);
      expect_canonical<double>(example, problem, {problem.given.fields.front().box()});
    }
  omp_set_num_threads(threads);
}

}  // namespace
}  // namespace spsolve
