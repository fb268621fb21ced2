// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/kernel_stencil.hpp"

#include <algorithm>
#include <set>

#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/sparse/round_weights.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::size_t max_folded_taps = 512;  // larger stencils are summed tap by tap

/// Returns whether every tap has the same weight as its mirror image along an axis. The taps are in
/// lexicographic order.
bool mirrored(const std::vector<KernelTap>& taps, int axis) {
  return std::all_of(taps.begin(), taps.end(), [&](const KernelTap& tap) {
    std::array<int, 3> image{tap.offset[0], tap.offset[1], tap.offset[2]};
    image[axis] = -image[axis];
    return std::any_of(taps.begin(), taps.end(), [&](const KernelTap& other) {
      return other.weight == tap.weight && std::equal(image.begin(), image.end(), other.offset);
    });
  });
}

/// Counts a sum folded along axes, in instructions per point.
struct FoldedSum {
  int products = 0;   // multiplications and multiply-adds
  int additions = 0;  // additions of points that share a weight, and of sums of planes that share all weights
  int begun = 0;      // sums of planes that share all weights: each begins with a multiplication

  FoldedSum(const std::vector<KernelTap>& taps, const std::array<bool, 3>& folded) {
    std::set<std::pair<int, int>> added;  // points in a plane, (row, column)
    std::set<int> planes;
    for (const KernelTap& tap : taps) {
      const auto [plane, row, column] = tap.offset;
      planes.insert(plane);
      if ((folded[row_axis] && row < 0) || (folded[column_axis] && column < 0)) continue;
      if (folded[row_axis] && row > 0) added.insert({row, 0});
      if (folded[column_axis] && column > 0) added.insert({row, column});
      if (!folded[plane_axis] || plane >= 0) ++products;
    }
    additions = static_cast<int>(added.size());
    if (!folded[plane_axis]) return;
    additions += static_cast<int>(planes.size()) - 1;
    begun = static_cast<int>(std::distance(planes.upper_bound(0), planes.end()));
  }

  int operations() const { return products + additions; }
  /// A multiply-add counts twice.
  int flops() const { return 2 * products - begun + additions; }
};

Wall wall_of(BoundaryKind kind) {
  return kind == BoundaryKind::dirichlet ? Wall::dirichlet
         : kind == BoundaryKind::neumann ? Wall::neumann
                                         : Wall::none;
}

}  // namespace

KernelStencil::KernelStencil(const Domain& domain, const Stencil& stencil, Precision precision, bool source)
    : with_source(source) {
  const std::array<int, 3> axes = grid_axes(domain);
  const Stencil used = step_weights(stencil, precision);
  for (const Tap& tap : used.taps()) {
    KernelTap kernel_tap{};
    for (int k = 0; k < axis_count; ++k) kernel_tap.offset[k] = static_cast<int>(tap.offset[axes[k]]);
    kernel_tap.weight =
        precision == Precision::fp64 ? tap.weight : static_cast<double>(static_cast<float>(tap.weight));
    taps.push_back(kernel_tap);
  }
  for (int k = 0; k < axis_count; ++k) {
    shape[k] = domain.shape[axes[k]];
    radius[k] = static_cast<int>(stencil.radius()[axes[k]]);
    for (const Side side : {low, high}) walls[k][side] = wall_of(domain.faces[axes[k]][side].kind);
  }
  operations = static_cast<int>(taps.size());
  flops = 2 * operations;
  if (pointwise_completion() || radius[plane_axis] == 0 || taps.size() > max_folded_taps) return;
  std::array<bool, 3> symmetric{};
  for (int k = 0; k < axis_count; ++k) symmetric[k] = radius[k] > 0 && mirrored(taps, k);
  const FoldedSum sum(taps, symmetric);
  if (sum.operations() >= operations) return;
  const KernelStencil chain = *this;
  // In fp64 beyond radius 1, ptxas 13.0 makes slower code of sums that begin with a plane (378 instead of 402
  // GStencil/s at radius 3).
  begins_with_plane =
      symmetric[plane_axis] && !source && (precision != Precision::fp64 || radius[plane_axis] == 1);
  operations = sum.operations() - begins_with_plane;
  flops = sum.flops() - begins_with_plane;
  folded = symmetric;
  std::erase_if(taps, [&](const KernelTap& tap) {
    return (folded[row_axis] && tap.offset[row_axis] < 0) ||
           (folded[column_axis] && tap.offset[column_axis] < 0);
  });
  // Without a march, tiles in shared memory take the stencil if it is not folded (single_step_tile.hpp). They
  // are faster than step.cuh with a folded sum.
  if (!choose_march_tile(*this, {precision, true, true}, 1, {})) *this = chain;
}

bool KernelStencil::is_pointwise(int plane) const {
  return radius[plane_axis] > 0 && std::none_of(taps.begin(), taps.end(), [&](const KernelTap& tap) {
           return tap.offset[0] == plane && (tap.offset[1] || tap.offset[2]);
         });
}

bool KernelStencil::mirrors_planes() const {
  return radius[plane_axis] == 1 && mirrors(plane_axis) && pointwise_completion() && is_pointwise(-1);
}

bool KernelStencil::has_ghost_planes() const {
  const auto& [first, last] = walls[plane_axis];
  return radius[plane_axis] > 0 && (first == Wall::dirichlet || last == Wall::dirichlet || mirrors_planes());
}

bool KernelStencil::has_walls() const {
  return std::any_of(walls.begin(), walls.end(), [](const auto& faces) { return faces[low] != Wall::none; });
}

}  // namespace spsolve::cuda
