// SPDX-License-Identifier: Apache-2.0
#include "app/bench/layouts_suite.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#ifdef SPSOLVE_CUDA
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/ceilings/layout_sweeps.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/runtime/timing.hpp"
#endif

namespace spsolve {

#ifdef SPSOLVE_CUDA
namespace {

/// Describes a stencil on a grid of rows x columns; a line of points is cut into rows.
struct LayoutCase {
  const char* stencil;
  int dimensions, fuse, rows, columns;
};

struct NamedRowStep {
  cuda::RowStep step;
  const char* name;
};
constexpr NamedRowStep row_steps[]{
    {cuda::RowStep::im2row_in_memory, "im2row in memory, CUDA cores"},
    {cuda::RowStep::stencil2row_in_memory, "stencil2row in memory, CUDA cores"},
    {cuda::RowStep::stencil2row, "stencil2row in shared memory, CUDA cores"},
    {cuda::RowStep::tensor_cores, "dual tessellation on tensor cores"},
    {cuda::RowStep::padded_rows, "padded rows"},
    {cuda::RowStep::lookup, "lookup tables, dirty bits"},
    {cuda::RowStep::natural_from_memory, "natural order, from memory"},
    {cuda::RowStep::natural, "natural order, staged"}};

struct NamedBand {
  cuda::BandForm form;
  const char* name;
};
constexpr NamedBand bands[]{{cuda::BandForm::dense, "dense band"},
                            {cuda::BandForm::swapped, "dense band, rows swapped"},
                            {cuda::BandForm::sparse, "2:4 strided swap"}};

/// Holds what all steps share.
struct LayoutBench {
  const BenchRequest& request;
  const DeviceChoice& device;
  const Terminal& terminal;
  const std::function<void(nlohmann::ordered_json)>& keep;
  const cuda::KernelCompiler& compiler;
  const cuda::Stream& stream;

  /// Returns the cases that --stencil asks for.
  std::vector<LayoutCase> wanted(std::vector<LayoutCase> cases) const {
    std::erase_if(cases, [&](const LayoutCase& what) {
      return !request.stencil.empty() && request.stencil != what.stencil;
    });
    return cases;
  }

  /// Checks 512 outputs of a sweep, then times it.
  template <class Sweep>
  void measure(const LayoutCase& what, const char* precision, const std::string& name, Sweep&& sweep) const {
    constexpr int samples = 512;
    sweep.launch();
    if (const int wrong = sweep.wrong_outputs(samples))
      throw Error(Status::device_failure, std::string(what.stencil) + ", " + name + ": " +
                                              std::to_string(wrong) + " of " + std::to_string(samples) +
                                              " outputs differ from the sums on the host");
    if (request.compile_only) return;
    const cuda::LaunchTime time =
        cuda::launch_time(stream, request.seconds.value_or(0.1), [&] { sweep.launch(); });
    const double points = 1e-9 * what.fuse * what.rows * what.columns;
    std::vector<int> shape{what.rows, what.columns};
    if (what.dimensions == 1) shape = {what.rows * what.columns};
    terminal.print("{:<8} {:<5} {:>4} {:<42} {:>10.1f} {:>10.1f}", what.stencil, precision, what.fuse, name,
                   points / time.boost_s, points / time.sustained_s);
    keep({{"stencil", what.stencil},
          {"shape", shape},
          {"precision", precision},
          {"fuse", what.fuse},
          {"step", name},
          {"device", device.of_rank},
          {"gstencil_per_s", points / time.sustained_s},
          {"gstencil_per_s_boost", points / time.boost_s}});
  }
};

Stencil stencil_of(const LayoutCase& what) {
  return fuse_steps(make_preset(what.stencil, what.dimensions, {1, 1, 1}, {}), what.fuse);
}

void measure_rows(const LayoutBench& bench) {
  for (const LayoutCase& what : bench.wanted({{"1d1r", 1, 3, 10'000, 1024}, {"box2d1r", 2, 3, 10240, 10240}}))
    for (const NamedRowStep& step : row_steps)
      bench.measure(
          what, "fp64", step.name,
          cuda::RowSweep(stencil_of(what), step.step, what.rows, what.columns, bench.compiler, bench.stream));
}

void measure_bands(const LayoutBench& bench) {
  for (const LayoutCase& what :
       bench.wanted({{"box2d2r", 2, 1, 10240, 10240}, {"box2d3r", 2, 1, 10240, 10240}}))
    for (const bool staged : {false, true})
      for (const NamedBand& band : bands)
        bench.measure(what, "fp16", std::string(band.name) + (staged ? ", staged" : ", from memory"),
                      cuda::BandSweep(stencil_of(what), band.form, staged, what.rows, what.columns,
                                      bench.compiler, bench.stream));
}

}  // namespace
#endif

bool has_layout_steps(const BenchRequest& request) {
  if (request.shard[0] > 0) return false;
  if (request.suite == "layouts") return true;
  const bool is_any = request.shape.empty() && request.unit == "auto" && request.layout == "auto";
  return request.suite == "ablation" && is_any && request.precision.value_or("fp16") == "fp16" &&
         request.fuse.value_or(1) == 1;
}

void measure_layouts(const BenchRequest& request, [[maybe_unused]] const DeviceChoice& device,
                     [[maybe_unused]] const Terminal& terminal,
                     [[maybe_unused]] const std::function<void(nlohmann::ordered_json)>& keep) {
  if (!request.shape.empty())
    throw Error(Status::invalid_input, "--shape: --suite layouts has shapes of its own; leave --shape out");
#ifdef SPSOLVE_CUDA
  if (device.cuda && cuda::device_info(device.device).compute_capability >= 80) {
    cuda::select_device(device.device);
    const cuda::KernelCompiler compiler(cuda::device_info(device.device).architecture());
    const cuda::Stream stream;
    const LayoutBench bench{request, device, terminal, keep, compiler, stream};
    terminal.print("{}, GStencil/s\n{:<8} {:<5} {:>4} {:<42} {:>10} {:>10}", device.of_rank, "stencil",
                   "prec", "fuse", "step", "boost", "sustained");
    if (request.suite == "layouts" && request.precision.value_or("fp64") == "fp64") measure_rows(bench);
    if (request.precision.value_or("fp16") == "fp16") measure_bands(bench);
    return;
  }
#endif
  throw Error(Status::invalid_input,
              fmt::format("--suite {}: needs a GPU of compute capability 8.0 or more, whose tensor cores it "
                          "measures",
                          request.suite));
}

}  // namespace spsolve
