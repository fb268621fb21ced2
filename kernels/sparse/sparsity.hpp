// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spsolve {

/// States how many columns a row may use of each group of consecutive columns. In hardware, half-precision
/// operands are two_of_four and tf32 operands one_of_two. one_of_two also satisfies two_of_four.
struct Sparsity {
  int kept;
  int group;

  friend constexpr bool operator==(const Sparsity&, const Sparsity&) = default;
};

constexpr Sparsity dense{1, 1}, one_of_two{1, 2}, two_of_four{2, 4};

}  // namespace spsolve
