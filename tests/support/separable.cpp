// SPDX-License-Identifier: Apache-2.0
#include "tests/support/separable.hpp"

#include <cmath>
#include <utility>

namespace spsolve::testing {
namespace {

/// Holds values on a box of this extent, x fastest.
struct Values {
  Index3 extent;
  std::vector<double> at;
};

/// Correlates with one factor, on the points that have all inputs.
Values correlate_along(const Values& in, int axis, const std::vector<double>& factor) {
  Values out{in.extent, {}};
  out.extent[axis] -= static_cast<std::int64_t>(factor.size()) - 1;
  const Index3 stride{in.extent[1] * in.extent[2], in.extent[2], 1};
  for_each_point(box_of(out.extent), [&](const Index3& p) {
    const std::int64_t first = p[0] * stride[0] + p[1] * stride[1] + p[2];
    double& sum = out.at.emplace_back(0.0);
    for (std::size_t tap = 0; tap < factor.size(); ++tap)
      sum += factor[tap] * in.at[first + static_cast<std::int64_t>(tap) * stride[axis]];
  });
  return out;
}

}  // namespace

SeparableStencil random_separable(std::mt19937_64& random, const Box& taps, int rank) {
  std::uniform_real_distribution<double> value(-1.0, 1.0);
  SeparableStencil stencil{taps, {}, 0.0};
  const bool along_z = taps.extent()[z_axis] > 1;
  for (int k = 0; k < rank; ++k) {
    SeparableTerm term;
    for (int axis = 0; axis < axis_count; ++axis) {
      for (std::int64_t i = 0; i < taps.extent()[axis]; ++i)
        term.factor[axis].push_back(k ? value(random) : std::abs(value(random)) + 0.01);
      const double norm = sum_abs(term.factor[axis]);
      for (double& factor : term.factor[axis]) factor /= norm;
    }
    if (!along_z) term.factor[z_axis] = {1.0};
    if (along_z && k >= 2) term.factor[z_axis] = stencil.terms[k - 2].factor[z_axis];
    if (along_z && k % 2) {
      term.factor[x_axis] = stencil.terms[k - 1].factor[x_axis];
      for (double& factor : term.factor[x_axis]) factor *= -0.5;
    }
    stencil.terms.push_back(std::move(term));
  }
  return stencil;
}

std::vector<double> correlate(const SeparableStencil& stencil, const Field& in) {
  const Box owned = in.owned();
  std::vector<double> sums(static_cast<std::size_t>(owned.points()), 0.0);
  const Box read{owned.begin + stencil.taps.begin, owned.end + stencil.taps.end - Index3{1, 1, 1}};
  const Values values{read.extent(), points_of(in, read)};
  for (const SeparableTerm& term : stencil.terms) {
    Values partial = values;
    for (const int axis : {x_axis, y_axis, z_axis})
      partial = correlate_along(partial, axis, term.factor[axis]);
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += partial.at[i];
  }
  return sums;
}

double separable_bound(const SeparableStencil& stencil, Precision precision) {
  double terms = 0;
  for (const SeparableTerm& term : stencil.terms)
    terms += sum_abs(term.factor[0]) * sum_abs(term.factor[1]) * sum_abs(term.factor[2]);
  const Index3 taps = stencil.taps.extent();
  const auto additions =
      static_cast<double>(stencil.terms.size()) * static_cast<double>(taps[0] + taps[1] + taps[2] + 4);
  const double operands = precision == Precision::fp32 ? 8 * 0x1p-22 : 10 * unit_roundoff(precision);
  const double storage =
      precision == Precision::fp32 || precision == Precision::tf32 ? 0x1p-24 : unit_roundoff(precision);
  return terms * (operands + additions * 0x1p-23) + 2 * storage * (terms + 1);
}

}  // namespace spsolve::testing
