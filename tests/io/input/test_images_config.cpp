// SPDX-License-Identifier: Apache-2.0
// These tests read [[images]]: values, resolved inputs, which must read back as themselves, and errors with
// positions.
#include <gmock/gmock.h>

#include "io/input/read_images.hpp"
#include "tests/io/input/config_mistake.hpp"

namespace spsolve {
namespace {

constexpr const char* with_images = R"toml(name = "drawn"
[grid]
shape = [8, 20, 30]
spacing = [0.5, 0.5, 0.25]
origin = [1.0, 0.0, 0.0]
[constants]
F = 0.04
[coefficients]
c = "x + F"
[fields.v]
[equations]
step = "v.next = v + c"
[time]
dt = 0.5
steps = 4
[[images]]
name = "v"
value = "v"
[[images]]
name = "side-1"
value = "F*v^2 + c*t + step*dt + z + pi"
every = 20
plane = { y = 3.1 }
range = [-1, 0.5]
colormap = "blue-red"
[[images]]
name = "kept"
value = "v"
range = "fixed"
)toml";

TEST(ImagesConfig, HoldsWhatTheTextSays) {
  const std::vector<ImagesConfig> images = parse_config(with_images, "drawn.toml").images;
  ASSERT_EQ(images.size(), 3u);
  EXPECT_EQ(images[0].name, "v");
  EXPECT_EQ(images[0].value, "v");
  EXPECT_EQ(images[0].every, 1);
  EXPECT_FALSE(images[0].plane);
  EXPECT_EQ(images[0].colormap, Colormap::viridis);
  EXPECT_EQ(images[0].scale, ImageScale::automatic);
  EXPECT_EQ(images[1].every, 20);
  EXPECT_EQ(images[1].plane, (ImagePlane{y_axis, 3.1}));
  EXPECT_EQ(images[1].scale, ImageScale::given);
  EXPECT_EQ(images[1].range, (ColorRange{-1, 0.5}));
  EXPECT_EQ(images[1].colormap, Colormap::blue_red);
  EXPECT_EQ(images[2].scale, ImageScale::fixed);
}

TEST(ImagesConfig, ReadsBackAsItself) {
  const RunConfig config = parse_config(with_images, "drawn.toml");
  EXPECT_EQ(parse_config(to_toml(config), "elsewhere.toml"), config) << to_toml(config);
}

TEST(ImagesConfig, ChoosesTheNearestPlane) {
  const Grid grid = parse_config(with_images, "drawn.toml").grid;
  for (const auto& [at, point] : {std::pair{1.0, 0}, {0.75, 0}, {1.2, 0}, {1.3, 1}, {4.5, 7}, {4.74, 7}})
    EXPECT_EQ(nearest_point(grid, {z_axis, at}), point) << at;
  for (const double at : {0.7, 4.8}) EXPECT_THROW(nearest_point(grid, {z_axis, at}), Error) << at;
}

TEST(ImagesConfig, NamesLines) {
  for (const Mistake& mistake :
       {Mistake{"name = \"v\"", "name = \"a/b\"", "drawn.toml:17: [images.0] 'name' is 'a/b'"},
        {"name = \"v\"", "name = \"snapshot\"", "drawn.toml:17: [images.0] 'name' is 'snapshot'"},
        {"name = \"v\"", "", "drawn.toml:16: [images.0] missing key 'name'"},
        {"name = \"kept\"", "name = \"v\"",
         "drawn.toml:27: [images.2] there are images with the name 'v' already"},
        {"value = \"v\"", "value = \"w\"",
         "drawn.toml:18: [images.0] value: line 1, column 1: found the unknown name 'w'"},
        {"value = \"v\"", "value = \"v +\"", "drawn.toml:18: [images.0] value: line 1, column 4: found"},
        {"value = \"v\"", "value = \"v.previous\"",
         "drawn.toml:18: [images.0] value: line 1, column 1: found"},
        {"every = 20", "every = 0", "drawn.toml:22: [images.1] 'every' must be at least 1"},
        {"y = 3.1", "y = 11", "drawn.toml:23: [images.1] 'plane': y = 11 lies outside the grid"},
        {"y = 3.1", "q = 1", "drawn.toml:23: [images.1.plane] unknown key 'q'"},
        {"y = 3.1", "", "drawn.toml:23: [images.1.plane] needs one of: z, y, x"},
        {"y = 3.1", "y = 3.1, z = 2", "drawn.toml:23: [images.1.plane] 'z' and 'y' contradict each other"},
        {"range = [-1, 0.5]", "range = [1, 1]", "drawn.toml:24: [images.1] 'range' must be"},
        {"range = [-1, 0.5]", "range = \"none\"", "drawn.toml:24: [images.1] 'range' is 'none'"},
        {"blue-red", "jet", "drawn.toml:25: [images.1] 'colormap' is 'jet'"},
        {"colormap", "colourmap",
         "drawn.toml:25: [images.1] unknown key 'colourmap'; did you mean 'colormap'?"},
        {"shape = [8, 20, 30]\nspacing = [0.5, 0.5, 0.25]\norigin = [1.0, 0.0, 0.0]", "shape = [20, 30]\n\n",
         "drawn.toml:21: [images.1] value: line 1, column 25: found the unknown name 'z'"}})
    EXPECT_THAT(error_of_mistake(with_images, mistake, "drawn.toml"), ::testing::StartsWith(mistake.message));
}

TEST(ImagesConfig, RefusesPlanesOfFewerAxes) {
  Grid grid = parse_config(with_images, "drawn.toml").grid;
  grid.domain.dimensions = 2;
  EXPECT_THROW(nearest_point(grid, {y_axis, 0.0}), Error);
}

}  // namespace
}  // namespace spsolve
