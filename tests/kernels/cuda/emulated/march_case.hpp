// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "kernels/cuda/scalar/place_tiles.hpp"
#include "scalar_case.hpp"

namespace spsolve::cuda {

/// Describes a launch of the march on a grid of several tiles.
struct MarchCase {
  testing::ShapeCase shape;
  int steps;
  std::array<bool, 3> symmetric{};
  int multiprocessors = 132;    // with one, all grids are large
  std::array<bool, 3> wraps{};  // axes without walls
  // kind of the upper faces of other axes, if it differs from the lower ones
  std::optional<BoundaryKind> last{};
  std::int64_t first_column = 0;  // first column of the block; neighbours have the columns before it
  bool lopsided = false;          // without the taps of the farthest plane ahead
  double previous = 0;            // with two time levels, the weight of the values one step before

  testing::RandomCase problem() const { return with_walls(make_problem(shape, symmetric)); }
  /// Returns the problem without its field and source, which take long to make.
  testing::RandomCase outline() const { return with_walls(make_stencil_of(shape, symmetric)); }
  testing::RandomCase with_walls(testing::RandomCase random) const {
    for (int axis = 0; axis < axis_count; ++axis)
      if (wraps[axis])
        random.domain.faces[axis] = {};
      else if (last && axis >= random.domain.first_axis())
        random.domain.faces[axis][high].kind = *last;
    if (lopsided) {
      const Index3 radius = random.stencil.radius(), extent = 2 * radius + Index3{0, 1, 1};
      std::vector<double> weights = dense_weights(random.stencil);
      weights.resize(volume(extent));
      random.stencil = Stencil(extent, weights, radius);
    }
    return random;
  }
  KernelStencil stencil() const {
    KernelStencil made = of_outline();
    made.wraps[column_axis] = wraps_rows();
    made.two_levels = previous != 0;
    if (made.two_levels) made.source_factor = previous;
    return made;
  }
  Formats formats() const { return {shape.precision, true, true}; }
  BlockLimits limits() const { return {90, 227 << 10, multiprocessors}; }
  MarchTile tile() const {
    ScalarArguments placed{};
    placed.shape[column_axis] = placed.region.end[column_axis] = shape.shape[x_axis];
    placed.region.begin[column_axis] = first_column;
    return place(placed);
  }
  /// Places the tiles of a launch over a.region.
  MarchTile place(ScalarArguments& a) const {
    if (wraps_rows()) a.row_period = static_cast<int>(shape.shape[x_axis]);
    return place_tiles(a, stencil(), choose_march_tile(stencil(), formats(), steps, limits()).value(),
                       a.region.begin[column_axis]);
  }
  bool wraps_rows() const {
    const KernelStencil made = of_outline();
    return wrapped_axes(made, made.grid(), shape.precision, steps, limits())[column_axis];
  }
  KernelStencil of_outline() const {
    const testing::RandomCase made = outline();
    return {made.domain, made.stencil, shape.precision, true};
  }

  std::string_view name() const { return shape.name; }
  std::string constants() const {
    const MarchTile chosen = tile();
    return constants_text(stencil(), formats(), &chosen);
  }
};

inline const MarchCase march_cases[] = {
    {{"star3d", {19, 61, 197}, {1, 1, 1}, true, dirichlet, fp32}, 4},
    {{"star3d_mirrored", {23, 61, 133}, {1, 1, 1}, true, neumann, fp64}, 3},
    {{"star3d_images", {19, 61, 133}, {1, 1, 1}, true, periodic, fp32}, 4},
    {{"tall_star3d", {29, 61, 133}, {2, 1, 1}, true, neumann, fp64}, 2},
    {{"box3d", {23, 61, 197}, {1, 1, 1}, false, neumann, fp32}, 3},
    {{"folded_box3d", {19, 61, 133}, {1, 1, 1}, false, periodic, fp32}, 3, {true, true, true}},
    {{"box3d_radius2", {23, 61, 133}, {2, 2, 2}, false, dirichlet, tf32}, 1},
    {{"layers", {7, 101, 524}, {0, 1, 1}, false, dirichlet, fp32}, 3},
    {{"rows", {7, 61, 523}, {0, 2, 1}, true, periodic, fp64}, 2},
    {{"long", {13, 41, 523}, {1, 1, 11}, true, dirichlet, fp32}, 1},
    // the last tile is narrower than its halo
    {{"star2d", {1, 203, 343}, {0, 1, 1}, true, dirichlet, fp32}, 8},
    {{"wide_star2d", {1, 203, 475}, {0, 1, 1}, true, dirichlet, fp32}, 8, {}, 1},
    {{"wide_box2d", {1, 103, 480}, {0, 2, 2}, false, neumann, tf32}, 3, {}, 1},
    {{"far_star2d", {1, 203, 397}, {0, 1, 6}, true, dirichlet, fp64}, 3},  // fewer stages
    {{"box2d", {1, 103, 397}, {0, 1, 1}, false, neumann, fp64}, 6},
    {{"folded_box2d", {1, 103, 397}, {0, 3, 3}, false, periodic, fp32}, 4, {true, true, false}},
    {{"line", {1, 1, 5003}, {0, 0, 2}, true, neumann, fp64}, 15},
    {{"star3d_torus", {19, 61, 132}, {1, 1, 1}, true, periodic, fp32}, 4},
    {{"box3d_torus", {11, 50, 130}, {1, 1, 1}, false, periodic, fp64}, 2},
    {{"star3d_ring", {19, 61, 256}, {1, 1, 1}, true, dirichlet, fp32}, 3, {}, 132, {false, false, true}},
    {{"mirrored_ring", {19, 61, 256}, {1, 1, 1}, true, neumann, fp64}, 3, {}, 132, {false, false, true}},
    {{"layers_ring", {8, 51, 524}, {0, 1, 1}, false, neumann, fp32}, 3, {}, 132, {false, false, true}},
    // Faces between lanes and warps, or within them; neumann faces across the march, which the march
    // reflects.
    {{"star3d_aligned", {19, 97, 200}, {1, 1, 1}, true, neumann, fp32}, 4},
    {{"star3d_mixed", {17, 50, 200}, {1, 1, 1}, true, neumann, fp32}, 4, {}, 132, {}, dirichlet},
    {{"star3d_fixed_first", {18, 61, 131}, {1, 1, 1}, true, dirichlet, fp64}, 3, {}, 132, {}, neumann},
    {{"thin_star3d", {3, 5, 7}, {1, 1, 1}, true, neumann, fp32}, 4},
    {{"star3d_radius2", {29, 53, 140}, {1, 2, 3}, true, neumann, fp32}, 2},
    {{"box3d_mixed", {17, 45, 128}, {1, 1, 1}, false, dirichlet, fp32}, 3, {}, 132, {}, neumann},
    {{"lopsided_box3d", {19, 23, 77}, {3, 2, 2}, false, neumann, fp32}, 2, {}, 132, {}, dirichlet, 0, true},
    {{"mirrored_box3d", {19, 61, 133}, {1, 1, 1}, false, neumann, fp32}, 3, {true, true, true}},
    {{"mirrored_box3d_fp64", {19, 50, 120}, {1, 1, 1}, false, neumann, fp64}, 2, {true, false, true}},
    {{"mirrored_star2d", {1, 203, 480}, {0, 1, 1}, true, neumann, fp32}, 8},
    {{"mixed_star2d", {1, 101, 351}, {0, 1, 2}, true, neumann, fp64}, 5, {}, 132, {}, dirichlet},
    {{"mirrored_box2d", {1, 103, 480}, {0, 1, 1}, false, neumann, fp32}, 7, {true, true, true}},
    {{"thin_star2d", {1, 2, 11}, {0, 1, 2}, true, neumann, fp32}, 3},
    {{"short_line", {1, 1, 13}, {0, 0, 5}, false, neumann, fp32}, 2},
    {{"star3d_cut", {19, 61, 200}, {1, 1, 1}, true, neumann, fp32}, 4, {}, 132, {}, dirichlet, 35},
    {{"box3d_cut", {13, 53, 142}, {1, 1, 2}, false, dirichlet, fp64}, 2, {}, 132, {}, neumann, 3},
    {{"star2d_cut", {1, 103, 401}, {0, 1, 1}, true, dirichlet, fp32}, 8, {}, 1, {}, neumann, 13},
    {{"line_cut", {1, 1, 3001}, {0, 0, 3}, false, neumann, fp32}, 5, {}, 132, {}, dirichlet, 1},
    {{"star3d_fp16", {19, 61, 197}, {1, 1, 1}, true, neumann, fp16}, 3},
    {{"box2d_bf16", {1, 103, 397}, {0, 1, 1}, false, dirichlet, bf16}, 4, {}, 132, {}, neumann},
    {{"mixed_line", {1, 1, 5008}, {0, 0, 3}, true, dirichlet, tf32}, 7, {}, 132, {}, neumann},
    // two time levels
    {{"wave3d", {19, 61, 197}, {1, 1, 1}, true, dirichlet, fp32}, 4, {}, 132, {}, {}, 0, false, -1},
    {{"mirrored_wave3d", {23, 61, 133}, {1, 1, 1}, true, neumann, fp64}, 3, {}, 132, {}, {}, 0, false, -0.75},
    {{"wave3d_images", {29, 61, 133}, {2, 1, 1}, true, periodic, fp32}, 2, {}, 132, {}, {}, 0, false, -1},
    {{"wave2d", {1, 203, 343}, {0, 1, 1}, true, dirichlet, fp32}, 8, {}, 132, {}, {}, 0, false, -1},
    {{"mirrored_wave2d", {1, 203, 480}, {0, 1, 1}, true, neumann, fp32}, 5, {}, 132, {}, {}, 0, false, -1},
    {{"far_wave2d", {1, 203, 397}, {0, 4, 4}, true, periodic, fp32}, 3, {}, 132, {}, {}, 0, false, -1},
    {{"box_wave2d", {1, 103, 397}, {0, 1, 1}, false, dirichlet, fp64}, 4, {}, 132, {}, {}, 0, false, -0.5},
    {{"wave1d", {1, 1, 5003}, {0, 0, 1}, true, neumann, fp32}, 15, {}, 132, {}, {}, 0, false, -1},
};

}  // namespace spsolve::cuda
