// SPDX-License-Identifier: Apache-2.0
// Makes the weights of row_layouts.cuh and band_staging.cuh, and exact results.
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "kernels/cuda/ceilings/layout_sweeps.hpp"
#include "kernels/cuda/runtime/constants_text.hpp"
#include "kernels/sparse/dual_tessellation.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/packed_operand.hpp"
#include "kernels/sparse/strided_swap.hpp"

namespace spsolve::cuda {
namespace {

/// Returns the rows of a stencil of one plane. Throws std::invalid_argument if it has several planes or
/// longer rows.
int rows_of(const Stencil& stencil, std::int64_t longest) {
  const Index3 extent = tap_box(stencil).extent();
  if (extent[z_axis] != 1 || extent[x_axis] > longest)
    throw std::invalid_argument("layouts: the stencil has several planes, or rows that are too long");
  return static_cast<int>(extent[y_axis]);
}

/// Returns the points of `columns` neighbours from the first tap of each row of the stencil on.
std::vector<Index3> windows(const Stencil& stencil, std::int64_t columns) {
  Box box = tap_box(stencil);
  box.end[x_axis] = box.begin[x_axis] + columns;
  return points_of(box);
}

}  // namespace

std::vector<double> row_weights(const Stencil& stencil) {
  const int rows = rows_of(stencil, row_points);
  if (rows > most_kernel_rows) throw std::invalid_argument("layouts: the stencil has more than 7 rows");
  const Box box = tap_box(stencil);
  std::vector<double> weights(static_cast<std::size_t>(rows * row_points));
  for (const Tap& tap : stencil.taps()) {
    const Index3 at = tap.offset - box.begin;
    weights[static_cast<std::size_t>(at[y_axis] * row_points + at[x_axis])] = tap.weight;
  }
  return weights;
}

std::vector<double> row_fragments(const Stencil& stencil, RowStep step) {
  if (rows_of(stencil, row_points) > most_kernel_rows)
    throw std::invalid_argument("layouts: the stencil has more than 7 rows");
  const Index3 tile{1, 1, row_outputs};
  return pack_fp64_weights(in_natural_order(step) ? compress(weight_matrix(stencil, points_of(box_of(tile)),
                                                                           windows(stencil, natural_window)),
                                                             tile, dense)
                                                  : dual_tessellation(stencil));
}

std::vector<int> row_places(int kernel_rows) {
  const Stencil2Row layout =
      stencil2row(row_points, row_tile_rows + kernel_rows - 1, layout_columns + row_points - 1);
  std::vector<int> places = layout.a;
  places.insert(places.end(), layout.b.begin(), layout.b.end());
  return places;
}

std::size_t row_shared_bytes(int kernel_rows, RowStep step) {
  const int in_rows = row_tile_rows + kernel_rows - 1;
  if (in_memory(step) || step == RowStep::natural_from_memory) return 0;
  const int elements = step == RowStep::natural
                           ? in_rows * skewed(layout_columns + row_outputs)
                           : 2 * (row_groups + 1) * stencil2row_pitch(in_rows, step >= RowStep::padded_rows);
  return static_cast<std::size_t>(elements) * sizeof(double);
}

BandWeights band_weights(const Stencil& stencil, BandForm form) {
  const int rows = rows_of(stencil, band_outputs - 1);
  if (form == BandForm::sparse) {
    const PackedOperand packed = pack(strided_swap(stencil, band_outputs), m16n8k32_fp16);
    return {rows, packed.values, packed.metadata};
  }
  const WeightMatrix matrix =
      form == BandForm::swapped
          ? swapped_band(stencil, band_outputs)
          : weight_matrix(stencil, points_of(box_of({1, 1, band_outputs})), windows(stencil, band_window));
  BandWeights result{rows, {}, {}};
  constexpr int step_words = 8;  // words of m16n8k16
  for (int step = 0; step < 2 * rows; ++step)
    for (int lane = 0; lane < warp_lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        result.weights.push_back(word_of(matrix, Precision::fp16, static_cast<std::size_t>(a_row(lane, i)),
                                         static_cast<std::size_t>(step * step_words + a_word(lane, i))));
  return result;
}

std::size_t band_shared_bytes(int kernel_rows, bool staged) {
  constexpr int pitch = skewed((layout_columns + band_outputs) / 2);
  const int words = staged ? (band_tile_rows + kernel_rows - 1) * pitch : 0;
  return static_cast<std::size_t>(words) * 4 + layout_threads / 32 * layout_columns * 2;
}

Stencil rounded_to_fp16(const Stencil& stencil) {
  std::vector<double> weights = dense_weights(stencil);
  std::transform(weights.begin(), weights.end(), weights.begin(), [](double weight) {
    return element_value(Precision::fp16, element_bits(Precision::fp16, weight));
  });
  return {2 * stencil.radius() + Index3{1, 1, 1}, weights, stencil.radius()};
}

ExactOutput exact_output(const Stencil& stencil, long long in_pitch, long long y, long long x) {
  const Box box = tap_box(stencil);
  ExactOutput exact{};
  for (const Tap& tap : stencil.taps()) {
    const Index3 at = tap.offset - box.begin;
    const double product = tap.weight * layout_value((y + at[y_axis]) * in_pitch + x + at[x_axis]);
    exact.value += product;
    exact.magnitudes += std::abs(product);
  }
  return exact;
}

double row_tolerance(const Stencil& stencil, const ExactOutput& exact) {
  return 2.0 * static_cast<double>(stencil.taps().size() + 1) * std::numeric_limits<double>::epsilon() *
         exact.magnitudes;
}

double band_tolerance(const Stencil& stencil, const ExactOutput& exact) {
  constexpr double half_roundoff = 0x1p-11, truncation = 0x1p-22;  // errors of a sum of products in fp32
  return half_roundoff * std::abs(exact.value) +
         truncation * static_cast<double>(stencil.taps().size() + 1) * exact.magnitudes;
}

std::string row_constants(int kernel_rows, RowStep step) {
  ConstantsText text({"kernels/cuda/ceilings/layout_arguments.hpp"});
  text.integer("kernel_rows", kernel_rows);
  text.put("RowStep", "step", "static_cast<RowStep>(" + std::to_string(static_cast<int>(step)) + ")");
  return text.finished();
}

std::string band_constants(int kernel_rows, BandForm form, bool staged) {
  ConstantsText text({"kernels/cuda/ceilings/layout_arguments.hpp"});
  text.integer("kernel_rows", kernel_rows);
  text.put("BandForm", "form", "static_cast<BandForm>(" + std::to_string(static_cast<int>(form)) + ")");
  text.flag("staged", staged);
  return text.finished();
}

}  // namespace spsolve::cuda
