// SPDX-License-Identifier: Apache-2.0
#pragma once

// This file holds the parts that the cases of scalar kernels share.

#include "case_named.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/scalar/scalar_constants.hpp"
#include "tests/support/shape_case.hpp"

namespace spsolve::cuda {

inline constexpr BoundaryKind periodic = BoundaryKind::periodic, dirichlet = BoundaryKind::dirichlet,
                              neumann = BoundaryKind::neumann;
/// Holds short names for tables of cases, apart from the names of other enumerations.
namespace formats {
inline constexpr Precision fp32 = Precision::fp32, fp64 = Precision::fp64, tf32 = Precision::tf32,
                           bf16 = Precision::bf16, fp16 = Precision::fp16;
}
using namespace formats;

/// Returns the arguments that every kernel of a launch needs.
inline ScalarArguments scalar_arguments(const testing::RandomCase& problem, const Field& in, const Field& out,
                                        const Field& source, const Box& region) {
  const std::array<int, 3> axes = grid_axes(problem.domain);
  ScalarArguments a{};
  a.in = view_of(in, axes);
  a.out = view_of(out, axes);
  a.source = view_of(source, axes);
  a.region = region_of(region, axes);
  for (int k = 0; k < axis_count; ++k) {
    a.shape[k] = problem.domain.shape[axes[k]];
    for (const Side side : {low, high}) {
      a.ghost[k][side] = problem.domain.faces[axes[k]][side].value;
      a.ghost_fp32[k][side] = static_cast<float>(a.ghost[k][side]);
    }
  }
  return a;
}

using Walls = std::array<BoundaryKind, 2>;  // low and high
inline constexpr Walls no_walls{periodic, periodic}, mirrors{neumann, neumann}, values{dirichlet, dirichlet},
    mirror_first{neumann, dirichlet}, mirror_last{dirichlet, neumann};

/// Describes a launch of `steps` steps of a grid.
struct StepCase {
  testing::ShapeCase shape;
  int steps;
  Walls z, y, x;  // replace the walls of `shape`
  std::array<bool, 3> symmetric{};
  bool with_source = true;      // else the source is zero
  std::array<bool, 3> wraps{};  // axes without periodic copies

  testing::RandomCase problem() const {
    testing::RandomCase random = with_walls(make_problem(shape, symmetric));
    if (!with_source) random.source.assign(random.source.size(), 0.0);
    return random;
  }
  /// Returns the problem without its field and source, which take long to make.
  testing::RandomCase outline() const { return with_walls(make_stencil_of(shape, symmetric)); }
  testing::RandomCase with_walls(testing::RandomCase random) const {
    for (const Side side : {low, high}) {
      random.domain.faces[z_axis][side].kind = z[side];
      random.domain.faces[y_axis][side].kind = y[side];
      random.domain.faces[x_axis][side].kind = x[side];
    }
    return random;
  }
  KernelStencil stencil() const {
    const testing::RandomCase made_of = outline();
    KernelStencil made(made_of.domain, made_of.stencil, shape.precision, with_source);
    for (int k = 0; k < axis_count; ++k) made.wraps[k] = wraps[grid_axes(made_of.domain)[k]];
    return made;
  }
  Formats formats() const { return {shape.precision, true, true}; }
  /// Returns the bound of the distance from the CPU unit: 0 unless sums are folded, which round at other
  /// places.
  double bound() const {
    if (stencil().folded == std::array<bool, 3>{}) return 0;
    return 2 * testing::rounding_bound(outline().stencil, unit_roundoff(shape.precision), steps, steps + 1.0);
  }

  std::string_view name() const { return shape.name; }
  std::string constants() const { return constants_text(stencil(), formats(), nullptr); }
};

}  // namespace spsolve::cuda
