// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/separable_sweep.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <stdexcept>

#include "kernels/cuda/launch_shape.hpp"
#include "kernels/cuda/tensor_map.hpp"
#include "kernels/cuda/view.hpp"

namespace spsolve::cuda {
namespace {

constexpr std::int64_t column_granule = 64;
constexpr int most_z_taps = 15;                                  // whose sums registers hold
constexpr std::array<int, 3> grid_axes{z_axis, y_axis, x_axis};  // planes and rows are those of the grid

/// The rows of a line cut every `columns` points, as a plane whose rows may overlap: {0, row, column}, row r
/// beginning at point r * columns.
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

template <class T>
DeviceBuffer upload(const std::vector<T>& x, const std::vector<T>& y, cudaStream_t stream) {
  const std::size_t x_bytes = x.size() * sizeof(T), y_bytes = y.size() * sizeof(T);
  DeviceBuffer buffer(x_bytes + y_bytes);
  check_cuda(cudaMemcpyAsync(buffer.data(), x.data(), x_bytes, cudaMemcpyHostToDevice, stream));
  check_cuda(cudaMemcpyAsync(static_cast<std::byte*>(buffer.data()) + x_bytes, y.data(), y_bytes,
                             cudaMemcpyHostToDevice, stream));
  check_cuda(cudaStreamSynchronize(stream));
  return buffer;
}

}  // namespace

bool SeparableSweep::is_possible(const SeparableStencil& stencil, Precision precision,
                                 const BlockLimits& limits) {
  constexpr std::size_t most_terms = 8;
  if (precision == Precision::fp64 || stencil.terms.size() > most_terms) return false;
  const SeparableOperand operand = separable_operand(stencil, precision);
  if (operand.z_taps == 1 && operand.z_begin != 0) return false;
  if (operand.z_taps > 1 && (operand.y.windows > 1 || operand.z_taps > most_z_taps ||
                             operand.z_rank * operand.z_taps > most_z_weights))
    return false;
  const int bytes = static_cast<int>(storage_bytes(precision));
  return choose_separable_tile(operand, bytes, limits).warps > 0;
}

SeparableSweep::SeparableSweep(const SeparableStencil& stencil, Precision precision, cudaStream_t stream,
                               std::filesystem::path kernel_cache, std::optional<SeparableTile> tile)
    : precision_(precision),
      element_bytes_(static_cast<int>(storage_bytes(precision))),
      stream_(stream),
      device_(current_device()),
      along_x_(stencil.taps.extent()[y_axis] == 1 && stencil.taps.begin[y_axis] == 0),
      operand_(separable_operand(stencil, precision)),
      compiler_(device_.architecture(), std::move(kernel_cache)) {
  if (!is_possible(stencil, precision, device_.block_limits()))
    throw std::invalid_argument("separable sweep: no kernel for so many terms or so wide a stencil");
  if (!tile) tile = choose_separable_tile(operand_, element_bytes_, device_.block_limits());
  shape_ = separable_shape(operand_, *tile, element_bytes_);
  resident_blocks_ =
      kernel(false).resident_blocks(shape_.tile.threads(), static_cast<std::size_t>(shape_.shared_bytes)) *
      device_.multiprocessors;
  values_ = upload(operand_.x.values, operand_.y.values, stream);
  metadata_ = upload(operand_.x.metadata, operand_.y.metadata, stream);
}

void SeparableSweep::operator()(const Field& in, Field& out, const Box& region, const Field* source) const {
  if (in.precision() != precision_ || out.precision() != precision_)
    throw std::invalid_argument("separable sweep: fields of another precision");
  if (region.empty()) return;
  const Region written = region_of(region, grid_axes);
  View from = view_of(in, grid_axes);
  const View to = view_of(out, grid_axes), added = source ? view_of(*source, grid_axes) : View{};
  const std::int64_t per_chunk = 16 / element_bytes_;
  if (wrap(from.begin[x_axis], per_chunk) != 0) from = aligned_copy(from, written);
  const bool aligned =
      wrap(to.begin[x_axis], per_chunk) == 0 && (!source || wrap(added.begin[x_axis], std::int64_t{4}) == 0);
  if (along_x_ && in.allocated().extent()[y_axis] == 1 && in.allocated().extent()[z_axis] == 1)
    sweep_line(from, to, added, written, aligned);
  else
    sweep(from, to, added, written, aligned);
}

const Kernel& SeparableSweep::kernel(bool with_source) const {
  auto& kernel = kernels_[with_source];
  if (!kernel) {
    const std::string name = in_planes() ? "separable_planes" : "separable";
    kernel = std::make_unique<Kernel>(
        compiler_.compile(name + ".cuh", separable_constants(operand_, precision_, shape_, with_source)),
        name.c_str());
    kernel->allow_shared_bytes(static_cast<std::size_t>(shape_.shared_bytes));
  }
  return *kernel;
}

/// A plane or several.
void SeparableSweep::sweep(const View& in, const View& out, const View& source, const Region& region,
                           bool aligned) const {
  const SeparableTile& tile = shape_.tile;
  SeparableArguments a{};
  a.in = in;
  a.out = out;
  a.source = source;
  a.region = region;
  a.first_row = floor_to(region.begin[y_axis], row_granule);
  a.first_column = floor_to(region.begin[x_axis], column_granule);
  a.scale = operand_.scale;
  for (std::size_t i = 0; i < operand_.z_values.size(); ++i)
    a.along_z[i] = operand_.scale * operand_.z_values[i];
  a.aligned = aligned;
  a.values = values_.data();
  a.metadata = metadata_.data();
  const std::int64_t rows = region.end[y_axis] - a.first_row;
  const std::int64_t column_tiles = pieces(region.end[x_axis] - a.first_column, tile.columns());
  const std::int64_t planes = region.end[z_axis] - region.begin[z_axis];
  // Blocks along y and along z.
  std::int64_t row_tiles = pieces(rows, row_granule * tile.warps_y), marches = planes;
  if (in_planes()) {
    constexpr std::int64_t warm_up = 2;  // steps that the first copies take
    a.planes_per_block = static_cast<int>(
        steps_per_block(planes, column_tiles * row_tiles, resident_blocks_, operand_.z_taps - 1 + warm_up));
    marches = pieces(planes, a.planes_per_block);
  } else {
    a.steps_per_strip = tile.steps_per_strip;
    if (!a.steps_per_strip)
      a.steps_per_strip =
          static_cast<int>(steps_per_strip(rows, shape_.block_rows, column_tiles * planes, resident_blocks_));
    row_tiles = pieces(rows, a.steps_per_strip * shape_.block_rows + row_granule);
  }
  if (device_.block_limits().copy_engine()) {
    View words = in;  // of 8 bytes: a box holds up to 256
    const std::int64_t per_word = 8 / element_bytes_;
    words.end[x_axis] = words.begin[x_axis] + (in.end[x_axis] - in.begin[x_axis]) / per_word;
    for (const int axis : {z_axis, y_axis}) words.stride[axis] = in.stride[axis] / per_word;
    a.in_map = make_tensor_map(words, 8, shape_.block_rows, shape_.row_elements / static_cast<int>(per_word));
    if (tile.bulk_stores && aligned) {
      const int row_bytes = (in_planes() ? tile.columns() : 16 * tile.groups) * element_bytes_;
      a.out_map =
          row_bytes < 128
              ? make_tensor_map(out, element_bytes_, row_granule, 64 / element_bytes_, Swizzle::bytes_64)
              : make_tensor_map(out, element_bytes_, row_granule, 128 / element_bytes_, Swizzle::bytes_128);
    }
  }
  kernel(source.data)
      .launch(dim3(static_cast<unsigned>(column_tiles), static_cast<unsigned>(row_tiles),
                   static_cast<unsigned>(marches)),
              dim3(static_cast<unsigned>(tile.threads())), static_cast<std::size_t>(shape_.shared_bytes),
              stream_, a);
}

/// A line as rows of one tile each: those whose input lies in memory as a plane, the few others one by one.
void SeparableSweep::sweep_line(const View& in, const View& out, const View& source, const Region& region,
                                bool aligned) const {
  const std::int64_t columns = shape_.tile.columns();
  const std::int64_t begin = region.begin[x_axis], end = region.end[x_axis];
  const std::int64_t first = shape_.column_margin, last = first + shape_.row_elements;  // columns of input
  const std::int64_t last_row = floor_to(end - 1, columns) / columns;
  const std::int64_t full_begin =
      std::max(pieces(begin, columns), -floor_to<std::int64_t>(first - in.begin[x_axis], columns) / columns);
  const std::int64_t full_end =
      std::min(floor_to(end, columns), floor_to<std::int64_t>(in.end[x_axis] - last, columns) + columns) /
      columns;
  const auto sweep_rows = [&](std::int64_t row, std::int64_t rows, std::int64_t in_begin,
                              std::int64_t in_end) {
    const std::int64_t column = std::max(begin - row * columns, std::int64_t{0});
    const std::int64_t last_column = rows > 1 ? columns : std::min(end - row * columns, columns);
    const Region written{{0, row, column}, {1, row + rows, last_column}};
    const View to =
        folded(out, columns, row, rows, floor_to(column, column_granule), last_column, element_bytes_);
    const View added = source.data ? folded(source, columns, row, rows, column, last_column, 4) : View{};
    sweep(folded(in, columns, row, rows, in_begin, in_end, element_bytes_), to, added, written, aligned);
  };
  for (std::int64_t row = floor_to(begin, columns) / columns; row <= last_row;) {
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

/// What a region needs of a field, in memory where multiples of 64 bytes are multiples of points.
View SeparableSweep::aligned_copy(const View& in, const Region& region) const {
  const std::int64_t reach = 32 * std::max(operand_.x.windows, operand_.y.windows),
                     z_reach = std::max(-operand_.z_begin, operand_.z_begin + operand_.z_taps - 1);
  View copy{};
  for (int axis = 0; axis < axis_count; ++axis) {
    const std::int64_t margin = axis == z_axis ? z_reach : reach;
    copy.begin[axis] = std::max<std::int64_t>(in.begin[axis], region.begin[axis] - margin);
    copy.end[axis] = std::min<std::int64_t>(in.end[axis], region.end[axis] + margin);
  }
  const std::int64_t first = copy.begin[x_axis];
  const std::int64_t width = copy.end[x_axis] - first;
  copy.begin[x_axis] = floor_to(first, column_granule);
  copy.end[x_axis] = -floor_to(-copy.end[x_axis], column_granule);
  copy.stride[x_axis] = 1;
  copy.stride[y_axis] = copy.end[x_axis] - copy.begin[x_axis];
  copy.stride[z_axis] = copy.stride[y_axis] * (copy.end[y_axis] - copy.begin[y_axis]);
  const auto bytes = static_cast<std::size_t>(copy.stride[z_axis] * (copy.end[z_axis] - copy.begin[z_axis]) *
                                              element_bytes_);
  if (scratch_.bytes() < bytes) {
    check_cuda(cudaStreamSynchronize(stream_));
    scratch_ = DeviceBuffer(bytes);
  }
  copy.data = scratch_.data();
  // What no point of `in` is copied to is read with weights of zero.
  check_cuda(cudaMemsetAsync(copy.data, 0, bytes, stream_));
  const auto row_bytes = static_cast<std::size_t>(element_bytes_);
  for (std::int64_t z = copy.begin[z_axis]; z < copy.end[z_axis]; ++z)
    check_cuda(cudaMemcpy2DAsync(
        static_cast<std::byte*>(copy.data) +
            ((z - copy.begin[z_axis]) * copy.stride[z_axis] + first - copy.begin[x_axis]) * element_bytes_,
        copy.stride[y_axis] * row_bytes,
        static_cast<const std::byte*>(in.data) +
            ((z - in.begin[z_axis]) * in.stride[z_axis] +
             (copy.begin[y_axis] - in.begin[y_axis]) * in.stride[y_axis] + first - in.begin[x_axis]) *
                element_bytes_,
        in.stride[y_axis] * row_bytes, width * row_bytes, copy.end[y_axis] - copy.begin[y_axis],
        cudaMemcpyDeviceToDevice, stream_));
  return copy;
}

}  // namespace spsolve::cuda
