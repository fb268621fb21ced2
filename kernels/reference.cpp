// SPDX-License-Identifier: Apache-2.0
#include "kernels/reference.hpp"

namespace spsolve {

std::vector<double> reference_step(const Domain& domain, const Stencil& stencil, const std::vector<double>& u,
                                   const std::vector<double>* source) {
  std::vector<double> next(u.size());
  std::size_t i = 0;
  for_each_point(domain.box(), [&](const Index3& p) {
    double sum = source ? (*source)[i] : 0.0;
    for (const Tap& tap : stencil.taps()) sum += tap.weight * padded(domain, u, p + tap.offset);
    next[i++] = sum;
  });
  return next;
}

std::vector<double> reference_steps(const Domain& domain, const Stencil& stencil, std::vector<double> u,
                                    int steps, const std::vector<double>* source) {
  for (int step = 0; step < steps; ++step) u = reference_step(domain, stencil, u, source);
  return u;
}

}  // namespace spsolve
