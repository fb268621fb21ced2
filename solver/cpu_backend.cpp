// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu_unit.hpp"
#include "solver/backend.hpp"

namespace spsolve {

std::unique_ptr<Unit> CpuBackend::make_unit(const Problem& problem, const Method&, const Field* source) {
  return std::make_unique<CpuUnit>(problem.domain, problem.stencil, problem.precision, source);
}

}  // namespace spsolve
