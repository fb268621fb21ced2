// SPDX-License-Identifier: Apache-2.0
#include "solver/block_memory.hpp"

#include "kernels/field.hpp"
#include "kernels/precision.hpp"

namespace spsolve {

std::size_t block_bytes(const Problem& problem, const Decomposition& decomposition, const Method& method,
                        int exchange_every) {
  const Box block = decomposition.block(0);  // the largest along every axis
  const Index3 extent = block.extent();
  const Index3 radius = problem.radius();
  const int steps = exchange_every * method.fuse;
  const Precision sums = sum_precision(problem.precision);
  std::size_t bytes =
      problem.array_count(method.fuse) * field_bytes(extent, steps * radius, problem.precision);
  if (problem.equations)
    for (std::size_t i = 0; i < problem.equations->canonical.coefficients.size(); ++i)
      bytes += field_bytes(problem.equations->coefficient_box(i, grow(block, (steps - 1) * radius)), sums,
                           block.begin[x_axis]);
  if (!problem.has_source) return bytes;
  bytes += field_bytes(extent, (steps - 1) * radius, sums);
  if (method.fused_weights()) bytes += 2 * field_bytes(extent, steps * radius, sums);
  return bytes;
}

std::size_t copy_bytes(const Decomposition& decomposition, const Sampling& sampling) {
  return field_bytes(sampling.sampled(decomposition.block(0)).extent(), {0, 0, 0}, sampling.precision);
}

}  // namespace spsolve
