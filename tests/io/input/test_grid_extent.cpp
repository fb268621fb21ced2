// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/io/input/config_mistake.hpp"

namespace spsolve {
namespace {

using ::testing::HasSubstr;

/// Returns an input in one dimension; `walls` is the content of [boundary] for x.
std::string input_of(const std::string& grid, const std::string& walls) {
  return fmt::format(
      "grid = {{ {} }}\nboundary.x = {}\nstencil.weights = [1]\ninitial.expression = \"x\"\n"
      "time.steps = 1\n",
      grid, walls);
}

RunConfig parsed(const std::string& grid, const std::string& walls) {
  return parse_config(input_of(grid, walls), "case.toml");
}

struct Walls {
  const char* text;
  double spacings;        // from wall to wall of 8 points
  double first_spacings;  // from the low wall to the first point
};

/// Extents that are whole numbers of spacings of 1/4 have spacings and positions without rounding.
TEST(GridExtent, SpacingFollowsFromTheWalls) {
  for (const Walls& walls :
       {Walls{"\"periodic\"", 8, 0}, Walls{"\"neumann\"", 8, 0.5}, Walls{"{ dirichlet = 1.0 }", 9, 1},
        Walls{"{ dirichlet = \"t\" }", 9, 1}, Walls{"{ value = 1.0 }", 8, 0.5},
        Walls{"{ flux = 1.0 }", 8, 0.5}, Walls{"{ robin = { h = 1.0, value = 2.0 } }", 8, 0.5},
        Walls{"{ low = { dirichlet = 1.0 }, high = \"neumann\" }", 8.5, 1},
        Walls{"{ low = { value = 1.0 }, high = { dirichlet = 0.0 } }", 8.5, 0.5}}) {
    SCOPED_TRACE(walls.text);
    const double length = walls.spacings / 4;
    const Grid grid = parsed(fmt::format("shape = [8], extent = [{}]", length), walls.text).grid;
    EXPECT_EQ(grid.spacing[x_axis], 0.25);
    EXPECT_EQ(grid.origin[x_axis], walls.first_spacings / 4);
    const Grid placed =
        parsed(fmt::format("shape = [8], extent = [[-1.0, {}]]", length - 1), walls.text).grid;
    EXPECT_EQ(placed.spacing[x_axis], 0.25);
    EXPECT_EQ(placed.origin[x_axis], walls.first_spacings / 4 - 1);
    const Grid moved =
        parsed(fmt::format("shape = [8], extent = [{}], origin = [3.0]", length), walls.text).grid;
    EXPECT_EQ(moved.origin[x_axis], 3.0);
  }
}

TEST(GridExtent, TheResolvedInputReadsBack) {
  const RunConfig config = parsed("shape = [7], extent = [1.0]", "{ dirichlet = 1.0 }");
  EXPECT_EQ(parse_config(to_toml(config), "other.toml"), config);
}

TEST(GridExtent, ErrorsNameLineAndKey) {
  for (const auto& [grid, message] :
       {std::pair{"shape = [8], extent = 1.0", "'extent' must be a list"},
        {"shape = [8], extent = [1.0, 2.0]", "'extent' has 2 values; the grid has 1 axis"},
        {"shape = [8], extent = [0.0]", "'extent' must be above 0, not 0"},
        {"shape = [8], extent = [[1.0, 0.5]]", "'extent' must be above 0, not -0.5"},
        {"shape = [8], extent = [[1.0]]", "'extent' must hold a length or [low, high]"},
        {"shape = [8], extent = [\"1\"]", "'extent' must be a number, not a string"},
        {"shape = [8], extent = [1.0], spacing = [0.1]", "'extent' and 'spacing' contradict each other"},
        {"shape = [8], extent = [[0.0, 1.0]], origin = [0.1]",
         "'origin' and the places of walls contradict"}}) {
    const std::string error = error_of_input(input_of(grid, "\"periodic\""), "case.toml");
    EXPECT_THAT(error, HasSubstr("case.toml:1: [grid] ")) << grid;
    EXPECT_THAT(error, HasSubstr(message)) << grid;
  }
  const std::string of_fields =
      "grid = { shape = [8], extent = [1.0] }\nboundary = { x = \"neumann\", v = { x = { dirichlet = 0.0 } } "
      "}\n"
      "fields = { u = {}, v = {} }\nequations.step = \"u.next = v; v.next = u\"\ntime.steps = 1\n";
  EXPECT_THAT(error_of_input(of_fields, "case.toml"),
              HasSubstr("case.toml:2: [boundary.v] the walls of axis 'x' lie elsewhere than those of"));
}

/// `rate` multiplies by dt, and formulas without t and step leave the stencil alone.
TEST(Source, RatesAndFormulasWithDt) {
  const std::string text =
      "grid.shape = [8]\nstencil.weights = [1]\ninitial.expression = \"x\"\ntime = { steps = 1, dt = 0.5 }\n";
  const RunConfig rate = parse_config(text + "source = { expression = \"x*dt\", rate = true }\n", "a.toml");
  EXPECT_TRUE(rate.source_is_rate);
  EXPECT_FALSE(rate.equations);
  EXPECT_EQ(parse_config(to_toml(rate), "a.toml"), rate);
  const RunConfig of_step =
      parse_config(text + "source = { expression = \"step\", rate = true }\n", "a.toml");
  ASSERT_TRUE(of_step.equations);
  EXPECT_EQ(of_step.equations->step, "u.next = correlate(w, u) + dt*(step)");
  EXPECT_THAT(error_of_input(
                  "grid.shape = [8]\nstencil.weights = [1]\ninitial.expression = \"x\"\n[time]\nsteps = 1\n"
                  "[source]\nexpression = \"x\"\nrate = true\n",
                  "case.toml"),
              HasSubstr("case.toml:4: [time] [source] rate needs 'dt'"));
}

}  // namespace
}  // namespace spsolve
