// SPDX-License-Identifier: Apache-2.0
#include "app/bench/gemm_suite.hpp"

#include <array>
#include <nlohmann/json.hpp>

#ifdef SPSOLVE_CUDA
#include "kernels/cuda/ceilings/sparse_gemm.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#endif

namespace spsolve {
namespace {

/// Returns m, n and k: those of the worklog unless others are asked for.
std::array<int, 3> gemm_shape(const BenchRequest& request) {
  if (request.shape.empty()) return {4096, 8192, 8192};
  if (request.shape.size() != 3)
    throw Error(Status::invalid_input, "--shape: --suite gemm takes three extents, M,N,K");
  std::array<int, 3> shape{};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    constexpr int most = 1 << 20;
    if (request.shape[i] > most)
      throw Error(Status::invalid_input, "--shape: extents of --suite gemm are at most 2^20");
    shape[i] = static_cast<int>(request.shape[i]);
  }
  return shape;
}

#ifdef SPSOLVE_CUDA

void measure_format(cuda::GemmFormat format, const BenchRequest& request, const DeviceChoice& device,
                    const Terminal& terminal, const std::function<void(nlohmann::ordered_json)>& keep) {
  const auto [m, n, k] = gemm_shape(request);
  const char* const name = format == cuda::GemmFormat::e4m3 ? "e4m3" : "fp16";
  const cuda::KernelCompiler compiler(cuda::device_info(device.device).architecture());
  const cuda::Stream stream;
  for (const cuda::GemmStep& step : cuda::gemm_ladder(format)) {
    cuda::SparseGemm gemm(format, m, n, k, step.design, compiler, stream);
    if (request.compile_only) {
      gemm.fill(cuda::SparseGemm::Data::random);
      gemm.launch();
      stream.synchronize();
      continue;
    }
    const cuda::LaunchTime time = cuda::time_when_right(gemm, std::string(name) + ", " + step.name,
                                                        request.seconds.value_or(0.3), stream);
    nlohmann::ordered_json row{{"format", name},
                               {"step", step.name},
                               {"shape", {m, n, k}},
                               {"device", device.of_rank},
                               {"flop_per_s", gemm.flop() / time.boost_s},
                               {"flop_per_s_sustained", gemm.flop() / time.sustained_s},
                               {"published_flop_per_s", step.published_flop}};
    terminal.print("{:<6} {:<30} {:>10.1f} {:>10.1f} {:>10.1f}", name, step.name,
                   1e-12 * gemm.flop() / time.boost_s, 1e-12 * gemm.flop() / time.sustained_s,
                   1e-12 * step.published_flop);
    keep(std::move(row));
  }
}

#endif

}  // namespace

void measure_gemm([[maybe_unused]] const BenchRequest& request, [[maybe_unused]] const DeviceChoice& device,
                  [[maybe_unused]] const Terminal& terminal,
                  [[maybe_unused]] const std::function<void(nlohmann::ordered_json)>& keep) {
  gemm_shape(request);
  if (request.precision && *request.precision != "fp16")
    throw Error(Status::invalid_input, "--suite gemm: --precision can only be fp16; without it also e4m3");
#ifdef SPSOLVE_CUDA
  if (device.cuda && cuda::device_info(device.device).compute_capability == 90) {
    cuda::select_device(device.device);
    terminal.print("{}, TFLOP/s with zeros counted\n{:<37} {:>10} {:>10} {:>10}", device.of_rank, "", "boost",
                   "sustained", "published");
    measure_format(cuda::GemmFormat::fp16, request, device, terminal, keep);
    if (!request.precision) measure_format(cuda::GemmFormat::e4m3, request, device, terminal, keep);
    return;
  }
#endif
  throw Error(
      Status::invalid_input,
      "--suite gemm: needs a GPU of compute capability 9.0, whose instructions (wgmma.sp) it measures");
}

}  // namespace spsolve
