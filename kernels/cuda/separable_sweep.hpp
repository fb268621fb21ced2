// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <memory>
#include <optional>

#include "kernels/cuda/device.hpp"
#include "kernels/cuda/program.hpp"
#include "kernels/cuda/separable_arguments.hpp"
#include "kernels/cuda/separable_tile.hpp"
#include "kernels/sweep.hpp"

namespace spsolve::cuda {

/// A sum of rank-one stencils on sparse tensor cores, as passes along x and y that are chained in registers
/// (separable.cuh), limited by memory at low ranks whatever the radius; with taps along z these are made in
/// every plane, and summed along z in fp32 in registers (separable_planes.cuh; at most 15 taps along z and
/// y).
///
/// fp16, bf16: operands as stored, weights rounded to the format, what one pass hands to the next rounded to
/// it too; sums in fp32. tf32: the same with fp32 storage and tf32 operands. fp32: data, weights and what
/// passes hand on are split into two tf32 terms (22 bits), with the range of fp32: error below 2^-21 sum |W|
/// max |u|. Sums of weights are kept (SeparableOperand).
///
/// 16 x 16 points share instructions, aligned in global coordinates, so results do not depend on regions or
/// on the decomposition. Where a row's multiples of 16 bytes are not those of the global grid (blocks that
/// begin at odd points along x) fields are copied to scratch memory that is so aligned.
class SeparableSweep : public Sweep {
 public:
  /// For the current device. Work is enqueued on `stream`, which must outlive the sweep. `tile` instead of
  /// the best known one is for measurements. Throws std::invalid_argument for what is_possible() rejects.
  SeparableSweep(const SeparableStencil& stencil, Precision precision, cudaStream_t stream,
                 std::filesystem::path kernel_cache = KernelCompiler::default_cache(),
                 std::optional<SeparableTile> tile = std::nullopt);

  /// Fields of device memory. Returns when the kernel is enqueued.
  void operator()(const Field& in, Field& out, const Box& region, const Field* source) const override;

  /// Whether there is a kernel for a stencil, on devices with these limits.
  static bool is_possible(const SeparableStencil& stencil, Precision precision, const BlockLimits& limits);

  const SeparableTile& tile() const { return shape_.tile; }

 private:
  void sweep(const View& in, const View& out, const View& source, const Region& region, bool aligned) const;
  void sweep_line(const View& in, const View& out, const View& source, const Region& region,
                  bool aligned) const;
  const Kernel& kernel(bool with_source) const;
  bool in_planes() const { return operand_.z_taps > 1; }
  View aligned_copy(const View& in, const Region& region) const;

  Precision precision_;
  int element_bytes_;
  cudaStream_t stream_;
  DeviceInfo device_;
  bool along_x_;  // only: lines are cut into rows
  SeparableOperand operand_;
  SeparableShape shape_;
  KernelCompiler compiler_;
  mutable std::array<std::unique_ptr<Kernel>, 2>
      kernels_;  // without and with a source, made when first needed
  int resident_blocks_;
  DeviceBuffer values_, metadata_;
  mutable DeviceBuffer scratch_;
};

}  // namespace spsolve::cuda
