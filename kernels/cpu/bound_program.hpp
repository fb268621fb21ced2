// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <vector>

#include "kernels/cpu/aligned_array.hpp"
#include "kernels/cpu/program_queries.hpp"
#include "kernels/cpu/run_blocks.hpp"
#include "kernels/cpu/system_arrays.hpp"
#include "kernels/operator/apply.hpp"
#include "kernels/rounding.hpp"

namespace spsolve {

// These instances take long to compile; run_blocks.cpp has them.
extern template void run_blocks<std::experimental::native_simd<double>, double>(const BoundBlocks<double>&,
                                                                                std::int64_t, std::int64_t);
extern template void run_blocks<std::experimental::native_simd<float>, float>(const BoundBlocks<float>&,
                                                                              std::int64_t, std::int64_t);
extern template void run_blocks<std::experimental::native_simd<float>, Bfloat16>(const BoundBlocks<float>&,
                                                                                 std::int64_t, std::int64_t);
extern template void run_blocks<std::experimental::native_simd<float>, Half>(const BoundBlocks<float>&,
                                                                             std::int64_t, std::int64_t);

/// Computes an operation point by point, for BoundBlocks::call.
template <class T>
void call_operation(Operation operation, const T* const* operands, int count, int points, T* out) {
  std::array<T, max_operands> values;
  const std::span<const T> all(values.data(), static_cast<std::size_t>(count));
  for (int i = 0; i < points; ++i) {
    for (int k = 0; k < count; ++k) values[k] = operands[k][i];
    out[i] = apply<T>(operation, all);
  }
}

/// Runs a StepProgram with the memory of one thread, bound to one row after the other.
template <class Storage>
class BoundProgram {
  using T = Compute<Storage>;

 public:
  /// `longest` is the length of the longest row, and `reach` the number of ghost points that are filled
  /// beside x walls. `bypasses_caches` allows stores that bypass them. If `fetches` is false, nothing that is
  /// read is fetched in advance.
  BoundProgram(const StepProgram& program, const SystemArrays<Storage>& arrays, std::int64_t longest,
               std::int64_t reach, bool bypasses_caches, bool fetches = true)
      : arrays_(arrays),
        slots_(program.slots * block_points),
        reach_(reach),
        joins_planes_(pays_in_planes(program)) {
    if (!program.rows.empty()) {
      // Rows of intermediate values stay in the first-level cache.
      const auto rows = static_cast<std::int64_t>(program.rows.size() * sizeof(T));
      longest_part_ =
          std::min(longest, std::max<std::int64_t>(round_up<std::int64_t>(16384 / rows, 64), 256));
    }
    for (const Range& columns : program.rows) {
      leads_.push_back(round_up<std::int64_t>(std::max<std::int64_t>(-columns.begin, 0), 64));
      rows_.emplace_back(leads_.back() + round_up<std::int64_t>(longest_part_, 64) +
                         std::max<std::int64_t>(columns.end, 0) + 64);
    }
    for (const ProgramStage& stage : program.stages) add(stage, bypasses_caches, fetches);
  }

  /// Returns the number of planes whose rows are computed together where joins_planes() allows it and this is
  /// faster.
  int planes_to_join() const { return joins_planes_ ? max_rows : 1; }

  /// Returns true if run() may compute the row {z, y} of max_rows planes from z on together, and this is
  /// faster.
  bool joins_planes(std::int64_t z, std::int64_t y, const Range& x) const {
    return joins_planes_ && moves_ && (x.end - x.begin) * sizeof(T) >= slot_row_bytes && is_inside(z, y) &&
           is_inside(z + max_rows - 1, y);
  }

  /// Computes the points [x.begin, x.end) of the row {z, y} of each of `planes` planes from z on.
  void run(std::int64_t z, std::int64_t y, const Range& x, int planes = 1) {
    planes_ = planes;
    if (moves_ && is_bound_ && z == z_ && y == y_ + 1 && is_inside(z, y - 1) && is_inside(z, y))
      for (BoundStage& stage : stages_) stage.move();
    else
      for (BoundStage& stage : stages_) bind(stage, z, y);
    is_bound_ = true, z_ = z, y_ = y;
    find_past_caches(x);
    fetch_ends();
    const std::int64_t points = x.end - x.begin;
    const std::int64_t parts = longest_part_ > 0 ? ceil_div(points, longest_part_) : 1;
    const auto begin_of = [&](std::int64_t part) {
      return part == parts ? x.end : x.begin + points * part / parts / line_points * line_points;
    };
    for (std::int64_t part = 0; part < parts; ++part) run_part({begin_of(part), begin_of(part + 1)});
  }

 private:
  static constexpr std::int64_t block_points = row_block_bytes / static_cast<std::int64_t>(sizeof(T)),
                                line_points = cache_line / static_cast<std::int64_t>(sizeof(T));

  struct BoundStage {
    const ProgramStage* program;
    std::vector<BlockInstruction> instructions;
    std::vector<void*> at;
    std::vector<std::int64_t> mask, plane_pitch, pitch;  // as in BoundBlocks
    std::vector<T> weights;
    std::vector<int> arrays, rows;  // operands in arrays, and in rows of intermediate values
    std::vector<int> bypassing;     // outputs that bypass the caches

    void move() {
      for (const int k : arrays) at[k] = static_cast<std::byte*>(at[k]) + pitch[k];
    }
  };

  void add(const ProgramStage& program, bool bypasses_caches, bool fetches) {
    BoundStage stage{&program, program.instructions, {}, {}, {}, {}, {}, {}, {}, {}};
    if (!fetches) std::erase_if(stage.instructions, is_fetch);
    for (BlockInstruction& instruction : stage.instructions) {
      instruction.bypasses_caches =
          instruction.bypasses_caches && bypasses_caches && std::is_same_v<T, Storage>;
      if (instruction.bypasses_caches) stage.bypassing.push_back(instruction.first);
    }
    for (std::size_t k = 0; k < program.operands.size(); ++k) {
      const ProgramOperand& operand = program.operands[k];
      stage.at.push_back(nullptr);
      stage.mask.push_back(-1);
      stage.plane_pitch.push_back(operand.kind == OperandKind::slot ? slot_row_bytes : 0);
      stage.pitch.push_back(0);
      stage.weights.push_back(static_cast<T>(operand.weight));
      switch (operand.kind) {
        case OperandKind::number:
        case OperandKind::scalar:
          stage.at[k] = constant(operand.kind == OperandKind::number ? static_cast<T>(operand.number)
                                                                     : arrays_.scalar(operand.index));
          stage.mask[k] = 0;
          break;
        case OperandKind::slot:
          stage.at[k] = slots_.begin() + operand.index * block_points;
          stage.mask[k] = 0;
          break;
        case OperandKind::row:
          stage.rows.push_back(static_cast<int>(k));
          break;
        default: {
          stage.arrays.push_back(static_cast<int>(k));
          stage.pitch[k] = arrays_.array(operand).pitch();
          stage.plane_pitch[k] = arrays_.array(operand).plane_pitch();
          moves_ = moves_ && stage.pitch[k] != 0;
          if (operand.kind != OperandKind::field) break;
          for (const int axis : {z_axis, y_axis}) {
            lowest_[axis] = std::min(lowest_[axis], operand.offset[axis]);
            highest_[axis] = std::max(highest_[axis], operand.offset[axis]);
          }
        }
      }
    }
    stages_.push_back(std::move(stage));
  }

  template <class Value>
  void* constant_block(std::vector<AlignedArray<Value>>& blocks, Value value) {
    blocks.emplace_back(block_points);
    std::fill_n(blocks.back().begin(), block_points, value);
    return blocks.back().begin();
  }
  void* constant(T value) { return constant_block(constants_, value); }

  /// Returns true if no operand of the row {z, y} lies beyond a wall.
  bool is_inside(std::int64_t z, std::int64_t y) const {
    const Domain& domain = arrays_.domains().front();
    const auto inside = [&](int axis, std::int64_t i) {
      return domain.periodic(axis) || (i + lowest_[axis] >= 0 && i + highest_[axis] < domain.shape[axis]);
    };
    return inside(z_axis, z) && inside(y_axis, y);
  }

  void bind(BoundStage& stage, std::int64_t z, std::int64_t y) {
    for (const int k : stage.arrays) {
      const ProgramOperand& operand = stage.program->operands[k];
      const ArrayRows& array = arrays_.array(operand);
      const std::int64_t at_z = z + operand.offset[z_axis], at_y = y + operand.offset[y_axis];
      if (operand.kind == OperandKind::coefficient) {
        stage.at[k] = reinterpret_cast<T*>(array.row(at_z, at_y)) + operand.offset[x_axis];
        continue;
      }
      stage.mask[k] = -1;
      if (operand.kind == OperandKind::output) {
        stage.at[k] = array.row(at_z, at_y);
        continue;
      }
      const auto [row, value] = arrays_.field_row(operand, z, y);
      if (value) {
        stage.at[k] = ghost_block(value);
        stage.mask[k] = 0;
      } else {
        stage.at[k] =
            reinterpret_cast<Storage*>(array.row(row[z_axis], row[y_axis])) + operand.offset[x_axis];
      }
    }
  }

  /// Returns a block that holds a ghost value.
  void* ghost_block(const Storage* value) {
    for (const auto& [of, block] : ghosts_)
      if (of == value) return block;
    ghosts_.emplace_back(value, constant_block(stored_constants_, *value));
    return ghosts_.back().second;
  }

  const Domain& domain_of(const ProgramOperand& operand) const {
    return arrays_.domains()[static_cast<std::size_t>(operand.index)];
  }

  /// Finds the points of the bound rows that are stored past the caches. They are the same in all rows, which
  /// lie equally far from cache lines.
  void find_past_caches(const Range& x) {
    if (x.begin == known_.begin && x.end == known_.end) return;
    known_ = past_ = x;
    const BoundStage& stage = stages_.back();
    for (const int k : stage.bypassing) {
      const Range own = points_past_caches(static_cast<Storage*>(stage.at[k]),
                                           domain_of(stage.program->operands[k]), reach_, x);
      past_ = {std::max(past_.begin, own.begin), std::min(past_.end, own.end)};
    }
  }

  /// Starts to load the lines of the next rows along y that are not stored past the caches.
  void fetch_ends() const {
    const BoundStage& stage = stages_.back();
    for (const int k : stage.bypassing)
      for (int p = 0; p < planes_; ++p) {
        const std::byte* const row =
            static_cast<std::byte*>(stage.at[k]) + (p * stage.plane_pitch[k] + stage.pitch[k]);
        fetch_row_ends(reinterpret_cast<const Storage*>(row), domain_of(stage.program->operands[k]), reach_,
                       known_, past_);
      }
  }

  void run_part(const Range& x) {
    for (BoundStage& stage : stages_) {
      for (const int k : stage.rows) {
        const ProgramOperand& operand = stage.program->operands[k];
        stage.at[k] =
            rows_[operand.index].begin() + (leads_[operand.index] - x.begin + operand.offset[x_axis]);
      }
      const BoundBlocks<T> blocks{stage.instructions.data(),
                                  static_cast<int>(stage.instructions.size()),
                                  planes_,
                                  stage.at.data(),
                                  stage.mask.data(),
                                  stage.plane_pitch.data(),
                                  stage.pitch.data(),
                                  stage.weights.data(),
                                  past_,
                                  call_operation<T>};
      const Range& columns = stage.program->columns;
      const std::int64_t begin = x.begin + columns.begin, end = x.end - 1 + columns.end;
#ifdef SPSOLVE_AVX512
      if constexpr (std::is_same_v<T, Storage>)
        if (has_avx512()) {
          run_blocks_avx512(blocks, begin, end);
          continue;
        }
#endif
      run_blocks<std::experimental::native_simd<T>, Storage>(blocks, begin, end);
    }
  }

  const SystemArrays<Storage>& arrays_;
  AlignedArray<T> slots_;
  std::int64_t reach_;      // along x
  Range known_{}, past_{};  // points of a row that are computed, and those of them that bypass the caches
  bool joins_planes_;
  std::vector<AlignedArray<T>> rows_, constants_;
  std::vector<std::int64_t> leads_;  // how far each row starts before the part's begin
  std::vector<AlignedArray<Storage>> stored_constants_;
  std::vector<std::pair<const Storage*, void*>> ghosts_;
  std::vector<BoundStage> stages_;
  std::int64_t longest_part_ = 0;  // 0: rows are computed at once
  Index3 lowest_{}, highest_{};    // offsets of operands
  int planes_ = 1;                 // planes that are computed together
  bool moves_ = true;              // each row of an array lies at the same distance from the next along y
  bool is_bound_ = false;
  std::int64_t z_ = 0, y_ = 0;
};

}  // namespace spsolve
