// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plot/colormap.hpp"

namespace spsolve {

/// Describes a plane across an axis (0 is z, 2 is x) at a coordinate in the unit of the spacing.
struct ImagePlane {
  int axis = 0;
  double at = 0;

  friend bool operator==(const ImagePlane&, const ImagePlane&) = default;
};

/// Names which values take the first and the last color: the extremes of each image, those of the first image
/// whose values are not all equal, or given ones.
enum class ImageScale { automatic, fixed, given };
/// Holds the names of the first two.
inline constexpr std::array<std::string_view, 2> image_range_names{"auto", "fixed"};

/// Describes pictures that are drawn during a run, <name>_<step>.png: a table of [[images]].
struct ImagesConfig {
  std::string name;
  /// `value` is a formula of fields, coefficients, coordinates, t, dt, step and constants.
  std::string value;
  std::int64_t every = 1;           // steps between images; the first is that of step 0
  std::optional<ImagePlane> plane;  // the plane of a 3D grid; nothing: the middle plane of z
  ImageScale scale = ImageScale::automatic;
  ColorRange range = {0, 0};  // the range of ImageScale::given
  Colormap colormap = Colormap::viridis;

  friend bool operator==(const ImagesConfig&, const ImagesConfig&) = default;
};

}  // namespace spsolve
