// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/scalar_sweep.hpp"

#include <utility>

namespace spsolve::cuda {

ScalarSweep::ScalarSweep(Domain domain, const Stencil& weights, Precision precision, cudaStream_t stream,
                         double source_factor)
    : domain_(std::move(domain)),
      weights_(weights),
      precision_(precision),
      stream_(stream),
      source_factor_(source_factor) {
  domain_.faces = {};
  domain_.reflected = {};
}

void ScalarSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  auto& unit = units_[source];
  if (!unit)
    unit = std::make_unique<ScalarUnit>(domain_, weights_, precision_, source, stream_, std::array<bool, 3>{},
                                        source_factor_);
  unit->advance(in, State(out), region, 1);
}

}  // namespace spsolve::cuda
