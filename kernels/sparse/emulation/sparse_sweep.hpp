// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <vector>

#include "kernels/field.hpp"
#include "kernels/magnitude.hpp"
#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "kernels/sparse/operand.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/split.hpp"
#include "kernels/sweep.hpp"

namespace spsolve {

/// Applies an operand on emulated sparse tensor cores. The operand format follows from the precision of the
/// field. fp16, bf16 and tf32 are used directly, with weights rounded to the format (fp16 weights are scaled
/// by a power of two, so that small ones do not underflow). fp32 is split into three bf16 terms (six
/// products; bf16 has the range of fp32, so no data need scaling), or into two of fp16 (three products),
/// scaled by data_scale().
///
/// Accumulation is in fp32; products of the first terms are summed separately from all others. Tiles start at
/// multiples of the operand's tile in global coordinates. Every point sums the same products in the same
/// order whatever the region, so results do not depend on the decomposition.
class SparseSweep : public Sweep {
 public:
  /// `operand` must be one_of_two or two_of_four, and for terms of tf32 one_of_two. Throws
  /// std::invalid_argument for other operands and for fp64.
  SparseSweep(const Operand& operand, Precision precision)
      : SparseSweep(operand, precision, operand_terms(precision)) {}
  /// Uses other terms than those of the precision.
  SparseSweep(const Operand& operand, Precision precision, const OperandTerms& terms,
              double source_factor = 1)
      : SparseSweep(split_operand(operand, terms.element, terms.count), precision, terms.element,
                    source_factor) {}
  /// Uses weights that are already split into terms of a format. The source is multiplied by
  /// `source_factor`.
  SparseSweep(const SplitOperand& split, Precision precision, Precision element, double source_factor = 1);

  bool scales_data() const override {
    return precision_ == Precision::fp32 && mma_.element == Precision::fp16;
  }
  /// Applies the sweep as Sweep describes. `in` need be finite only on region grown by the reach of the
  /// operand's weights. `out` may also have the precision of the sums, fp32, and may be `source` itself, to
  /// add up several sweeps.
  void operator()(const Field& in, Field& out, const Box& region,
                  const Field* source = nullptr) const override;

 private:
  /// Holds one term of the weights, and the index of the data term that it multiplies.
  struct Product {
    PackedOperand weights;
    int term;
  };
  /// Describes one column block of B: the origins of up to eight tiles.
  struct TileGroup {
    std::array<Index3, mma_columns> origin{};
    int tiles = 0;
  };
  using BFragment = WarpRegisters<std::uint32_t, 4>;
  using DFragment = WarpRegisters<float, 4>;

  template <class Storage, class Out>
  void run(const Field& in, Field& out, const Box& region, const Field* source) const;
  TileGroup tile_group(const Box& tiles, std::int64_t first) const;
  /// Returns fragments of B, [term][step].
  template <class Storage>
  std::vector<std::vector<BFragment>> load(const Field& in, const Box& readable, const TileGroup& group,
                                           const DataScale& scale) const;
  DFragment multiply(const std::vector<std::vector<BFragment>>& b, int block) const;
  /// Returns the largest magnitude() of the values that it writes.
  template <class Out>
  int store(const DFragment& d, int block, Field& out, const Box& region, const Field* source,
            const TileGroup& group, const DataScale& scale) const;

  Precision precision_;
  Index3 tile_;
  std::vector<Index3> outputs_, inputs_;
  Box reach_;  // offsets of the inputs that an output uses
  MmaShape mma_;
  int terms_;
  std::vector<Product> products_;  // in order of addition, smallest first; the last one, of first terms, is
                                   // summed separately
  double weight_scale_, term_scale_, source_factor_;
};

}  // namespace spsolve
