// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <vector>

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

/// How a block of mma_sweep.cuh is cut: warps of so many blocks of eight tiles each, and stages of input.
struct MmaTile {
  int warps_x = 4, warps_y = 1;
  int blocks_x = 1, blocks_y = 1;  // of a warp
  int stages = 3;
  int chunks_per_stage = 1;
  int chunks_per_loop = 0;  // of the unrolled march: a multiple of chunks_per_stage and of the slices
  int group = 0;            // chunks of output that a block makes at once, at most 32; 0: the march rotates
  int blocks_per_multiprocessor = 1;  // what registers are limited to
};

/// Where a kernel keeps its weights.
enum class WeightPlace { registers, shared, memory };

/// What mma_sweep.cuh is compiled from, and the weights it loads, for one stencil. Made without a device.
class MmaProgram {
 public:
  static std::string kernel_name() { return "mma_sweep"; }

  /// `stencil` has the axes of `domain`, of which only the dimensions matter. Layouts: strided_swap and morph
  /// (fp64: input in its natural order, dense). `tile` instead of the best known one is for measurements.
  /// NoKernel for other layouts, devices without tensor cores, weights that are too small for the precision,
  /// and where the input of one warp does not fit a block.
  static MadeOr<MmaProgram> make(const Domain& domain, const Stencil& stencil, Precision precision,
                                 Layout layout, TensorCores cores, const BlockLimits& limits = {},
                                 const std::optional<MmaTile>& tile = std::nullopt);

  /// constants.cuh; `aligned`: column 0 of the grid lies at a multiple of 16 bytes of the rows of memory.
  std::string constants(bool aligned, bool with_source) const;
  /// [term][slice][block][step][16 bytes][lane], [block][step][lane].
  std::vector<std::uint32_t> weights() const;
  std::vector<std::uint32_t> metadata() const;

  /// A launch that writes `region`, but for where weights and maps are and how blocks share the chunks.
  MmaArguments arguments(const View& in, const View& out, const View& source, const Region& region) const;
  /// Along rows or columns.
  std::int64_t blocks(const MmaArguments& a, KernelAxis axis) const;
  /// Of the launch, as constants() has it.
  bool is_aligned(const MmaArguments& a) const;
  /// What the copy engine brings at once, in words of 8 bytes, of which a box may have most columns.
  struct CopiedBox {
    View words;
    int planes, rows, columns;
  };
  CopiedBox copied_box(const View& in) const;

  const SlicedOperand& operand() const { return operand_; }
  const MmaTile& tile() const { return tile_; }
  int threads(bool = false) const { return 32 * tile_.warps_x * tile_.warps_y; }
  int shared_bytes(bool = false) const;
  int stage_planes() const { return tile_.chunks_per_stage * static_cast<int>(operand_.tile[0]); }
  /// Tiles side by side that an instruction takes.
  int tiles_per_block() const { return precision_ == Precision::fp64 ? 16 : 8; }
  std::int64_t block_columns() const {
    return tile_.warps_x * tile_.blocks_x * tiles_per_block() * operand_.tile[2];
  }
  std::int64_t block_rows() const { return tile_.warps_y * tile_.blocks_y * operand_.tile[1]; }
  /// Instructions per 128 outputs, those of a smaller k included.
  int instructions() const;
  /// What a warp does with a chunk of input.
  struct Work {
    int instructions;  // executed: loops that are not unrolled pass over no step
    bool unrolled;
    double fma;  // multiply-adds of instructions(), zeros included
    int shared_bytes;
  };
  Work work() const;

 private:
  /// `exact` are the weights, `rounded` those that operands hold.
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
  /// Of terms, that make one of numbers.
  int products() const { return terms_.count * (terms_.count + 1) / 2; }
  int granule() const { return 16 / static_cast<int>(storage_bytes(precision_)); }  // elements in 16 bytes
  int slices() const { return static_cast<int>(operand_.slices.size()); }
  int steps() const { return static_cast<int>(step_registers_.size()); }
  int m_blocks() const;
  int slots() const { return terms_.count * slices() * m_blocks() * steps(); }
  /// Whether the copy engine brings rows one by one, not whole stages.
  bool row_by_row() const { return copies_ > 1 || box_rows_ > most_box_extent; }
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
  OperandTerms terms_;                       // of numbers in instructions
  SlicedOperand operand_;                    // rows in the order of the hardware
  std::vector<SlicedOperand> weight_terms_;  // what fragments are made of
  double scale_ = 1.0;
  MmaTile tile_;
  WeightPlace place_ = WeightPlace::shared;
  Index3 window_, reach_end_;
  int box_columns_ = 0, box_rows_ = 0;   // of input of a stage
  int copies_ = 1;                       // that bring a row, where these come one by one
  int registers_ = 0;                    // of B, per chunk
  std::vector<int> step_registers_;      // how many of them each step takes
  std::vector<std::vector<bool>> used_;  // [slice][step]: whether there are weights
};

}  // namespace spsolve::cuda
