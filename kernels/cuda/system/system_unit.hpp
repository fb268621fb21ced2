// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/cuda/points/device_points.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/system/system_program.hpp"
#include "kernels/cuda/system/tile_points.hpp"
#include "kernels/cuda/system/wall_filler.hpp"
#include "kernels/unit.hpp"

namespace spsolve::cuda {

/// Names the kernels that a SystemUnit may take. `points` and `marches` are for tests.
enum class SystemKernels { fastest, points, marches };

/// Describes the work of a SystemUnit besides plain single steps, and the kernels that it takes.
struct SystemUnitOptions {
  int fuse = 1;             // the number of steps that launches may take besides one
  bool has_points = false;  // launches of `fuse` steps work on points
  /// Fills the ghost points of fields that have faces of BoundaryKind::filled.
  std::shared_ptr<WallFiller> walls = {};
  /// Is called at every advance() whose kernels take values of the current step as arguments, so that the
  /// launch must not be replayed at another step.
  std::function<void()> on_scalars = {};
  SystemKernels kernels = SystemKernels::fastest;
  std::optional<SystemTile> tile = {};  // the shape of the tiles of all marches, instead of the fastest
};

/// Advances a system of equations on CUDA cores. march_steps.cuh takes several steps in one launch if the
/// unit is made for that. Single steps take one kernel per group of statements (SystemFacts::groups):
/// march_group.cuh, or point_group.cuh on boxes that are thin across the march, in 2D also on short ones, and
/// on grids of one axis. On grids of three axes one march takes the statements of all groups, if its tiles
/// fit, on all points at which no `.next` is read beyond a wall: fields that several groups read move once.
///
/// Every point has the bits of the CPU unit and of canonical_step(), except where functions such as exp of
/// fields are computed (OperationInfo::same_bits). Kernels make the ghost points beside walls from points of
/// the grid, or find them in memory beyond faces of BoundaryKind::filled.
class SystemUnit : public Unit {
 public:
  /// Makes the unit for the current device and starts to compile its kernels. Work is enqueued on `stream`,
  /// which must outlive the unit, as must `canonical` and `coefficients`: the derived coefficients in device
  /// memory, in compute precision, at all points at which launches read them. `canonical` repeats along
  /// periodic axes (repeating_form()).
  /// Computes in fp32 for tf32. Throws Error(invalid_input) for systems that kernels do not take, and where
  /// no kernel takes options.fuse steps (fused_tile()).
  SystemUnit(const Canonical& canonical, std::vector<Domain> fields, double dt, Precision precision,
             std::vector<const Field*> coefficients, cudaStream_t stream, SystemUnitOptions options = {});

  /// Fills ghost points beyond faces of BoundaryKind::filled. Call it before every advance(). The first call
  /// must be on a unit whose stream is that of the WallFiller, because it provides the values of this step to
  /// all units that share them.
  void fill_ghosts(const State& state, const Box& valid) const override;
  void set_points(const PointWork& points) override { points_ = &dynamic_cast<const DevicePoints&>(points); }
  bool works_on_points(int steps) const override { return fused_ && steps == fused_->tile.steps; }
  /// `in` holds the fields, then the previous values that equations read. `out` holds the fields and, where
  /// `steps` is not 1, the same previous values. `steps` must be 1 or what the unit was made for. A single
  /// step may also write points of `out` within halo_radius() of `region`.
  void advance(const ConstState& in, const State& out, const Box& region, int steps) const override;

 private:
  /// Holds a group of statements and its kernels.
  struct GroupKernels {
    SystemProgram program;
    std::optional<SystemTile> tile;
    std::optional<Kernel> points, march;
  };

  /// Holds the kernel of several steps.
  struct FusedKernel {
    SystemProgram program;
    FusedTile tile;
    Kernel march;
  };

  /// Holds a TilePointList in device memory, and the region of its launches.
  struct PointList {
    Region region;
    DeviceBuffer first_iteration, iterations, first, events, columns;
  };

  enum class Without { nothing, points };
  OrNoKernel<GroupKernels> group_of_statements(int first, int last, Precision precision,
                                               const std::optional<SystemTile>& given,
                                               const KernelCompiler& compiler,
                                               Without without = Without::nothing) const;
  /// Advances a region group by group.
  void advance_groups(const ConstState& in, const State& out, const Box& region,
                      const std::vector<double>& scalars) const;
  /// Returns the part of a region that one march of all groups takes; it is empty if there is none.
  Box united_region(const Box& region) const;
  void make_fused(int steps, Precision precision, const KernelCompiler& compiler,
                  const std::optional<SystemTile>& given, bool has_points);
  void advance_fused(const ConstState& in, const State& out, const Box& region) const;
  /// Sets the work on points of a launch of several steps from `step` on.
  void set_point_arguments(HostArguments& arguments, std::int64_t step) const;
  /// Sets the tensor maps by which the copy engine reads the inputs of a march.
  void set_maps(HostArguments& arguments, const GroupFields& fields, const SystemTile& tile) const;
  /// Sets points of inputs beyond walls to 0; `ghosts` has a box, or an empty one, of every input.
  void clear(const GroupFields& fields, const std::vector<Box>& ghosts) const;
  GroupFields fields_of(const SystemGroup& group, const ConstState& in, const State& out) const;
  void launch(const GroupKernels& group, const GroupFields& fields, const std::vector<Box>& boxes,
              const std::vector<double>& scalars) const;
  void set_pace(HostArguments& a, std::int64_t resident, int warm_up) const;
  /// Fills the ghost points of the fields that the statements of a group have computed, beside the computed
  /// points.
  void fill_between_groups(const SystemGroup& group, const State& out, const std::vector<Box>& boxes,
                           std::int64_t step) const;
  bool suits(const SystemTile& tile, const Region& region) const;

  const Canonical& canonical_;
  SystemFacts facts_;
  std::vector<Domain> fields_;
  double dt_;
  std::vector<const Field*> coefficients_;
  cudaStream_t stream_;
  std::function<void()> on_scalars_;
  std::shared_ptr<WallFiller> walls_;
  SystemKernels kernels_;
  BlockLimits limits_;
  DeviceBuffer arrivals_;  // counters of paced marches
  std::vector<GroupKernels> groups_;
  std::optional<GroupKernels> united_;  // all groups as one
  std::optional<FusedKernel> fused_;
  const DevicePoints* points_ = nullptr;
  mutable std::vector<PointList> point_lists_;  // by region, made when first needed
};

}  // namespace spsolve::cuda
