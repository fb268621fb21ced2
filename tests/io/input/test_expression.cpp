// SPDX-License-Identifier: Apache-2.0
#include "io/input/expression.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "kernels/error.hpp"
#include "tests/io/sample_array.hpp"

namespace spsolve::testing {
namespace {

std::vector<double> values_of(const Expression& expression, const Grid& grid, const Box& box) {
  return values_on(box, [&](const ValueSink& sink) { expression.evaluate(grid, box, sink); });
}

Grid grid_of(int dimensions, const Index3& shape) {
  Grid grid;
  grid.domain.dimensions = dimensions;
  grid.domain.shape = shape;
  return grid;
}

std::string error_in(const std::string& text, const Grid& grid) {
  Status status = Status::invalid_input;
  const std::string message = error_of(
      [&] {
        values_of({text, "[initial] expression"}, grid, grid.domain.box());
      },
      &status);
  EXPECT_EQ(status, Status::invalid_input);
  return message;
}

TEST(Expression, SeesCoordinatesOfPoints) {
  Grid grid = grid_of(3, {3, 5, 7});
  grid.spacing = {0.5, 0.25, 2.0};
  grid.origin = {10.0, -1.0, 3.0};
  const Box box{{1, 2, 3}, {3, 5, 6}};
  const std::vector<double> values = values_of({"10000*z + 100*y + x", "e"}, grid, box);
  auto value = values.begin();
  for_each_point(box, [&](const Index3& p) {  // small multiples of 1/4: exact
    EXPECT_EQ(*value++, 10000.0 * (10.0 + 0.5 * static_cast<double>(p[z_axis])) +
                            100.0 * (-1.0 + 0.25 * static_cast<double>(p[y_axis])) +
                            (3.0 + 2.0 * static_cast<double>(p[x_axis])));
  });
}

TEST(Expression, HasPiFunctionsAndConditions) {
  const Grid grid = grid_of(1, {1, 1, 4});
  const auto values = [&](const char* text) { return values_of({text, "e"}, grid, grid.domain.box()); };
  EXPECT_EQ(values("pi"), std::vector<double>(4, std::numbers::pi));
  EXPECT_EQ(values("x >= 1 && x != 3 ? 2 : -x"), (std::vector<double>{-0.0, 2, 2, -3}));
  EXPECT_EQ(values("x == 2"), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(values("min(x, 1) + max(x, 2) + abs(-x)^2"), (std::vector<double>{2, 4, 7, 13}));
  EXPECT_EQ(values("exp(x)")[3], std::exp(3.0));
}

TEST(Expression, RoundsAsC) {
  Grid grid = grid_of(1, {1, 1, 6});
  grid.spacing[x_axis] = 0.5;
  grid.origin[x_axis] = -1.5;
  const auto values = [&](const char* text) { return values_of({text, "e"}, grid, grid.domain.box()); };
  EXPECT_EQ(values("rint(x)"), (std::vector<double>{-2, -1, -0.0, 0, 0, 1}));  // halves to even
  EXPECT_EQ(values("floor(x) + 10*ceil(x) + 100*trunc(x)"),
            (std::vector<double>{-112, -111, -1, 0, 10, 111}));
  EXPECT_EQ(values("fmod(x, 1)"), (std::vector<double>{-0.5, 0, -0.5, 0, 0.5, 0}));
  EXPECT_EQ(values("hypot(3*x, 4*x)"), (std::vector<double>{7.5, 5, 2.5, 0, 2.5, 5}));
  EXPECT_EQ(values("pow(x, 2)"), values("x^2"));
}

TEST(Expression, RowsDoNotDependOnThreadsOrBox) {
  const Grid grid = grid_of(3, {5, 7, 11});
  const Expression expression{"sin(x)*cos(y) + z/(1 + x*y)", "e"};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = values_of(expression, grid, grid.domain.box());
  omp_set_num_threads(5);
  const auto together = values_of(expression, grid, grid.domain.box());
  const auto rows = values_on(grid.domain.box(), [&](const ValueSink& sink) {
    expression.evaluate(grid, {{0, 0, 0}, {5, 3, 11}}, sink);
    expression.evaluate(grid, {{0, 3, 0}, {5, 7, 11}}, sink);
  });
  omp_set_num_threads(threads);
  EXPECT_EQ(alone, together);
  EXPECT_EQ(alone, rows);
}

TEST(Expression, LongRowsAreSharedByThreads) {
  constexpr std::int64_t points = 10007;
  const Grid grid = grid_of(2, {1, 2, points});
  std::atomic<std::int64_t> parts = 0;
  const Expression expression{"x + 20000*y", "e"};
  expression.evaluate(grid, grid.domain.box(), [&](const Index3&, std::span<const double>) { ++parts; });
  EXPECT_GT(parts, 2);
  const auto values = values_of(expression, grid, {{0, 0, 3}, {1, 2, points}});
  for (std::int64_t i = 0; i < 2 * (points - 3); ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i % (points - 3) + 3 + 20000 * (i / (points - 3)));
  EXPECT_THAT(error_in("1/((x - 9000)*(x - 9500))", grid), HasSubstr("x = 9000, y = 0"));
}

TEST(Expression, OfAnEmptyBoxIsChecked) {
  const Grid grid = grid_of(1, {1, 1, 4});
  const Box empty{{0, 0, 2}, {1, 1, 2}};
  EXPECT_TRUE(values_of({"1/x", "e"}, grid, empty).empty());
  EXPECT_THROW(values_of({"1/", "e"}, grid, empty), Error);
}

TEST(Expression, NamesTheVariablesThatThereAre) {
  EXPECT_EQ(error_in("x + z", grid_of(2, {1, 2, 2})),
            "[initial] expression 'x + z': line 1, column 5: found the unknown name 'z'; wanted one of pi, "
            "x, y (is "
            "it 'x'?)\n  x + z\n      ^");
  EXPECT_THAT(error_in("y", grid_of(1, {1, 1, 2})), HasSubstr("wanted one of pi, x (is"));
  EXPECT_EQ(error_in("x+y+z", grid_of(3, {2, 2, 2})), "");
}

TEST(Expression, ErrorsSayWhere) {
  const Grid grid = grid_of(1, {1, 1, 4});
  EXPECT_THAT(error_in("sin(x", grid),
              HasSubstr("'sin(x': line 1, column 6: found the end of the text; wanted ','"));
  EXPECT_THAT(error_in("x +* 2", grid), HasSubstr("column 4: found '*'"));
  EXPECT_THAT(error_in("", grid),
              ::testing::StartsWith("[initial] expression '': line 1, column 1: found the end"));
  EXPECT_THAT(error_in("x = 3", grid), HasSubstr("column 3: found '='; wanted '==' for equality"));
  EXPECT_THAT(error_in("x, 2", grid), HasSubstr("column 2: found ','"));
  EXPECT_THAT(error_in("2 < x < 5", grid), HasSubstr("as in '2 < x && x < 5'"));
  for (const char* text : {"t", "x + sin(2*time)"})
    EXPECT_THAT(error_in(text, grid), HasSubstr("formula knows no time")) << text;
  EXPECT_NE(error_in("\"text\"", grid), "");
  EXPECT_NE(error_in("1e999", grid), "");
}

TEST(Expression, NamesTheFirstPointThatIsNotFinite) {
  Grid grid = grid_of(2, {1, 4, 5});
  grid.spacing = {1.0, 0.5, 0.25};
  grid.origin = {0.0, -1.0, 0.0};
  for (int repeat = 0; repeat < 10; ++repeat)
    EXPECT_EQ(error_in("1/((x - 0.5)*y)", grid),
              "[initial] expression '1/((x - 0.5)*y)' is -inf at x = 0.5, y = -1 (point [0, 2])")
        << "of whatever thread";
  EXPECT_THAT(error_in("sqrt(-1-x)", grid), HasSubstr("nan at x = 0, y = -1"));
  EXPECT_THAT(error_in("log(0*x)", grid), HasSubstr("-inf at"));
}

TEST(Expression, PassesOnWhatTheSinkThrows) {
  const Grid grid = grid_of(2, {1, 9, 3});
  const auto refuse = [](const Index3&, std::span<const double>) {
    throw Error(Status::file_failure, "full");
  };
  EXPECT_THROW((Expression{"x", "e"}.evaluate(grid, grid.domain.box(), refuse)), Error);
}

}  // namespace
}  // namespace spsolve::testing
