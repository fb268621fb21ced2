// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>

#include "kernels/cuda/scalar/scalar_unit.hpp"
#include "kernels/sweep.hpp"

namespace spsolve::cuda {

/// Applies any weights on CUDA cores, by the kernels that take single steps. Every point is a chain of fused
/// multiply-adds that begins with the source times `source_factor`.
class ScalarSweep : public Sweep {
 public:
  /// Makes the sweep for the current device; the walls of `domain` do not matter. Work is enqueued on
  /// `stream`, which must outlive the sweep.
  ScalarSweep(Domain domain, const Stencil& weights, Precision precision, cudaStream_t stream,
              double source_factor = 1);

  /// The first call with a source, or without one, compiles.
  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override;

 private:
  Domain domain_;
  Stencil weights_;
  Precision precision_;
  cudaStream_t stream_;
  double source_factor_;
  mutable std::map<const Field*, std::unique_ptr<ScalarUnit>> units_;  // by source, made at first use
};

}  // namespace spsolve::cuda
