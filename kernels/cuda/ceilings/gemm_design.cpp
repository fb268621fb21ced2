// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ceilings/gemm_design.hpp"

namespace spsolve::cuda {

std::vector<GemmStep> gemm_ladder(GemmFormat format) {
  const bool is_e4m3 = format == GemmFormat::e4m3;
  std::vector<GemmStep> steps;
  GemmDesign design{.specialised = false,
                    .wide_rows = !is_e4m3,
                    .stages = 1,
                    .metadata = GemmMetadata::loaded,
                    .overlap = false,
                    .early_release = false,
                    .cluster_blocks = 1,
                    .copied_results = false};
  const auto step = [&](const char* name, double published_tflop) {
    steps.push_back({name, design, published_tflop * 1e12});
  };
  step("one warpgroup", is_e4m3 ? 430 : 457);
  design.specialised = true;
  design.stages = is_e4m3 ? 2 : 3;
  step("one producer, two consumers", is_e4m3 ? 586 : 531);
  if (is_e4m3) {
    design.wide_rows = true;
    step("wide rows", 718);
  }
  design.stages = 5;
  step("five stages", 0);
  design.metadata = GemmMetadata::with_operands;
  step("metadata by the copy engine", is_e4m3 ? 0 : 784);
  design.metadata = GemmMetadata::apart;
  step("metadata with own barriers", 0);
  design.overlap = true;
  step("a stage always under way", 0);
  design.early_release = true;
  step("early release", is_e4m3 ? 1401 : 0);
  design.cluster_blocks = 2;
  step("clusters of two", 0);
  design.copied_results = true;
  step("results by the copy engine", 0);
  return steps;
}

}  // namespace spsolve::cuda
