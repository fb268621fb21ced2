// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/cuda/launch/formats.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/cuda/scalar/kernel_stencil.hpp"
#include "kernels/cuda/scalar/march_tile.hpp"
#include "kernels/cuda/scalar/single_step_tile.hpp"
#include "kernels/cuda/scalar/small_grid_tile.hpp"
#include "kernels/unit.hpp"

namespace spsolve::cuda {

/// Advances a block on CUDA cores by true single steps. Several steps run in one kernel where registers allow
/// (march.cuh) and on small 2D grids (steps.cuh). Otherwise each step is a kernel: box_step.cuh for boxes of
/// many taps, star_step.cuh for stars of a large radius, step.cuh for the rest.
///
/// Every point is a chain of fused multiply-adds that begins with the source (or zero) and follows the order
/// of the taps, in the kernels of any depth and tile. Therefore fp64, fp32 and tf32 results have the bits of
/// the CPU unit, whatever the region and the number of fused steps. 16-bit formats are rounded once per
/// advance().
class ScalarUnit : public Unit {
 public:
  /// Describes the values one step before in an equation with two time levels.
  struct TwoLevels {
    double weight;
  };

  /// Makes the unit for the current device. Work is enqueued on `stream`, which must outlive the unit.
  ///
  /// `source` (null: none) must outlive the unit too. It is device memory in compute precision, valid on
  /// every advanced region grown by (steps - 1) * radius.
  ///
  /// `wraps` marks grid axes (a subset of cuda::wrapped_axes()) that every region spans completely.
  /// Fields and source have no halo there; kernels wrap indices at the ends.
  ///
  /// The source is multiplied by `source_factor`.
  ScalarUnit(const Domain& domain, const Stencil& stencil, Precision precision, const Field* source,
             cudaStream_t stream, const std::array<bool, 3>& wraps = {}, double source_factor = 1);

  /// Makes a unit of u(n + 1) = stencil(u(n)) + weight * u(n - 1) for as many steps as two_level_tile() has a
  /// tile for. Its launches read u(n) and u(n - 1), and write the last two levels. The results have the bits
  /// of single steps whose sums start with the value one step before.
  ScalarUnit(const Domain& domain, const Stencil& stencil, Precision precision, const TwoLevels& two_levels,
             cudaStream_t stream);

  /// Does nothing: the kernels make the ghost points beside walls from points of the grid.
  void fill_ghosts(const State&, const Box&) const override {}

  void prepare(const ConstState& in, const Box& region, int steps) const override;

  /// Advances `region` of `in` by `steps` steps into `out`; both fields are device memory. Returns when the
  /// kernels are enqueued; the first call with a number of steps waits until they are compiled.
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

  /// Advances up to four regions at a time, each on a stream of its own.
  void advance_all(const ConstState& in, const State& out, std::span<const Box> regions,
                   int steps) const override;

  /// Returns the number of steps per advance() that is fastest for large regions.
  int preferred_steps() const;

 private:
  static constexpr std::int64_t column_granule = 16;  // columns: 32 bytes in the smallest format

  /// Holds the kernels of march.cuh for one pair of formats and one depth.
  struct MarchKernels {
    Formats formats;
    MarchTile tile;
    // The kernels are numbered by whole_vectors and faces_between_lanes of the tile, and compiled at first
    // use.
    std::map<std::array<bool, 3>, Kernel> kernels{};
  };
  /// Refers to the memory that a kernel of an advance() reads or writes: a field, or scratch memory between
  /// two kernels.
  struct FieldView {
    View view;
    bool stored;  // in storage precision, else in compute precision
    bool is_scratch = false;
    const Field* previous = nullptr;  // two time levels: values one step before
  };

  struct SideStrand;
  /// Holds a stream with what its kernels need beside those of other strands.
  struct Strand {
    explicit Strand(cudaStream_t on) : stream(on) {}

    cudaStream_t stream;
    // These are two buffers for results between the kernels of advance(), and two for those between the steps
    // of advance_without_march().
    std::array<DeviceBuffer, 4> scratch;
    std::vector<std::unique_ptr<SideStrand>> sides;  // made when in_strands() needs them
    Event begun;                                     // where the sides begin
  };
  /// Holds a strand whose stream runs beside that of another strand.
  struct SideStrand {
    Stream stream{Stream::Priority::high};
    Strand strand{stream};
    Event ended;
  };

  /// Runs work(strand, i) for every i < count, side by side in `strand` and up to most_strands - 1 others.
  /// What is enqueued in `strand` afterwards waits for all of it.
  template <class Work>
  static void in_strands(Strand& strand, std::size_t count, Work&& work);
  void advance_on(Strand& strand, const ConstState& in, const State& out, const Box& region, int steps) const;
  void run_slabs(Strand& strand, const FieldView& in, const FieldView& out, const Box& region,
                 int steps) const;
  int max_per_kernel(const Box& region, int steps) const;
  void run(Strand& strand, FieldView in, const FieldView& out, const Box& region, int steps,
           int max_per_kernel) const;
  void run_kernel(Strand& strand, const FieldView& in, const FieldView& out, const Box& region,
                  int steps) const;
  void advance_without_march(Strand& strand, FieldView in, const FieldView& out, const Box& region,
                             int steps) const;
  void launch_march(MarchKernels& march, const FieldView& in, const FieldView& out, const Box& wanted,
                    cudaStream_t stream) const;
  void launch_single_step(const FieldView& in, const FieldView& out, const Box& region,
                          cudaStream_t stream) const;
  template <class AnyTile>
  void launch_single_step_tiles(const AnyTile& tile, ScalarArguments& a, const Formats& formats,
                                cudaStream_t stream) const;
  /// Returns the cached choice of a single-step tile, or nothing if step.cuh takes the region.
  const std::optional<SingleStepTile>& single_step_tile(const Formats& formats, const Region& region) const;
  void launch_small_grid_steps(const SmallGridTile& tile, const FieldView& in, const FieldView& out,
                               const Box& region, int steps, cudaStream_t stream) const;
  /// Returns the cached tile of steps.cuh for a region. If `faster_than_march`, returns it only where it
  /// beats a march.
  const std::optional<SmallGridTile>& small_grid_tile(const Box& region, int steps,
                                                      bool faster_than_march) const;

  FieldView scratch(const FieldView& in, const Box& box, DeviceBuffer& buffer) const;
  ScalarArguments arguments(const FieldView& in, const FieldView& out, const Box& region) const;
  Box reach(const Box& region, int steps) const;
  MarchKernels* march_kernels_of(const Formats& formats, int depth) const;
  const Kernel& kernel_of(MarchKernels& march, const MarchTile& tile) const;
  const Kernel& point_step_kernel(const Formats& formats) const;
  template <class AnyTile>
  const Kernel& single_step_kernel(const Formats& formats, const AnyTile& tile) const;
  const Kernel& small_grid_kernel(const Formats& formats, int stride) const;

  Domain domain_;
  Index3 radius_;
  Precision precision_;
  const Field* source_;
  DeviceInfo device_;
  std::array<int, 3> axes_;  // grid axis of each kernel axis
  KernelStencil stencil_;
  std::array<std::array<double, 2>, 3> ghost_{};
  KernelCompiler compiler_;
  int preferred_ = 0;
  mutable Strand strand_;

  // These caches are filled at first use; they do not change the results of advance().
  mutable std::map<std::tuple<Formats, int>, std::optional<MarchKernels>> march_kernels_;
  mutable std::map<Formats, Kernel> point_step_kernels_;
  mutable std::map<std::tuple<Formats, SingleStepTile>, Kernel> single_step_kernels_;
  mutable std::map<std::tuple<Formats, std::array<long long, 3>, std::array<long long, 3>>, SingleStep>
      single_steps_;                                 // by formats and region
  mutable std::map<Formats, Code> small_grid_code_;  // machine code of all strides
  mutable std::map<std::tuple<Formats, int>, Kernel> small_grid_kernels_;
  mutable std::map<std::tuple<Index3, Index3, int, bool>, std::optional<SmallGridTile>> small_grid_tiles_;
  mutable std::int64_t aligned_column_ = 0;  // a column at a multiple of 64 bytes in all fields
};

}  // namespace spsolve::cuda
