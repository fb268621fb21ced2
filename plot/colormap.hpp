// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "plot/image.hpp"

namespace spsolve {

/// Names a mapping from [0, 1] to colors whose perceived distances follow those of the numbers. `blue_red` is
/// diverging: its middle, 0.5, is the lightest.
enum class Colormap { viridis, magma, blue_red };

inline constexpr std::array<std::string_view, 3> colormap_names{"viridis", "magma", "blue-red"};

constexpr std::string_view to_string(Colormap map) { return colormap_names[static_cast<std::size_t>(map)]; }

/// Returns the map of a name in colormap_names, or nothing.
constexpr std::optional<Colormap> parse_colormap(std::string_view name) {
  for (std::size_t i = 0; i < colormap_names.size(); ++i)
    if (colormap_names[i] == name) return static_cast<Colormap>(i);
  return std::nullopt;
}

/// Holds the numbers that take the first and the last color.
struct ColorRange {
  double low = 0, high = 1;

  friend bool operator==(const ColorRange&, const ColorRange&) = default;
};

/// Is the color of values that are NaN.
constexpr Color nan_color{255, 0, 220};

/// Returns the color of a value: of the nearest end beyond the range, of the middle if the range is a single
/// number and the value equals it, nan_color if the value is NaN.
Color color_of(Colormap map, const ColorRange& range, double value);

}  // namespace spsolve
