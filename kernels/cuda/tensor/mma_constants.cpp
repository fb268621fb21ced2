// SPDX-License-Identifier: Apache-2.0
// Writes constants.cuh for mma_sweep.cuh.
#include <algorithm>
#include <array>
#include <map>

#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/cuda/tensor/mma_program.hpp"

namespace spsolve::cuda {

std::string MmaProgram::constants(bool aligned, bool with_source, double source_factor) const {
  ConstantsText text({"kernels/cuda/ptx/precision.cuh", "kernels/cuda/ptx/sparse_mma.cuh"});
  text.flag("with_source", with_source);
  text.put("double", "source_factor", ConstantsText::number(source_factor));
  text.flag("aligned", aligned);
  put_formats(text);
  put_tile(text);
  put_steps(text);
  put_uses(text);
  put_places(text);
  return text.finished();
}

void MmaProgram::put_formats(ConstantsText& text) const {
  const bool is_wide = precision_ == Precision::fp64;
  text.type("Stored", stored_name(precision_));
  text.type("Compute", is_wide ? "double" : "float");
  text.element(terms_.element);
  text.flag("sparse", cores_ == TensorCores::sparse);
  text.integer("terms", terms_.count);
}

void MmaProgram::put_tile(ConstantsText& text) const {
  text.flag("unrolled", unrolled());
  text.flag("weights_in_registers", weight_storage_ == WeightStorage::registers);
  text.flag("weights_in_shared", weight_storage_ == WeightStorage::shared);
  text.flag("four_together", operand_.tile[x_axis] % 16 == 0);
  text.integer("warps_x", tile_.warps_x);
  text.integer("warps_y", tile_.warps_y);
  text.integer("blocks_x", tile_.blocks_x);
  text.integer("blocks_y", tile_.blocks_y);
  text.integer("blocks_per_multiprocessor", tile_.blocks_per_multiprocessor);
  text.integer("stages", tile_.stages);
  text.integer("chunks_per_stage", tile_.chunks_per_stage);
  text.integer("chunks_per_loop", tile_.chunks_per_loop);
  text.integer("group", tile_.group);
  text.integer("box_rows", box_rows_);
  text.integer("box_pitch", box_columns_);
  text.integer("copies_per_row", copies_);
  text.flag("row_by_row", row_by_row());
  text.integer("shared_bytes", shared_bytes());
  text.table("tile", "[3]", operand_.tile);
  text.table("window", "[3]", window_);
}

/// Writes the steps of a chunk, and the outputs that they make.
void MmaProgram::put_steps(ConstantsText& text) const {
  text.integer("slices", slices());
  text.integer("m_blocks", m_blocks());
  text.integer("steps", steps());
  text.integer("registers", registers_);
  text.table("step_registers", "[steps]", step_registers_);
  std::vector<int> first_register, together_from;
  for (int step = 0; step < steps(); ++step) first_register.push_back(step * step_registers_.front());
  for (int r = 0; r < registers_; ++r)
    together_from.push_back(terms_.count > 1 || precision_ == Precision::fp64
                                ? 1
                                : registers_per_load(operand_, terms_.element, r,
                                                     std::min(step_registers_.front(), registers_ - r)));
  text.table("first_register", "[steps]", first_register);
  text.table("together_from", "[registers]", together_from);
  std::vector<Index3> outputs = operand_.first().outputs;
  outputs.resize(static_cast<std::size_t>(outputs_per_block() * m_blocks()),
                 Index3{0, -1, 0});  // rows without an output
  text.table("outputs", "[][3]", outputs);
}

/// Writes which steps have weights. For groups, a bit per chunk of output tells whether a chunk of input
/// serves it in a step.
void MmaProgram::put_uses(ConstantsText& text) const {
  const int slices = this->slices(), steps = this->steps();
  text.table("used", "[slices][steps]", used_);
  std::vector<std::vector<unsigned>> group_uses(tile_.group ? slices + tile_.group - 1 : 1,
                                                std::vector<unsigned>(steps));
  for (int chunk = 0; tile_.group && chunk < slices + tile_.group - 1; ++chunk)
    for (int step = 0; step < steps; ++step)
      for (int k = std::max(0, chunk - slices + 1); k < std::min(tile_.group, chunk + 1); ++k)
        group_uses[chunk][step] |= static_cast<unsigned>(used_[chunk - k][step]) << k;
  text.line("__constant__ unsigned group_uses[][steps] = " + ConstantsText::list(group_uses) + ";");
}

/// Writes where the words of B lie in a chunk, [register][element]. The differences between the four lanes of
/// a quad are stored as classes.
void MmaProgram::put_places(ConstantsText& text) const {
  const int per_word = elements_per_word(terms_.element), real = b_registers(operand_, terms_.element);
  const auto& inputs = operand_.first().inputs;
  const auto offset = [&](int r, int q, int e) {
    r = std::min(r, real - 1);  // beyond the last register, weights are zero and any point will do
    std::size_t k = static_cast<std::size_t>((4 * r + q) * per_word + e);
    if (k >= inputs.size()) k = static_cast<std::size_t>(4 * r * per_word + e);
    const Index3 p = inputs[k] - window_;
    return static_cast<int>((p[0] * box_rows_ + p[1]) * box_columns_ + p[2]);
  };
  std::map<std::array<int, 4>, int> known;
  std::vector<std::array<int, 4>> class_offset;
  std::vector<int> place_class, place_offset, together;
  for (int r = 0; r < registers_; ++r) {
    bool pairs = per_word == 2;
    for (int e = 0; e < per_word; ++e) {
      std::array<int, 4> differences{};
      for (int q = 0; q < 4; ++q) {
        differences[q] = offset(r, q, e) - offset(r, 0, e);
        pairs = pairs && offset(r, q, 0) % 2 == 0 && offset(r, q, e) == offset(r, q, 0) + e;
      }
      const auto [entry, is_new] = known.try_emplace(differences, static_cast<int>(class_offset.size()));
      if (is_new) class_offset.push_back(differences);
      place_class.push_back(entry->second);
      place_offset.push_back(offset(r, 0, e));
    }
    together.push_back(pairs);
  }
  text.integer("classes", static_cast<std::int64_t>(class_offset.size()));
  text.table("class_offset", "[classes][4]", class_offset);
  text.table("place_class", "[]", place_class);
  text.table("place_offset", "[]", place_offset);
  text.table("together_at", "[]", together);
}

}  // namespace spsolve::cuda
