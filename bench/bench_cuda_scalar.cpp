// SPDX-License-Identifier: Apache-2.0
// Measures the scalar unit on one GPU: bench_cuda_scalar [--json FILE] [--seconds S]
// STENCIL:PRECISION:SHAPE:STEPS[:WALL[:tight]]... SHAPE is 10240x10240, slowest axis first; STEPS 0 takes
// the preferred number of the unit. WALL is p, d or n, or one letter per axis (default d). "tight" omits the
// halo beside walls.
#include "bench/bench_case.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/scalar/scalar_unit.hpp"

namespace spsolve::cuda {
namespace {

nlohmann::json bench_unit(KernelCase what, double seconds) {
  const std::string wall = what.more.empty() ? "d" : what.more[0];
  set_walls(what, wall);
  const Stencil stencil = make_preset(what.stencil, what.domain.dimensions, {1, 1, 1}, {});
  const Stream stream;
  const ScalarUnit unit(what.domain, stencil, what.precision, nullptr, stream);
  if (what.steps == 0) what.steps = unit.preferred_steps();
  const Index3 halo = what.more.size() > 1 ? Index3{} : what.steps * stencil.radius();
  nlohmann::json row = measure(what, stream, halo, seconds, [&](const Field& in, Field& out) {
    unit.advance(in, out, what.domain.box(), what.steps);
  });
  row.update({{"unit", "scalar"}, {"layout", "none"}, {"walls", wall}});
  return row;
}

}  // namespace
}  // namespace spsolve::cuda

int main(int argc, char** argv) { return spsolve::cuda::bench_cases(argc, argv, spsolve::cuda::bench_unit); }
