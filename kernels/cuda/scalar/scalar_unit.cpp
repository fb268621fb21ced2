// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/scalar/scalar_unit.hpp"

#include <algorithm>
#include <cstdint>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"

namespace spsolve::cuda {
namespace {

/// Limits how much runs side by side, and so the scratch memory of a unit.
constexpr std::size_t most_strands = 4;

/// Returns a dirichlet value as an operand: rounded to storage, and for tf32 read back with its rounding.
double ghost_operand(double value, Precision precision) {
  return with_storage(precision, [&]<class Storage>() {
    return static_cast<double>(static_cast<Compute<Storage>>(to_storage<Storage>(value)));
  });
}

}  // namespace

ScalarUnit::ScalarUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source,
                       cudaStream_t stream, const std::array<bool, 3>& wraps, double source_factor)
    : domain_(domain),
      radius_(stencil.radius()),
      precision_(precision),
      source_(source),
      device_(current_device()),
      axes_(grid_axes(domain)),
      stencil_(domain, stencil, precision, source != nullptr),
      compiler_(device_.architecture()),
      strand_(stream) {
  stencil_.source_factor = source_factor;
  for (int k = 0; k < axis_count; ++k) {
    stencil_.wraps[k] = wraps[axes_[k]];
    for (const Side side : {low, high})
      ghost_[k][side] = ghost_operand(domain.faces[axes_[k]][side].value, precision);
  }
  preferred_ = preferred_depth(stencil_, {precision, true, true}, device_.block_limits());
}

ScalarUnit::ScalarUnit(const Domain& domain, const Stencil& stencil, Precision precision,
                       const TwoLevels& two_levels, cudaStream_t stream)
    : ScalarUnit(domain, stencil, precision, nullptr, stream, {}, two_levels.weight) {
  stencil_.with_source = stencil_.two_levels = true;
  stencil_.begins_with_plane = false;
}

int ScalarUnit::preferred_steps() const { return std::max(preferred_, 1); }

/// Runs advance() with null operands, so that every kernel it needs is compiled.
void ScalarUnit::prepare(const ConstState& in, const Box& region, int steps) const {
  aligned_column_ = in.front().owned().begin[x_axis];
  run_slabs(strand_, {{}, true}, {{}, true}, region, steps);
}

void ScalarUnit::advance(const ConstState& in, const State& out, const Box& region, int steps) const {
  advance_on(strand_, in, out, region, steps);
}

void ScalarUnit::advance_all(const ConstState& in, const State& out, std::span<const Box> regions,
                             int steps) const {
  in_strands(strand_, regions.size(),
             [&](Strand& strand, std::size_t i) { advance_on(strand, in, out, regions[i], steps); });
}

template <class Work>
void ScalarUnit::in_strands(Strand& strand, std::size_t count, Work&& work) {
  if (count == 0) return;
  const std::size_t strands = std::min(count, most_strands);
  while (strand.sides.size() + 1 < strands) strand.sides.push_back(std::make_unique<SideStrand>());
  if (strands > 1) strand.begun.record(strand.stream);
  for (std::size_t k = 1; k < strands; ++k)
    check_cuda(cudaStreamWaitEvent(strand.sides[k - 1]->stream, strand.begun));
  // Work in `strand` may divide itself again and so add to its sides.
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t k = i % strands;
    work(k == 0 ? strand : strand.sides[k - 1]->strand, i);
  }
  for (std::size_t k = 1; k < strands; ++k) {
    SideStrand& side = *strand.sides[k - 1];
    side.ended.record(side.stream);
    check_cuda(cudaStreamWaitEvent(strand.stream, side.ended));
  }
}

void ScalarUnit::advance_on(Strand& strand, const ConstState& in, const State& out, const Box& region,
                            int steps) const {
  aligned_column_ = in.front().owned().begin[x_axis];
  FieldView from{view_of(in.front(), axes_), true}, to{view_of(out.front(), axes_), true};
  if (stencil_.two_levels) {
    from.previous = &in[1];
    to.previous = &out[1];
  }
  run_slabs(strand, from, to, region, steps);
}

/// Processes the region slab by slab if several kernels run in turn, so that their intermediate results fit
/// in scratch memory.
void ScalarUnit::run_slabs(Strand& strand, const FieldView& in, const FieldView& out, const Box& region,
                           int steps) const {
  if (region.empty() || steps < 1) return;
  const int slow = axes_[plane_axis];
  const std::int64_t plane_points =
      std::max<std::int64_t>(reach(region, steps).points() / reach(region, steps).extent()[slow], 1);
  const std::int64_t planes = planes_of_slab(plane_points, 2 * steps * radius_[slow]);
  const int most = max_per_kernel(region, steps);
  const std::int64_t slabs = most == steps ? 1 : ceil_div(region.extent()[slow], planes);
  for (std::int64_t i = 0; i < slabs; ++i) {
    Box slab = region;
    slab.begin[slow] = region.begin[slow] + region.extent()[slow] * i / slabs;
    slab.end[slow] = region.begin[slow] + region.extent()[slow] * (i + 1) / slabs;
    run(strand, in, out, slab, steps, most);
  }
}

/// Returns how many of `steps` steps one kernel takes at most.
int ScalarUnit::max_per_kernel(const Box& region, int steps) const {
  const bool one = stencil_.two_levels || small_grid_tile(region, steps, true) ||
                   march_kernels_of({precision_, true, true}, steps);
  return one ? steps : preferred_steps();
}

/// Runs several kernels. The first one covers the largest box; results between kernels are in compute
/// precision.
void ScalarUnit::run(Strand& strand, FieldView in, const FieldView& out, const Box& region, int steps,
                     int max_per_kernel) const {
  const int kernels = static_cast<int>(ceil_div(steps, max_per_kernel));
  int done = 0;
  for (int k = 0; k < kernels; ++k) {
    const int depth = steps * (k + 1) / kernels - done;
    done += depth;
    const Box box = reach(region, steps - done);
    const FieldView to =
        done == steps ? out : scratch(in, box, strand.scratch[static_cast<std::size_t>(k % 2)]);
    run_kernel(strand, in, to, box, depth);
    in = to;
  }
}

void ScalarUnit::run_kernel(Strand& strand, const FieldView& in, const FieldView& out, const Box& region,
                            int steps) const {
  const Formats formats{precision_, in.stored, out.stored};
  if (stencil_.two_levels)
    return this->launch_march(*march_kernels_of(formats, steps), in, out, region, strand.stream);
  if (const auto& tile = small_grid_tile(region, steps, true))
    return this->launch_small_grid_steps(*tile, in, out, region, steps, strand.stream);
  MarchKernels* march = march_kernels_of(formats, steps);
  if (!march) return advance_without_march(strand, in, out, region, steps);
  // Where the march does not reflect planes at neumann faces, single steps advance the planes beside these
  // faces at the same time, in other strands.
  Box core = region;
  if (!stencil_.mirrors_planes()) {
    const int slow = axes_[plane_axis];
    const std::int64_t n = domain_.shape[slow], width = steps * radius_[slow];
    if (domain_.faces[slow][low].kind == BoundaryKind::neumann)
      core.begin[slow] = std::max(core.begin[slow], width);
    if (domain_.faces[slow][high].kind == BoundaryKind::neumann)
      core.end[slow] = std::min(core.end[slow], n - width);
    if (core.empty()) core = {};
  }
  if (core == region) return this->launch_march(*march, in, out, core, strand.stream);
  std::vector<Box> parts;
  if (!core.empty()) parts.push_back(core);
  for_each_slab(region, core, [&](const Box& beside) { parts.push_back(beside); });
  in_strands(strand, parts.size(), [&](Strand& on, std::size_t i) {
    if (parts[i] == core)
      launch_march(*march, in, out, core, on.stream);
    else
      advance_without_march(on, in, out, parts[i], steps);
  });
}

/// Advances a region without a march: by one small-grid kernel (steps.cuh) if it takes the region, otherwise
/// step by step.
void ScalarUnit::advance_without_march(Strand& strand, FieldView in, const FieldView& out, const Box& region,
                                       int steps) const {
  if (steps > 1)
    if (const auto& tile = small_grid_tile(region, steps, false))
      return this->launch_small_grid_steps(*tile, in, out, region, steps, strand.stream);
  for (int done = 1; done <= steps; ++done) {
    const Box box = reach(region, steps - done);
    const FieldView to =
        done == steps ? out : scratch(in, box, strand.scratch[static_cast<std::size_t>(2 + done % 2)]);
    launch_single_step(in, to, box, strand.stream);
    in = to;
  }
}

/// Returns scratch memory in a buffer, for results on `box` in compute precision.
ScalarUnit::FieldView ScalarUnit::scratch(const FieldView& in, const Box& box, DeviceBuffer& buffer) const {
  View view{};
  const bool stored = precision_ == Precision::fp64 || precision_ == Precision::fp32;
  if (!in.view.data) return {view, stored, true};
  for (int k = 0; k < axis_count; ++k) {
    view.begin[k] = box.begin[axes_[k]];
    view.end[k] = box.end[axes_[k]];
  }
  view.begin[column_axis] =
      aligned_column_ + round_down(view.begin[column_axis] - aligned_column_, column_granule);
  view.end[column_axis] = aligned_column_ + round_up(view.end[column_axis] - aligned_column_, column_granule);
  view.stride[column_axis] = 1;
  view.stride[row_axis] =
      row_pitch(view.end[column_axis] - view.begin[column_axis], Formats{precision_}.compute_bytes());
  view.stride[plane_axis] = view.stride[row_axis] * (view.end[row_axis] - view.begin[row_axis]);
  const auto bytes =
      static_cast<std::size_t>(view.stride[plane_axis] * (view.end[plane_axis] - view.begin[plane_axis]) *
                               Formats{precision_}.compute_bytes());
  if (buffer.bytes() < bytes) {
    check_cuda(cudaDeviceSynchronize());  // running kernels may still use the old buffer
    buffer = DeviceBuffer();
    buffer = DeviceBuffer(bytes);
  }
  view.data = buffer.data();
  return {view, stored, true};
}

/// Returns the box whose values determine `region` `steps` steps later.
Box ScalarUnit::reach(const Box& region, int steps) const {
  Index3 width = steps * radius_;
  for (int k = 0; k < axis_count; ++k)
    if (stencil_.wraps[k]) width[axes_[k]] = 0;
  return domain_.clip_to_walls(grow(region, width));
}

}  // namespace spsolve::cuda
