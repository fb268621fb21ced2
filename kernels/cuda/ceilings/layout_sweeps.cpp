// SPDX-License-Identifier: Apache-2.0
#include "kernels/cuda/ceilings/layout_sweeps.hpp"

#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "kernels/rounding.hpp"
#include "kernels/sparse/element_bits.hpp"
#include "kernels/sparse/weight_matrix.hpp"

namespace spsolve::cuda {
namespace {

constexpr int halo_columns = 16;  // columns of the input beyond those of the outputs
constexpr unsigned fill_blocks = 4096;

void check_shape(int rows, int columns, int tile_rows) {
  if (rows < 1 || columns < 1 || rows % tile_rows != 0 || columns % layout_columns != 0)
    throw std::invalid_argument("layouts: the grid is no multiple of the tiles of a block");
}

/// Returns how many of `samples` outputs are wrong; value(place) is the output at a place in memory.
template <class Value>
int count_wrong(const Stencil& stencil, int rows, int columns, long long in_pitch, int samples,
                double (*tolerance)(const Stencil&, const ExactOutput&), Value&& value) {
  int wrong = 0;
  for (int sample = 0; sample < samples; ++sample) {
    // The first samples are the last output and the first one.
    const auto place = [&](unsigned which, int extent) {
      if (sample < 2) return sample == 0 ? extent - 1 : 0;
      return static_cast<int>(gemm_hash(which, sample) % static_cast<unsigned>(extent));
    };
    const int y = place(2, rows), x = place(3, columns);
    const ExactOutput exact = exact_output(stencil, in_pitch, y, x);
    const double found =
        value(static_cast<std::size_t>(y) * static_cast<std::size_t>(columns) + static_cast<std::size_t>(x));
    wrong += !(std::abs(found - exact.value) <= tolerance(stencil, exact));  // NaN is wrong
  }
  return wrong;
}

template <class T>
T element_of(const DeviceBuffer& buffer, std::size_t place) {
  T found{};
  check_cuda(
      cudaMemcpy(&found, static_cast<const T*>(buffer.data()) + place, sizeof found, cudaMemcpyDeviceToHost));
  return found;
}

constexpr const char* row_template = "kernels/cuda/ceilings/row_layouts.cuh";
constexpr const char* band_template = "kernels/cuda/ceilings/band_staging.cuh";

}  // namespace

RowSweep::RowSweep(const Stencil& stencil, RowStep step, int rows, int columns,
                   const KernelCompiler& compiler, const Stream& stream)
    : stencil_(stencil),
      step_(step),
      kernel_rows_(static_cast<int>(row_weights(stencil).size()) / row_points),
      stream_(&stream),
      sweep_(compiler.begin(row_template, row_constants(kernel_rows_, step)), "sweep_rows",
             row_shared_bytes(kernel_rows_, step)),
      write_(compiler.begin(row_template, row_constants(kernel_rows_, step)), "write_matrix"),
      fill_(compiler.begin(row_template, row_constants(kernel_rows_, step)), "fill_rows") {
  constexpr long long most_bytes = 1ll << 32;  // the largest strip of im2row
  check_shape(rows, columns, row_tile_rows);
  RowArguments& a = arguments_;
  a.rows = rows, a.columns = columns;
  // Rows of a line follow one another.
  a.in_pitch = kernel_rows_ == 1 ? columns : columns + halo_columns;
  const long long in_rows = rows + kernel_rows_ - 1;
  const auto bytes = [](long long elements) { return static_cast<std::size_t>(elements) * sizeof(double); };
  in_ = DeviceBuffer(bytes(in_rows * a.in_pitch + natural_window));
  out_ = DeviceBuffer(bytes(static_cast<long long>(rows) * columns));
  const std::vector<double> weights = row_weights(stencil);
  std::copy(weights.begin(), weights.end(), a.weights);
  a.strip_rows = rows;
  if (step == RowStep::im2row_in_memory) {
    const long long row_bytes =
        static_cast<long long>(weights.size()) * columns * static_cast<long long>(sizeof(double));
    a.strip_rows = static_cast<int>(std::clamp<long long>(most_bytes / row_bytes, 1, rows));
    matrix_ = DeviceBuffer(static_cast<std::size_t>(row_bytes * a.strip_rows));
  } else if (step == RowStep::stencil2row_in_memory) {
    a.matrix_pitch = row_points * in_rows;
    matrix_ = DeviceBuffer(bytes(2 * a.matrix_pitch * (columns / row_outputs)));
  }
  if (on_tensor_cores(step)) fragments_ = to_device(row_fragments(stencil, step), stream);
  if (step == RowStep::lookup) places_ = to_device(row_places(kernel_rows_), stream);
  stream.synchronize();  // the vectors of the host end here
  a.in = static_cast<const double*>(in_.data());
  a.out = static_cast<double*>(out_.data());
  a.matrix = static_cast<double*>(matrix_.data());
  a.fragments = static_cast<const double*>(fragments_.data());
  a.places = static_cast<const int*>(places_.data());
  check_cuda(cudaMemsetAsync(out_.data(), 0xff, out_.bytes(), stream));  // NaN
  fill_.launch(fill_blocks, layout_threads, 0, stream, a);
}

void RowSweep::launch() const {
  const auto blocks = [](long long points) {
    return static_cast<unsigned>(ceil_div(points, static_cast<long long>(layout_threads)));
  };
  RowArguments a = arguments_;
  if (step_ == RowStep::im2row_in_memory) {
    for (; a.first_row < a.rows; a.first_row += arguments_.strip_rows) {
      a.strip_rows = std::min(arguments_.strip_rows, a.rows - a.first_row);
      const unsigned count = blocks(static_cast<long long>(a.strip_rows) * a.columns);
      write_.launch(count, layout_threads, 0, *stream_, a);
      sweep_.launch(count, layout_threads, 0, *stream_, a);
    }
    return;
  }
  if (step_ == RowStep::stencil2row_in_memory)
    write_.launch(blocks(static_cast<long long>(a.rows + kernel_rows_ - 1) * (a.columns + row_outputs)),
                  layout_threads, 0, *stream_, a);
  const dim3 grid(static_cast<unsigned>(a.columns / layout_columns),
                  static_cast<unsigned>(a.rows / row_tile_rows));
  sweep_.launch(grid, layout_threads, row_shared_bytes(kernel_rows_, step_), *stream_, a);
}

int RowSweep::wrong_outputs(int samples) const {
  stream_->synchronize();
  const RowArguments& a = arguments_;
  return count_wrong(stencil_, a.rows, a.columns, a.in_pitch, samples, row_tolerance,
                     [&](std::size_t place) { return element_of<double>(out_, place); });
}

BandSweep::BandSweep(const Stencil& stencil, BandForm form, bool staged, int rows, int columns,
                     const KernelCompiler& compiler, const Stream& stream)
    : stencil_(rounded_to_fp16(stencil)),
      staged_(staged),
      kernel_rows_(static_cast<int>(tap_box(stencil_).extent()[y_axis])),
      stream_(&stream),
      sweep_(compiler.begin(band_template, band_constants(kernel_rows_, form, staged)), "sweep_band",
             band_shared_bytes(kernel_rows_, staged)),
      fill_(compiler.begin(band_template, band_constants(kernel_rows_, form, staged)), "fill_band") {
  check_shape(rows, columns, band_tile_rows);
  const BandWeights weights = band_weights(stencil_, form);
  BandArguments& a = arguments_;
  a.rows = rows, a.columns = columns;
  a.in_pitch = columns + halo_columns;
  in_ = DeviceBuffer(static_cast<std::size_t>((rows + kernel_rows_ - 1) * a.in_pitch) * 2);
  out_ = DeviceBuffer(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns) * 2);
  weights_ = to_device(weights.weights, stream);
  metadata_ = to_device(weights.metadata, stream);
  stream.synchronize();  // the vectors of the host end here
  a.in = static_cast<const unsigned short*>(in_.data());
  a.out = static_cast<unsigned short*>(out_.data());
  a.weights = weights_.data();
  a.metadata = static_cast<const unsigned*>(metadata_.data());
  check_cuda(cudaMemsetAsync(out_.data(), 0xff, out_.bytes(), stream));  // NaN
  fill_.launch(fill_blocks, layout_threads, 0, stream, a);
}

void BandSweep::launch() const {
  const dim3 grid(static_cast<unsigned>(arguments_.columns / layout_columns),
                  static_cast<unsigned>(arguments_.rows / band_tile_rows));
  sweep_.launch(grid, layout_threads, band_shared_bytes(kernel_rows_, staged_), *stream_, arguments_);
}

int BandSweep::wrong_outputs(int samples) const {
  stream_->synchronize();
  const BandArguments& a = arguments_;
  return count_wrong(
      stencil_, a.rows, a.columns, a.in_pitch, samples, band_tolerance, [&](std::size_t place) {
        return static_cast<double>(element_value(Precision::fp16, element_of<unsigned short>(out_, place)));
      });
}

}  // namespace spsolve::cuda
