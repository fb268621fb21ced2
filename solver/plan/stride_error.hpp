// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "kernels/precision.hpp"
#include "kernels/strides/step_matrix.hpp"
#include "solver/plan/method.hpp"

namespace spsolve {

/// Describes how the waves of a two-level equation u(n + 1) = S*u(n) - q u(n - 1) amplify errors. A wave
/// whose symbol of S is s has the roots m of m^2 - s m + q = 0, and changes by a factor m per step.
struct TwoLevelGrowth {
  double largest_root;   // 1 where the equation is stable
  double of_the_state;   // the largest growth of an error of u(n) that leaves u(n) - u(n - 1) unchanged
  double of_difference;  // |q|: an error of u(n) - u(n - 1) grows to 1 + |q| + ... + |q|^(k-1) in k steps
};
TwoLevelGrowth growth_of(const TwoLevelEquation& equation);

/// Bounds how much waves grow in a run of strides because weights are rounded. Where the symbol of L_t is 2,
/// both roots of a wave without damping are equal, and a rounding of d moves one of them to 1 + sqrt(d).
double growth_by_rounding(const StrideLeapfrog& stride, const Method& method, Precision precision,
                          std::int64_t steps);

/// Holds the length of a run in steps, and the distance of the steps at which its strides start anew.
struct StridedRun {
  std::int64_t steps = 1000;
  std::int64_t begun_every = 1000;
};

/// Names how the roundings of one sum add up. At worst all have the same sign; probably n of them add up to
/// no more than sqrt(n) (Higham and Mary, SIAM J. Sci. Comput. 41 (2019) A2815).
enum class Roundings { worst, probable };

/// Bounds the error at the end of a run of a stable equation: for launches of `method.fuse` steps as strides,
/// and for single steps by the scalar unit, which round factors to tf32 in that precision. The bound is a
/// share of the largest norm that the field has during the run, in every p-norm in which sum |w| bounds
/// sweeps (docs/internals/numerics.md#waves).
double strided_error(const TwoLevelEquation& equation, const Method& method, Precision precision,
                     const StridedRun& run, Roundings roundings = Roundings::worst);
double single_steps_error(const TwoLevelEquation& equation, Precision precision, std::int64_t steps,
                          Roundings roundings = Roundings::worst);

}  // namespace spsolve
