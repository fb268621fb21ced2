// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/layout_search.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "app/inspect/describe.hpp"

namespace spsolve {

LayoutSearch search_layouts(const Setup& setup, const DeviceModel& device) {
  const Candidate* morph = fastest(setup.plan.candidates, [](const Candidate& c) {
    return c.unit == UnitKind::sparse_tensor && c.layout == Layout::morph;
  });
  if (!morph)
    throw Error(
        Status::invalid_input,
        fmt::format("--layouts: on {} no candidate in {} has the layout morph on sparse tensor cores; see "
                    "compute.precision, compute.unit and --device-model",
                    device.name, to_string(setup.problem.precision)));
  const bool half = storage_bytes(morph->precision) == 2;
  const MmaShape mma = widest_mma(half ? morph->precision : Precision::tf32);
  const DeviceModel rated = device.gpu ? device : nominal_gpu();  // CPUs emulate
  const TensorRates rates{half ? rated.mma_half_sparse : rated.mma_tf32_sparse, rated.bandwidth,
                          rated.shared_bandwidth};
  const Problem& problem = setup.problem;
  return {morph->fuse, mma, rated.name,
          explore_layouts(fuse_steps(problem.stencil, morph->fuse), problem.domain.shape, mma,
                          morph->precision, rates)};
}

void print_layouts(const LayoutSearch& search, const Terminal& terminal) {
  terminal.print("tiles of the morph layout, {} per launch, mma.sp m16n8k{} {}", counted(search.fuse, "step"),
                 search.mma.k, to_string(search.mma.element));
  terminal.print("{:>12} {:>4} {:>7} {:>6} {:>6} {:>8} {:>14} {:>11} {:>10} {:>8} {:>6}", "r3 x r2 x r1", "M",
                 "window", "K", "zero", "density", "instructions", "compute us", "memory us", "us", "march");
  for (const LayoutCandidate& c : search.tiles)
    terminal.print("{:>12} {:>4} {:>7} {:>6} {:>6} {:>8.3f} {:>14} {:>11.1f} {:>10.1f} {:>8.1f} {:>6}",
                   extent_text(c.tile, axis_count), c.m, c.window, c.k, c.zero_columns, c.density,
                   c.mma_count, 1e6 * c.compute_seconds, 1e6 * c.memory_seconds, 1e6 * c.seconds,
                   c.march_instructions > 0 ? std::to_string(c.march_instructions) : "-");
  terminal.print(
      "M: outputs of a tile; window: points around them; K: those in use, and zero columns for 2:4; density: "
      "weights / multiplications; us: by equations 6 to 8, {}, if a tile multiplies all of its input at once",
      search.rates);
  for (const LayoutCandidate& c : search.tiles)
    if (c.is_taken)
      terminal.print(
          "march: instructions per 128 outputs of kernels, which load each plane once; no kernel takes the "
          "tiles without one. Kernels and the emulation take {}, with {}",
          extent_text(c.tile, axis_count), c.march_instructions);
}

std::string layouts_json(const LayoutSearch& search, const Setup& setup) {
  const Domain& domain = setup.problem.domain;
  nlohmann::ordered_json json{
      {"name", setup.config.name},
      {"shape", std::vector<std::int64_t>(domain.shape.end() - domain.dimensions, domain.shape.end())},
      {"rates_of", search.rates},
      {"fuse", search.fuse},
      {"precision", to_string(search.mma.element)},
      {"k", search.mma.k},
      {"tiles", nlohmann::ordered_json::array()}};
  for (const LayoutCandidate& c : search.tiles)
    json["tiles"].push_back(
        {{"tile", c.tile},
         {"window", c.window},
         {"columns", c.k},
         {"zero_columns", c.zero_columns},
         {"density", c.density},
         {"instructions", c.mma_count},
         {"instructions_of_half_k", c.narrow_mma_count},
         {"compute_seconds", c.compute_seconds},
         {"memory_seconds", c.memory_seconds},
         {"gstencil_per_s", 1e-9 * static_cast<double>(volume(domain.shape)) * search.fuse / c.seconds},
         {"march_instructions", c.march_instructions},
         {"taken", c.is_taken}});
  return json.dump(2) + "\n";
}

}  // namespace spsolve
