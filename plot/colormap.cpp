// SPDX-License-Identifier: Apache-2.0
#include "plot/colormap.hpp"

#include <cmath>
#include <span>

namespace spsolve {
namespace {

// The control points 0xRRGGBB lie at equal distances; colors between them are interpolated.

// viridis and magma are every fifth of the 256 colors that S. van der Walt, N. Smith and E. Firing published
// under CC0 (https://bids.github.io/colormap). The others differ by less than one unit of 255.
constexpr std::array viridis{
    0x440154, 0x46085c, 0x471063, 0x481769, 0x481d6f, 0x482475, 0x472a7a, 0x46307e, 0x453781,
    0x433d84, 0x414287, 0x3f4889, 0x3d4e8a, 0x3a538b, 0x38598c, 0x355e8d, 0x33638d, 0x31688e,
    0x2e6d8e, 0x2c718e, 0x2a768e, 0x297b8e, 0x27808e, 0x25848e, 0x23898e, 0x218e8d, 0x20928c,
    0x1f978b, 0x1e9c89, 0x1fa188, 0x21a585, 0x24aa83, 0x28ae80, 0x2eb37c, 0x35b779, 0x3dbc74,
    0x46c06f, 0x50c46a, 0x5ac864, 0x65cb5e, 0x70cf57, 0x7cd250, 0x89d548, 0x95d840, 0xa2da37,
    0xb0dd2f, 0xbddf26, 0xcae11f, 0xd8e219, 0xe5e419, 0xf1e51d, 0xfde725,
};
constexpr std::array magma{
    0x000004, 0x02020b, 0x050416, 0x090720, 0x0e0b2b, 0x140e36, 0x1a1042, 0x21114e, 0x29115a,
    0x311165, 0x390f6e, 0x420f75, 0x4a1079, 0x52137c, 0x5a167e, 0x621980, 0x6a1c81, 0x721f81,
    0x792282, 0x812581, 0x892881, 0x912b81, 0x992d80, 0xa1307e, 0xaa337d, 0xb2357b, 0xba3878,
    0xc23b75, 0xca3e72, 0xd2426f, 0xd9466b, 0xe04c67, 0xe75263, 0xec5860, 0xf1605d, 0xf4695c,
    0xf7725c, 0xf97b5d, 0xfb8560, 0xfc8e64, 0xfd9869, 0xfea16e, 0xfeaa74, 0xfeb47b, 0xfebd82,
    0xfec68a, 0xfecf92, 0xfed89a, 0xfde2a3, 0xfdebac, 0xfcf4b6, 0xfcfdbf,
};
// blue_red is computed in the space Oklab (https://bottosson.github.io/posts/oklab). At the distance s from
// the middle, 0 to 1, the lightness is 0.96 - 0.58 s, the chroma 0.13 sin(0.7 pi s), and the hue 250 degrees
// below the middle, 28 above.
constexpr std::array blue_red{
    0x034477, 0x054e87, 0x0c5896, 0x1662a4, 0x216db1, 0x2e78bd, 0x3c83c8, 0x4a8ed1, 0x5a9ada,
    0x6ba5e0, 0x7cb0e6, 0x8fbcea, 0xa2c7ed, 0xb5d2f0, 0xc9dcf1, 0xdde7f2, 0xf2f2f2, 0xf2e2df,
    0xf1d2cd, 0xefc2bb, 0xebb2aa, 0xe7a39a, 0xe2948a, 0xdb867b, 0xd3786d, 0xca6b5f, 0xc05e53,
    0xb45248, 0xa8483e, 0x9b3e35, 0x8d352d, 0x7f2d26, 0x702720,
};

std::span<const int> points_of(Colormap map) {
  switch (map) {
    case Colormap::magma:
      return magma;
    case Colormap::blue_red:
      return blue_red;
    case Colormap::viridis:
      break;
  }
  return viridis;
}

}  // namespace

Color color_of(Colormap map, const ColorRange& range, double value) {
  if (std::isnan(value)) return nan_color;
  double share = 0.5;
  if (value <= range.low || value >= range.high)
    share = range.low == range.high && value == range.low ? 0.5 : value <= range.low ? 0.0 : 1.0;
  else  // halves, because the difference of two large numbers may overflow
    share = (value / 2 - range.low / 2) / (range.high / 2 - range.low / 2);
  const std::span<const int> points = points_of(map);
  const double place = share * static_cast<double>(points.size() - 1);
  const std::size_t below = std::min(static_cast<std::size_t>(place), points.size() - 2);
  const double part = place - static_cast<double>(below);
  const auto channel = [&](int shift) {
    const int a = points[below] >> shift & 0xff, b = points[below + 1] >> shift & 0xff;
    return static_cast<std::uint8_t>(std::lround(a + part * (b - a)));
  };
  return {channel(16), channel(8), channel(0)};
}

}  // namespace spsolve
