// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ceilings/ceilings.hpp"

#include <limits>
#include <string_view>

#include "kernels/cuda/ceilings/ceiling_arguments.hpp"
#include "kernels/cuda/ceilings/sparse_gemm.hpp"
#include "kernels/cuda/ptx/wgmma_text.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/runtime/timing.hpp"
#include "kernels/error.hpp"

namespace spsolve::cuda {
namespace {

constexpr double sustained_seconds = 0.3;

/// Describes a rate that is measured.
struct Measured {
  const char* name;
  const char* instruction;  // enumerator of Instruction
  // This is the number of flop, or of bytes of shared memory, per instruction of a warp (wgmma: a quarter of
  // a warpgroup's).
  double per_warp;
  int oldest;  // first compute capability that has it
  int newest = std::numeric_limits<int>::max();
  WgmmaInstruction wgmma{};
};

constexpr double mma_flop(double m, double n, double k) { return 2 * m * n * k; }

/// Returns a wgmma with m64n256, which only sm_90 has.
Measured wgmma(const char* name, const char* type, bool sparse, bool a_in_registers = false) {
  const WgmmaInstruction what{type, 256, sparse, a_in_registers};
  return {name, "wgmma", mma_flop(64, what.n, what.k()) / 4, 90, 90, what};
}

const std::vector<Measured>& all_measured() {
  static const std::vector<Measured> all{
      {"fma fp16", "fma_fp16", 4 * 32, 80},
      {"fma fp32", "fma_fp32", 2 * 32, 80},
      {"fma fp64", "fma_fp64", 2 * 32, 80},
      {"shared memory", "shared_read", 16 * 32, 80},
      {"mma fp16 m16n8k16", "mma_fp16", mma_flop(16, 8, 16), 80},
      {"mma fp16 m16n8k16, fp16 sums", "mma_fp16_f16", mma_flop(16, 8, 16), 80},
      {"mma bf16 m16n8k16", "mma_bf16", mma_flop(16, 8, 16), 80},
      {"mma tf32 m16n8k8", "mma_tf32", mma_flop(16, 8, 8), 80},
      {"mma int8 m16n8k32", "mma_int8", mma_flop(16, 8, 32), 80},
      {"mma fp64 m16n8k16", "mma_fp64", mma_flop(16, 8, 16), 90},
      {"mma fp64 m8n8k4", "mma_fp64_m8n8k4", mma_flop(8, 8, 4), 80},
      {"mma.sp fp16 m16n8k16", "mma_sp_fp16_k16", mma_flop(16, 8, 16), 80},
      {"mma.sp fp16 m16n8k32", "mma_sp_fp16", mma_flop(16, 8, 32), 80},
      {"mma.sp fp16 m16n8k32, fp16 sums", "mma_sp_fp16_f16", mma_flop(16, 8, 32), 80},
      {"mma.sp bf16 m16n8k32", "mma_sp_bf16", mma_flop(16, 8, 32), 80},
      {"mma.sp tf32 m16n8k16", "mma_sp_tf32", mma_flop(16, 8, 16), 80},
      {"mma.sp int8 m16n8k64", "mma_sp_int8", mma_flop(16, 8, 64), 80},
      wgmma("wgmma fp16 m64n256k16", "f16", false),
      wgmma("wgmma fp16 m64n256k16, A in registers", "f16", false, true),
      wgmma("wgmma bf16 m64n256k16", "bf16", false),
      wgmma("wgmma tf32 m64n256k8", "tf32", false),
      wgmma("wgmma e4m3 m64n256k32", "e4m3", false),
      wgmma("wgmma.sp fp16 m64n256k32", "f16", true),
      wgmma("wgmma.sp fp16 m64n256k32, A in registers", "f16", true, true),
      wgmma("wgmma.sp bf16 m64n256k32", "bf16", true),
      wgmma("wgmma.sp tf32 m64n256k16", "tf32", true),
      wgmma("wgmma.sp e4m3 m64n256k64", "e4m3", true),
  };
  return all;
}

std::string constants_of(const char* instruction, const WgmmaInstruction& wgmma) {
  ConstantsText text({"kernels/cuda/ceilings/ceiling_arguments.hpp"});
  text.put("Instruction", "instruction", std::string("Instruction::") + instruction);
  text.flag("sparse", wgmma.sparse);
  text.flag("a_in_registers", wgmma.a_in_registers);
  text.line(wgmma_function("wgmma", wgmma));
  return text.finished();
}

Kernel compile(const KernelCompiler& compiler, const std::string& constants) {
  return Kernel(compiler.begin("kernels/cuda/ceilings/ceilings.cuh", constants), "ceiling");
}

bool has(int compute_capability, const Measured& what) {
  return compute_capability >= what.oldest && compute_capability <= what.newest;
}

Ceiling ceiling(const char* name, const char* unit, double work, const LaunchTime& time) {
  return {name, unit, work / time.boost_s, work / time.sustained_s};
}

/// Measures a rate by launches of about 2 ms that fill every multiprocessor.
Ceiling measure(const Measured& what, const Kernel& kernel, const DeviceInfo& device, const Stream& stream) {
  const int blocks = device.multiprocessors * std::max(1, kernel.resident_blocks(ceiling_threads, 0));
  const DeviceBuffer out(static_cast<std::size_t>(blocks) * ceiling_threads * sizeof(double));
  CeilingArguments arguments{nullptr, out.data(), 256};
  const auto launch = [&] { kernel.launch(blocks, ceiling_threads, 0, stream, arguments); };
  launch();
  arguments.wraps = std::max(256ll, static_cast<long long>(256 * 2e-3 / mean_seconds(stream, 2, launch)));
  const double warps = ceiling_threads / 32.0 * blocks;
  return ceiling(what.name, std::string_view(what.instruction) == "shared_read" ? "B/s" : "flop/s",
                 what.per_warp * ceiling_chains * warps * static_cast<double>(arguments.wraps),
                 launch_time(stream, sustained_seconds, launch));
}

std::vector<Ceiling> measure_copies(const Kernel& kernel, const Stream& stream) {
  constexpr std::size_t bytes = std::size_t{1} << 30;
  const DeviceBuffer from(bytes), to(bytes);
  check_cuda(cudaMemsetAsync(from.data(), 0x3c, bytes, stream));
  constexpr long long words = bytes / 16, block_words = ceiling_threads * (ceiling_chains / 2);
  const CeilingArguments arguments{from.data(), to.data(), words};
  return {
      ceiling(
          "copy", "B/s", 2.0 * bytes,
          launch_time(stream, sustained_seconds,
                      [&] { kernel.launch(words / block_words, ceiling_threads, 0, stream, arguments); })),
      ceiling("copy, cudaMemcpy", "B/s", 2.0 * bytes, launch_time(stream, sustained_seconds, [&] {
                check_cuda(cudaMemcpyAsync(to.data(), from.data(), bytes, cudaMemcpyDeviceToDevice, stream));
              }))};
}

Ceiling measure_gemm(GemmFormat format, const char* name, const KernelCompiler& compiler,
                     const Stream& stream) {
  SparseGemm gemm(format, 4096, 8192, 8192, {}, compiler, stream);
  return ceiling(name, "flop/s", gemm.flop(), time_when_right(gemm, name, sustained_seconds, stream));
}

}  // namespace

std::map<std::string, std::string> ceiling_constants(int compute_capability) {
  std::map<std::string, std::string> constants{{"copy", constants_of("copy", {})}};
  for (const Measured& what : all_measured())
    if (has(compute_capability, what)) constants[what.name] = constants_of(what.instruction, what.wgmma);
  return constants;
}

std::vector<Ceiling> measure_ceilings(const KernelCompiler& compiler, CeilingScope scope,
                                      const std::function<void(const Ceiling&)>& report) {
  const DeviceInfo device = current_device();
  const Stream stream;
  std::vector<Ceiling> rates;
  const auto add = [&](const Ceiling& rate) {
    report(rate);
    rates.push_back(rate);
  };
  const auto constants = ceiling_constants(device.compute_capability);
  const auto kernel_of = [&](const std::string& name) { return compile(compiler, constants.at(name)); };
  for (const Ceiling& rate : measure_copies(kernel_of("copy"), stream)) add(rate);
  for (const Measured& what : all_measured()) {
    const bool wanted = scope == CeilingScope::all || std::string_view(what.name).starts_with("fma");
    if (wanted && constants.contains(what.name)) add(measure(what, kernel_of(what.name), device, stream));
  }
  if (scope == CeilingScope::all && device.compute_capability == 90) {
    add(measure_gemm(GemmFormat::fp16, "sparse GEMM fp16 4096x8192x8192", compiler, stream));
    add(measure_gemm(GemmFormat::e4m3, "sparse GEMM e4m3 4096x8192x8192", compiler, stream));
  }
  return rates;
}

}  // namespace spsolve::cuda
