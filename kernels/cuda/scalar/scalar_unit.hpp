// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>

#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/single_tile.hpp"
#include "kernels/cuda/scalar/step_tile.hpp"
#include "kernels/unit.hpp"

namespace spsolve::cuda {

/// The scalar unit on CUDA cores: true single steps, several of them in one kernel where registers allow
/// (march.cuh) and on small grids in 2D (steps.cuh), one at a time otherwise (box_step.cuh for boxes of many
/// taps, star_step.cuh for stars of a large radius, step.cuh). Every point is a chain of fused multiply-adds
/// from the source (or zero) in the order of the taps, in the kernels of any depth and tile: fp64, fp32 and
/// tf32 results have the bits of the CPU unit, whatever the region and however many steps are fused; 16-bit
/// formats are rounded once per advance().
class ScalarUnit : public Unit {
 public:
  /// For the current device. Work is enqueued on `stream`, which must outlive the unit; so must `source`
  /// (null: none), device memory in compute precision, valid on every region advanced grown by (steps - 1) *
  /// radius. Of axes of the grid in `wraps` (some of cuda::wrapped_axes()) every region has, fields and
  /// the source have no halo, and what lies beyond their ends is found at the others.
  ScalarUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source,
             cudaStream_t stream, const std::array<bool, 3>& wraps = {});

  /// Nothing to do: ghosts beside walls are made in the kernels, from the points of the grid.
  void fill_ghosts(const State&, const Box&) const override {}

  void prepare(const ConstState& in, const Box& region, int steps) const override;

  /// Fields of device memory. Returns when the kernels are enqueued; the first call with a number of steps
  /// waits until they are compiled.
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

  /// How many steps per advance() are fastest for large regions.
  int preferred_steps() const;

 private:
  static constexpr std::int64_t column_granule = 16;  // columns: 32 bytes of the smallest format

  struct March {
    Formats formats;
    Tile tile;
    std::map<std::array<bool, 3>, Kernel> kernels{};  // once they are needed: see kernel_of()
  };
  /// Device memory between two kernels of one advance(), and the box it holds.
  struct Operand {
    View view;
    bool stored;
    bool is_scratch = false;
  };

  void run_slabs(const Operand& in, const Operand& out, const Box& region, int steps) const;
  int most_per_kernel(const Box& region, int steps) const;
  void run(Operand in, const Operand& out, const Box& region, int steps, int most_per_kernel) const;
  void run_kernel(const Operand& in, const Operand& out, const Box& region, int steps) const;
  void step_by_step(Operand in, const Operand& out, const Box& region, int steps, cudaStream_t stream,
                    std::size_t which) const;
  void march(March& march, const Operand& in, const Operand& out, const Box& wanted,
             cudaStream_t stream) const;
  void step(const Operand& in, const Operand& out, const Box& region, cudaStream_t stream) const;
  template <class AnyTile>
  void step_by_tiles(const AnyTile& tile, Arguments& a, const Formats& formats, cudaStream_t stream) const;
  /// None where one thread takes a point.
  const std::optional<SingleTile>& single_tile(const Formats& formats, const Region& region) const;
  void steps(const StepTile& tile, const Operand& in, const Operand& out, const Box& region, int steps,
             cudaStream_t stream) const;
  /// Of steps.cuh, if it takes the region; `faster_than_march`: and if it should.
  const std::optional<StepTile>& step_tile(const Box& region, int steps, bool faster_than_march) const;

  Operand scratch(const Operand& in, const Box& box, std::size_t which) const;
  Arguments arguments(const Operand& in, const Operand& out, const Box& region) const;
  Box reach(const Box& region, int steps) const;
  March* march_of(const Formats& formats, int depth) const;
  const Kernel& kernel_of(March& march, const Tile& tile) const;
  const Kernel& step_kernel(const Formats& formats) const;
  template <class AnyTile>
  const Kernel& tile_kernel(const Formats& formats, const AnyTile& tile) const;
  const Kernel& steps_kernel(const Formats& formats, int stride) const;

  Domain domain_;
  Index3 radius_;
  Precision precision_;
  const Field* source_;
  cudaStream_t stream_;
  DeviceInfo device_;
  std::array<int, 3> axes_;  // grid axis of each kernel axis
  KernelStencil stencil_;
  std::array<std::array<double, 2>, 3> ghost_{};
  KernelCompiler compiler_;
  int preferred_ = 0;
  std::array<Stream, 2> band_streams_;  // beside stream_, between these events
  Event forked_;
  std::array<Event, 2> joined_;

  // Made when first needed; advance() is const in what it computes.
  mutable std::map<std::tuple<Formats, int>, std::optional<March>> marches_;
  mutable std::map<Formats, Kernel> step_kernels_;
  mutable std::map<std::tuple<Formats, SingleTile>, Kernel> tile_kernels_;
  mutable std::map<std::tuple<Formats, std::array<long long, 3>, std::array<long long, 3>>, SingleStep>
      single_steps_;                            // of regions
  mutable std::map<Formats, Code> steps_code_;  // kernels of all strides
  mutable std::map<std::tuple<Formats, int>, Kernel> steps_kernels_;
  mutable std::map<std::tuple<Index3, Index3, int, bool>, std::optional<StepTile>> step_tiles_;
  // Two for the kernels of advance(), two for the bands of each stream.
  mutable std::array<DeviceBuffer, 6> scratch_;
  mutable std::int64_t aligned_column_ = 0;  // a column that starts at a multiple of 64 bytes in all fields
};

}  // namespace spsolve::cuda
