// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "kernels/cuda/launch/view.hpp"
#include "kernels/cuda/runtime/block_limits.hpp"
#include "kernels/cuda/tensor/mma_arguments.hpp"
#include "kernels/cuda/tensor/tensor_cores.hpp"
#include "kernels/domain.hpp"
#include "kernels/no_kernel.hpp"
#include "kernels/precision.hpp"
#include "kernels/sparse/sliced_operand.hpp"
#include "kernels/sparse/split.hpp"

namespace spsolve::cuda {

class ConstantsText;

/// Describes a block of mma_sweep.cuh: warps of blocks_x x blocks_y blocks of eight tiles each, and stages of
/// input.
struct MmaTile {
  int warps_x = 4, warps_y = 1;
  int blocks_x = 1, blocks_y = 1;  // blocks of tiles per warp
  int stages = 3;
  int chunks_per_stage = 1;
  int chunks_per_loop = 0;  // chunks of the unrolled loop: a multiple of chunks_per_stage and of the slices
  int group = 0;            // chunks of output that a block makes at once, at most 32; 0: the march rotates
  int blocks_per_multiprocessor = 1;  // bounds the registers per thread
};

/// Names the memory in which a kernel keeps its weights.
enum class WeightStorage { registers, shared, memory };

/// Holds the source of mma_sweep.cuh, and the weights it loads, for one stencil. A program is made without a
/// device.
class MmaProgram {
 public:
  static std::string kernel_name() { return "mma_sweep"; }

  /// `stencil` has the axes of `domain`, of which only the dimensions matter. Layouts: strided_swap and morph
  /// (fp64: input in its natural order, dense). `tile` replaces the best known tile, for measurements.
  /// Returns NoKernel for other layouts, for devices without tensor cores, for weights that are too small for
  /// the precision, and if the input of one warp does not fit a block.
  static OrNoKernel<MmaProgram> make(const Domain& domain, const Stencil& stencil, Precision precision,
                                     Layout layout, TensorCores cores, const BlockLimits& limits = {},
                                     const std::optional<MmaTile>& tile = std::nullopt);

  /// Returns the text of constants.cuh. `aligned`: column 0 of the grid lies at a multiple of 16 bytes of the
  /// rows of memory.
  std::string constants(bool aligned, bool with_source, double source_factor = 1) const;
  /// Return weights and metadata. Weights are ordered [term][slice][block][step][16 bytes][lane], metadata
  /// [block][step][lane].
  std::vector<std::uint32_t> weights() const;
  std::vector<std::uint32_t> metadata() const;

  /// Returns the arguments of a launch that writes `region`, except addresses of weights, tensor maps, and
  /// how blocks share the chunks.
  MmaArguments arguments(const View& in, const View& out, const View& source, const Region& region) const;
  /// Returns the number of blocks along rows or columns.
  std::int64_t blocks(const MmaArguments& a, KernelAxis axis) const;
  /// Returns whether a launch is `aligned` in the sense of constants().
  bool is_aligned(const MmaArguments& a) const;
  /// Returns the box of the input that is copied at once. It counts words of 8 bytes, with which a box covers
  /// the most columns.
  CopiedBox copied_box(const View& in) const;

  const SlicedOperand& operand() const { return operand_; }
  const MmaTile& tile() const { return tile_; }
  int threads(bool = false) const { return 32 * tile_.warps_x * tile_.warps_y; }
  int shared_bytes(bool = false) const;
  int stage_planes() const { return tile_.chunks_per_stage * static_cast<int>(operand_.tile[0]); }
  /// Returns how many tiles, side by side, an instruction multiplies.
  int tiles_per_block() const { return precision_ == Precision::fp64 ? 16 : 8; }
  std::int64_t block_columns() const {
    return tile_.warps_x * tile_.blocks_x * tiles_per_block() * operand_.tile[2];
  }
  std::int64_t block_rows() const { return tile_.warps_y * tile_.blocks_y * operand_.tile[1]; }
  /// Returns the number of instructions per 128 outputs. Instructions with a smaller k count as one, too.
  int instructions() const;
  /// Describes the work of a warp on a chunk of input.
  struct ChunkWork {
    int instructions;  // executed instructions; loops that are not unrolled skip no step
    bool unrolled;
    double fma;  // executed multiply-adds for one block of tiles, zeros included
    int shared_bytes;
  };
  ChunkWork work() const;

 private:
  /// `exact` holds the given weights, `rounded` the weights that operands hold.
  MmaProgram(const Domain& domain, const Stencil& exact, const Stencil& rounded, Precision precision,
             Layout layout, TensorCores cores, const std::optional<MmaTile>& tile);
  void put_formats(ConstantsText& text) const;
  void put_tile(ConstantsText& text) const;
  void put_steps(ConstantsText& text) const;
  void put_uses(ConstantsText& text) const;
  void put_places(ConstantsText& text) const;
  void split_weights(double grid);
  void cut_steps();
  MmaTile default_tile(int dimensions, bool grouped) const;
  void choose_tile(int dimensions, const std::optional<MmaTile>& tile);
  [[nodiscard]] bool fit(const BlockLimits& limits);
  int outputs_per_block() const;
  /// Returns how many products of terms make one product of numbers.
  int products() const { return terms_.count * (terms_.count + 1) / 2; }
  int granule() const { return 16 / static_cast<int>(storage_bytes(precision_)); }  // elements in 16 bytes
  int slices() const { return static_cast<int>(operand_.slices.size()); }
  int steps() const { return static_cast<int>(step_registers_.size()); }
  int m_blocks() const;
  int slots() const { return terms_.count * slices() * m_blocks() * steps(); }
  /// Returns true if the copy engine brings rows one by one instead of whole stages.
  bool row_by_row() const { return copies_ > 1 || box_rows_ > max_box_extent; }
  int weight_bytes() const;
  int resident_registers() const;
  int code_slots() const;
  int code_instructions() const;
  bool unrolled() const;
  std::vector<std::uint32_t> pack_step(int block, const Operand& slice, int step,
                                       std::vector<std::uint32_t>* metadata) const;
  bool has_weights(const WeightMatrix& matrix, int step) const;

  Precision precision_;
  TensorCores cores_;
  OperandTerms terms_;                       // terms of a number
  SlicedOperand operand_;                    // rows in the order of the hardware
  std::vector<SlicedOperand> weight_terms_;  // operands that fragments are made from
  double scale_ = 1.0;
  MmaTile tile_;
  WeightStorage weight_storage_ = WeightStorage::shared;
  Index3 window_, reach_end_;
  int box_columns_ = 0, box_rows_ = 0;   // the box of the input of a stage
  int copies_ = 1;                       // copies that bring a row, if rows come one by one
  int registers_ = 0;                    // registers of B per chunk
  std::vector<int> step_registers_;      // registers that each step takes
  std::vector<std::vector<bool>> used_;  // [slice][step]: true if there are weights
};

}  // namespace spsolve::cuda
