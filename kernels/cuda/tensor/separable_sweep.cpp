// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/tensor/separable_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/cuda/launch/launch_shape.hpp"
#include "kernels/cuda/launch/make_tensor_map.hpp"
#include "kernels/cuda/runtime/copy_rows.hpp"
#include "kernels/cuda/runtime/device.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/tensor/separable_arguments.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::array<int, 3> same_axes{z_axis, y_axis, x_axis};  // kernel axes equal grid axes

/// Views a line as a plane whose rows are cut every `columns` points and may overlap: {0, row, column}, with
/// row r beginning at point r * columns.
View folded(const View& line, std::int64_t columns, std::int64_t first_row, std::int64_t rows,
            std::int64_t first_column, std::int64_t last_column, std::int64_t element) {
  View view{};
  view.data = static_cast<std::byte*>(line.data) +
              (first_row * columns + first_column - line.begin[x_axis]) * element;
  view.begin[y_axis] = first_row;
  view.end[y_axis] = first_row + rows;
  view.begin[x_axis] = first_column;
  view.end[x_axis] = last_column;
  view.end[z_axis] = 1;
  view.stride[x_axis] = 1;
  view.stride[y_axis] = view.stride[z_axis] = columns;
  return view;
}

}  // namespace

SeparableSweep::SeparableSweep(const SeparableStencil& stencil, Precision precision, cudaStream_t stream,
                               const std::optional<SeparableTile>& tile)
    : SeparableSweep(
          required(SeparableProgram::make(stencil, precision, current_device().block_limits(), tile)),
          precision, stream) {}

SeparableSweep::SeparableSweep(SeparableProgram program, Precision precision, cudaStream_t stream)
    : OperandSweep(std::move(program), same_axes, precision, stream),
      element_bytes_(static_cast<int>(storage_bytes(precision))) {}

void SeparableSweep::enqueue(const View& in, const View& out, const View& source,
                             const Region& region) const {
  const std::int64_t per_chunk = 16 / element_bytes_;
  const View from = wrap(in.begin[x_axis], per_chunk) == 0 ? in : aligned_copy(in, region);
  const bool aligned =
      wrap(out.begin[x_axis], per_chunk) == 0 && (!source.data || wrap(source.begin[x_axis], 4) == 0);
  const bool line = in.end[z_axis] - in.begin[z_axis] == 1 && in.end[y_axis] - in.begin[y_axis] == 1;
  if (line && program_.along_x())
    sweep_line(from, out, source, region, aligned);
  else
    sweep(from, out, source, region, aligned);
}

/// Sweeps one plane or several planes.
void SeparableSweep::sweep(const View& in, const View& out, const View& source, const Region& region,
                           bool aligned) const {
  const SeparableTile& tile = program_.shape(source.data != nullptr).tile;
  const SweepKernel& kernel = this->kernel(aligned, source.data != nullptr);
  SeparableArguments a = program_.arguments(in, out, source, region);
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  a.planes_per_block = 1;
  const Index3 tiles =
      program_.blocks(a);  // tiles of a plane; if blocks march down its rows, tiles of 16 rows
  if (program_.in_planes()) {
    constexpr std::int64_t warm_up = 2;  // steps that the first copies take
    a.planes_per_block =
        static_cast<int>(balanced_stretch(tiles[z_axis], tiles[y_axis] * tiles[x_axis],
                                          resident_blocks(kernel), program_.operand().z_taps - 1 + warm_up));
  } else {
    a.steps_per_strip = tile.steps_per_strip;
    if (!a.steps_per_strip)
      a.steps_per_strip = static_cast<int>(
          steps_per_strip(region.end[y_axis] - a.first_row, program_.shape(source.data != nullptr).block_rows,
                          tiles[x_axis] * tiles[z_axis], resident_blocks(kernel)));
  }
  const Index3 blocks = program_.blocks(a);
  for (const int axis : {z_axis, y_axis})
    if (blocks[axis] > max_blocks_across) {
      for (const Region& half : halves(region, axis)) sweep(in, out, source, half, aligned);
      return;
    }
  if (device_.block_limits().copy_engine()) {
    a.in_map = make_tensor_map(program_.input_box(a));
    if (tile.bulk_stores && aligned) {
      const auto box = program_.output_box(a);
      const int row_bytes = box.columns * box.element_bytes;
      a.out_map = make_tensor_map(box, row_bytes == 128  ? Swizzle::bytes_128
                                       : row_bytes == 64 ? Swizzle::bytes_64
                                                         : Swizzle::none);
    }
    if (source.data && aligned && tile.staged_source) a.source_map = make_tensor_map(program_.source_box(a));
  }
  launch(kernel,
         dim3(static_cast<unsigned>(blocks[x_axis]), static_cast<unsigned>(blocks[y_axis]),
              static_cast<unsigned>(blocks[z_axis])),
         a);
}

/// Sweeps a line that is cut into rows of one tile each. Rows whose input lies in memory as a plane does
/// share one launch; each of the few others has a launch of its own.
void SeparableSweep::sweep_line(const View& in, const View& out, const View& source, const Region& region,
                                bool aligned) const {
  const SeparableShape& shape = program_.shape(source.data != nullptr);
  const std::int64_t columns = shape.tile.columns();
  const std::int64_t begin = region.begin[x_axis], end = region.end[x_axis];
  const std::int64_t first = shape.column_margin,
                     last = first + shape.row_elements;  // columns of input
  const std::int64_t last_row = floor_div(end - 1, columns);
  const std::int64_t full_begin = std::max(
      ceil_div(begin, columns), -round_down<std::int64_t>(first - in.begin[x_axis], columns) / columns);
  const std::int64_t full_end =
      std::min(round_down(end, columns), round_down<std::int64_t>(in.end[x_axis] - last, columns) + columns) /
      columns;
  const auto sweep_rows = [&](std::int64_t row, std::int64_t rows, std::int64_t in_begin,
                              std::int64_t in_end) {
    const std::int64_t column = std::max(begin - row * columns, std::int64_t{0});
    const std::int64_t last_column = rows > 1 ? columns : std::min(end - row * columns, columns);
    const Region written{{0, row, column}, {1, row + rows, last_column}};
    const View to =
        folded(out, columns, row, rows, round_down(column, column_granule), last_column, element_bytes_);
    const View added =
        source.data ? folded(source, columns, row, rows, round_down<std::int64_t>(column, 4), last_column, 4)
                    : View{};
    sweep(folded(in, columns, row, rows, in_begin, in_end, element_bytes_), to, added, written, aligned);
  };
  for (std::int64_t row = floor_div(begin, columns); row <= last_row;) {
    if (row == full_begin && full_begin < full_end) {
      sweep_rows(row, full_end - full_begin, first, last);
      row = full_end;
    } else {
      sweep_rows(row, 1, std::max<std::int64_t>(in.begin[x_axis] - row * columns, first),
                 std::min<std::int64_t>(in.end[x_axis] - row * columns, last));
      ++row;
    }
  }
}

/// Copies what a region reads of a field to memory where multiples of 64 bytes are multiples of points.
View SeparableSweep::aligned_copy(const View& in, const Region& region) const {
  const SeparableOperand& operand = program_.operand();
  const std::int64_t reach = 32 * std::max(operand.x.windows, operand.y.windows),
                     z_reach = std::max(-operand.z_begin, operand.z_begin + operand.z_taps - 1);
  View copy{};
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t margin = axis == z_axis ? z_reach : reach;
    copy.begin[axis] = std::max<std::int64_t>(in.begin[axis], region.begin[axis] - margin);
    copy.end[axis] = std::min<std::int64_t>(in.end[axis], region.end[axis] + margin);
  }
  const std::int64_t first = copy.begin[x_axis];
  const std::int64_t width = copy.end[x_axis] - first;
  copy.begin[x_axis] = round_down(first, column_granule);
  copy.end[x_axis] = round_up(copy.end[x_axis], column_granule);
  copy.stride[x_axis] = 1;
  copy.stride[y_axis] = copy.end[x_axis] - copy.begin[x_axis];
  copy.stride[z_axis] = copy.stride[y_axis] * (copy.end[y_axis] - copy.begin[y_axis]);
  const auto bytes = static_cast<std::size_t>(copy.stride[z_axis] * (copy.end[z_axis] - copy.begin[z_axis]) *
                                              element_bytes_);
  if (scratch_.bytes() < bytes) {
    check_cuda(cudaStreamSynchronize(stream_));
    scratch_ = DeviceBuffer();
    scratch_ = DeviceBuffer(bytes);
  }
  copy.data = scratch_.data();
  // The rest of the copy is read with weights of zero.
  check_cuda(cudaMemsetAsync(copy.data, 0, bytes, stream_));
  const auto rows_of = [&](const View& view) {
    const std::int64_t offset = (copy.begin[z_axis] - view.begin[z_axis]) * view.stride[z_axis] +
                                (copy.begin[y_axis] - view.begin[y_axis]) * view.stride[y_axis] + first -
                                view.begin[x_axis];
    return PitchedRows{static_cast<std::byte*>(view.data) + offset * element_bytes_,
                       static_cast<std::size_t>(view.stride[y_axis] * element_bytes_),
                       static_cast<std::size_t>(view.stride[z_axis] * element_bytes_)};
  };
  const auto extent = [&](int axis) { return static_cast<std::size_t>(copy.end[axis] - copy.begin[axis]); };
  copy_rows(rows_of(in), rows_of(copy), static_cast<std::size_t>(width * element_bytes_), extent(y_axis),
            extent(z_axis), stream_);
  return copy;
}

}  // namespace spsolve::cuda
