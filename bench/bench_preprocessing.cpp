// SPDX-License-Identifier: Apache-2.0
// Measures what sparse tensor cores take before the first launch (SparStencil, figure 8), for the eight
// benchmark shapes in fp16: the seconds of the search for a tile, of matching, of making the operand of the
// kernel, of metadata and weights, and of compiling. No GPU is needed:
//   bench_preprocessing [--json FILE] [CASE...]     (CASE: STENCIL:fp16:SHAPE:STEPS, as parse_case() has it)
//
// The search and the matching are those of SparStencil (cheapest_tile(), match_columns()), all input of a
// tile at once. The kernel marches, and searches and matches for a march; that is in "operand". The
// instructions (m16n8k32) per 128 outputs of both operands stand beside.
#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdio>
#include <exception>

#include "bench/bench_case.hpp"
#include "kernels/catalogue/presets.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"
#include "kernels/sparse/layout.hpp"
#include "kernels/sparse/layout_explorer.hpp"
#include "kernels/sparse/morph.hpp"

namespace spsolve::cuda {
namespace {

using Json = nlohmann::ordered_json;

/// Returns the least seconds of three calls.
template <class Work>
double seconds_of(Work&& work) {
  double least = 1e300;
  for (int i = 0; i < 3; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    work();
    least = std::min(least, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
  }
  return least;
}

const std::vector<std::string>& benchmark_shapes() {
  static const std::vector<std::string> all{
      "1d1r:fp16:10240000:7",           "1d2r:fp16:10240000:3",         "star2d1r:fp16:10240x10240:7",
      "box2d1r:fp16:10240x10240:7",     "star2d3r:fp16:10240x10240:2",  "box2d3r:fp16:10240x10240:2",
      "star3d1r:fp16:1024x1024x1024:3", "box3d1r:fp16:1024x1024x1024:2"};
  return all;
}

Json measure(const KernelCase& what, const KernelCompiler& compiler) {
  const Domain& domain = what.domain;
  const Stencil fused = fuse_steps(make_preset(what.stencil, domain.dimensions, {1, 1, 1}, {}), what.steps);
  Index3 tile{};
  Json row{{"stencil", what.stencil},
           {"precision", to_string(what.precision)},
           {"fuse", what.steps},
           {"fused_taps", fused.taps().size()}};
  const Operand found = morph(fused, cheapest_tile(fused, domain.shape, m16n8k32_fp16), Pairing::columns);
  row["instructions_found"] = 128 * mma_per_output(found, m16n8k32_fp16);
  row["search"] = seconds_of([&] { tile = cheapest_tile(fused, domain.shape, m16n8k32_fp16); });
  row["tile"] = tile;
  row["matching"] = seconds_of([&] { match_columns(fused, tile); });
  const auto make = [&] {
    return required(MmaProgram::make(domain, fused, what.precision, Layout::morph, TensorCores::sparse));
  };
  row["operand"] = seconds_of(make);
  const MmaProgram program = make();
  const double outputs = static_cast<double>(volume(program.operand().tile)) * program.tiles_per_block();
  row["instructions_of_kernel"] = 128 * program.instructions() / outputs;
  row["metadata"] = seconds_of([&] {
    program.metadata();
    program.weights();
  });
  row["compile"] = seconds_of(
      [&] { compiler.compile_fresh("kernels/cuda/tensor/mma_sweep.cuh", program.constants(true, false)); });
  return row;
}

}  // namespace
}  // namespace spsolve::cuda

int main(int argc, char** argv) try {
  using namespace spsolve::cuda;
  CLI::App app{"Seconds before the first launch on sparse tensor cores"};
  std::string json;
  std::vector<std::string> cases = benchmark_shapes();
  app.add_option("--json", json, "Write the rows to this file");
  app.add_option("CASE", cases, "STENCIL:fp16:SHAPE:STEPS");
  CLI11_PARSE(app, argc, argv);
  const KernelCompiler compiler("sm_90a", {});
  Json rows = Json::array();
  std::printf("%-10s %5s %6s %10s %10s %10s %10s %10s\n", "stencil", "steps", "taps", "search", "matching",
              "operand", "metadata", "compile");
  for (const std::string& text : cases) {
    const Json row = measure(parse_case(text), compiler);
    std::printf("%-10s %5d %6d", row["stencil"].get<std::string>().c_str(), row["fuse"].get<int>(),
                row["fused_taps"].get<int>());
    for (const char* part : {"search", "matching", "operand", "metadata", "compile"})
      std::printf(" %10.5f", row[part].get<double>());
    std::printf("\n");
    std::fflush(stdout);
    rows.push_back(row);
  }
  if (json.empty()) return 0;
  std::ofstream file(json);
  file << rows.dump(1) << "\n";
  if (!file.flush()) throw std::runtime_error("cannot write " + json);
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_preprocessing: %s\n", error.what());
  return 1;
}
