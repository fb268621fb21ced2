// SPDX-License-Identifier: Apache-2.0
#include "io/expression.hpp"

#include <gtest/gtest.h>
#include <omp.h>

#include <atomic>
#include <cmath>
#include <numbers>

#include "kernels/error.hpp"

namespace spsolve {
namespace {

Grid grid_of(int dimensions, const Index3& shape) {
  Grid grid;
  grid.domain.dimensions = dimensions;
  grid.domain.shape = shape;
  return grid;
}

std::string error_of(const std::string& text, const Grid& grid) {
  try {
    Expression{text, "[initial] expression"}.evaluate(grid, grid.domain.box());
  } catch (const Error& error) {
    EXPECT_EQ(error.status(), Status::invalid_input);
    return error.what();
  }
  return "no error";
}

TEST(Expression, SeesCoordinatesOfPoints) {
  Grid grid = grid_of(3, {3, 5, 7});
  grid.spacing = {0.5, 0.25, 2.0};
  grid.origin = {10.0, -1.0, 3.0};
  const Box box{{1, 2, 3}, {3, 5, 6}};
  const std::vector<double> values = Expression{"10000*z + 100*y + x", "e"}.evaluate(grid, box);
  ASSERT_EQ(values.size(), 18u);
  std::size_t i = 0;
  for (std::int64_t z = 1; z < 3; ++z)
    for (std::int64_t y = 2; y < 5; ++y)
      for (std::int64_t x = 3; x < 6; ++x, ++i)  // small multiples of 1/4: exact
        EXPECT_EQ(values[i], 10000.0 * (10.0 + 0.5 * static_cast<double>(z)) +
                                 100.0 * (-1.0 + 0.25 * static_cast<double>(y)) +
                                 (3.0 + 2.0 * static_cast<double>(x)));
}

TEST(Expression, HasPiFunctionsAndConditions) {
  const Grid grid = grid_of(1, {1, 1, 4});
  const auto values = [&](const char* text) {
    return Expression{text, "e"}.evaluate(grid, grid.domain.box());
  };
  EXPECT_EQ(values("pi"), std::vector<double>(4, std::numbers::pi));
  EXPECT_EQ(values("x >= 1 && x != 3 ? 2 : -x"), (std::vector<double>{-0.0, 2, 2, -3}));
  EXPECT_EQ(values("x == 2"), (std::vector<double>{0, 0, 1, 0}));
  EXPECT_EQ(values("min(x, 1) + max(x, 2) + abs(-x)^2"), (std::vector<double>{2, 4, 7, 13}));
  EXPECT_EQ(values("exp(x)")[3], std::exp(3.0));
}

TEST(Expression, RowsDoNotDependOnThreadsOrBox) {
  const Grid grid = grid_of(3, {5, 7, 11});
  const Expression expression{"sin(x)*cos(y) + z/(1 + x*y)", "e"};
  const int threads = omp_get_max_threads();
  omp_set_num_threads(1);
  const auto alone = expression.evaluate(grid, grid.domain.box());
  omp_set_num_threads(5);
  const auto together = expression.evaluate(grid, grid.domain.box());
  std::vector<double> rows(alone.size());
  expression.evaluate(grid, {{0, 0, 0}, {5, 3, 11}}, [&](const Index3& begin, std::span<const double> row) {
    std::copy(row.begin(), row.end(), rows.begin() + (begin[0] * 7 + begin[1]) * 11);
  });
  expression.evaluate(grid, {{0, 3, 0}, {5, 7, 11}}, [&](const Index3& begin, std::span<const double> row) {
    std::copy(row.begin(), row.end(), rows.begin() + (begin[0] * 7 + begin[1]) * 11);
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
  const auto values = expression.evaluate(grid, {{0, 0, 3}, {1, 2, points}});
  for (std::int64_t i = 0; i < 2 * (points - 3); ++i)
    ASSERT_EQ(values[static_cast<std::size_t>(i)], i % (points - 3) + 3 + 20000 * (i / (points - 3)));
  EXPECT_NE(error_of("1/((x - 9000)*(x - 9500))", grid).find("x = 9000, y = 0"), std::string::npos);
}

TEST(Expression, OfAnEmptyBoxIsChecked) {
  const Grid grid = grid_of(1, {1, 1, 4});
  EXPECT_TRUE((Expression{"1/x", "e"}.evaluate(grid, Box{{0, 0, 2}, {1, 1, 2}}).empty()));
  EXPECT_THROW((Expression{"1/", "e"}.evaluate(grid, Box{{0, 0, 2}, {1, 1, 2}})), Error);
}

TEST(Expression, NamesTheVariablesThatThereAre) {
  EXPECT_EQ(error_of("x + z", grid_of(2, {1, 2, 2})),
            "[initial] expression 'x + z': Unexpected token \"z\" found at position 4; this grid has x, y, "
            "and there is pi");
  EXPECT_NE(error_of("y", grid_of(1, {1, 1, 2})).find("this grid has x, and there is pi"), std::string::npos);
  EXPECT_EQ(error_of("x+y+z", grid_of(3, {2, 2, 2})), "no error");
}

TEST(Expression, ErrorsSayWhere) {
  const Grid grid = grid_of(1, {1, 1, 4});
  EXPECT_NE(error_of("sin(x", grid).find("'sin(x': Missing parenthesis at position"), std::string::npos);
  EXPECT_NE(error_of("x +* 2", grid).find("position 3"), std::string::npos);
  EXPECT_EQ(error_of("", grid), "[initial] expression '': Expression is empty");
  EXPECT_EQ(error_of("x = 3", grid),
            "[initial] expression 'x = 3': unexpected '=' at position 2; equality is '=='");
  EXPECT_NE(error_of("x, 2", grid).find("has 2 results"), std::string::npos);
  EXPECT_NE(error_of("\"text\"", grid), "no error");
  EXPECT_NE(error_of("1e999", grid), "no error");
}

TEST(Expression, NamesTheFirstPointThatIsNotFinite) {
  Grid grid = grid_of(2, {1, 4, 5});
  grid.spacing = {1.0, 0.5, 0.25};
  grid.origin = {0.0, -1.0, 0.0};
  for (int repeat = 0; repeat < 10; ++repeat)
    EXPECT_EQ(error_of("1/((x - 0.5)*y)", grid),
              "[initial] expression '1/((x - 0.5)*y)' is -inf at x = 0.5, y = -1 (point [0, 2])")
        << "of whatever thread";
  EXPECT_NE(error_of("sqrt(-1-x)", grid).find("nan at x = 0, y = -1"), std::string::npos);
  EXPECT_NE(error_of("log(0*x)", grid).find("-inf at"), std::string::npos);
}

TEST(Expression, PassesOnWhatTheSinkThrows) {
  const Grid grid = grid_of(2, {1, 9, 3});
  const auto refuse = [](const Index3&, std::span<const double>) {
    throw Error(Status::file_failure, "full");
  };
  EXPECT_THROW((Expression{"x", "e"}.evaluate(grid, grid.domain.box(), refuse)), Error);
}

}  // namespace
}  // namespace spsolve
