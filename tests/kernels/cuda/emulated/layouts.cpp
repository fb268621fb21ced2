// SPDX-License-Identifier: Apache-2.0
// Compiles row_layouts.cuh and band_staging.cuh for the host.
#include "kernels/sparse/emulation/sparse_mma.hpp"
#include "kernels/sparse/packed_operand.hpp"

#include "emulated_kernel.hpp"
#include "vectors.hpp"

using std::fma;

#include "kernels/cuda/ceilings/band_staging.cuh"
#include "kernels/cuda/ceilings/row_layouts.cuh"

#include "emulated_layouts.hpp"

namespace spsolve::cuda {
namespace {

constexpr int blocks_of(long long points) {
  return static_cast<int>((points + layout_threads - 1) / layout_threads);
}

template <int kernel_rows, RowStep step>
void run_step(const RowArguments& given) {
  if constexpr (step == RowStep::im2row_in_memory) {
    RowArguments a = given;
    for (; a.first_row < a.rows; a.first_row += given.strip_rows) {
      a.strip_rows = std::min(given.strip_rows, a.rows - a.first_row);
      const int blocks = blocks_of(static_cast<long long>(a.strip_rows) * a.columns);
      ::emulated::run_grid<RowArguments>(
          blocks, 1, 1, layout_threads, [](RowArguments b) { write_im2row<kernel_rows>(b); }, a);
      ::emulated::run_grid<RowArguments>(
          blocks, 1, 1, layout_threads, [](RowArguments b) { multiply_im2row<kernel_rows>(b); }, a);
    }
    return;
  }
  if constexpr (step == RowStep::stencil2row_in_memory)
    ::emulated::run_grid<RowArguments>(
        blocks_of(static_cast<long long>(given.rows + kernel_rows - 1) * (given.columns + row_outputs)), 1, 1,
        layout_threads, [](RowArguments b) { write_stencil2row<kernel_rows>(b); }, given);
  ::emulated::run_grid<RowArguments>(
      given.columns / layout_columns, given.rows / row_tile_rows, 1, layout_threads,
      [](RowArguments b) { sweep_tile<kernel_rows, step>(b, reinterpret_cast<double*>(memory)); }, given);
}

template <int kernel_rows>
void run_rows(const RowArguments& a, RowStep step) {
  switch (step) {
    case RowStep::im2row_in_memory:
      return run_step<kernel_rows, RowStep::im2row_in_memory>(a);
    case RowStep::stencil2row_in_memory:
      return run_step<kernel_rows, RowStep::stencil2row_in_memory>(a);
    case RowStep::stencil2row:
      return run_step<kernel_rows, RowStep::stencil2row>(a);
    case RowStep::tensor_cores:
      return run_step<kernel_rows, RowStep::tensor_cores>(a);
    case RowStep::padded_rows:
      return run_step<kernel_rows, RowStep::padded_rows>(a);
    case RowStep::lookup:
      return run_step<kernel_rows, RowStep::lookup>(a);
    case RowStep::natural_from_memory:
      return run_step<kernel_rows, RowStep::natural_from_memory>(a);
    case RowStep::natural:
      return run_step<kernel_rows, RowStep::natural>(a);
  }
}

template <BandForm form, bool staged>
void run_band(const BandArguments& a) {
  ::emulated::run_grid<BandArguments>(
      a.columns / layout_columns, a.rows / band_tile_rows, 1, layout_threads,
      [](BandArguments b) { sweep_band_tile<5, form, staged>(b, reinterpret_cast<unsigned*>(memory)); }, a);
}

}  // namespace

void launch_emulated_rows(const RowArguments& a, int kernel_rows, RowStep step) {
  kernel_rows == 1 ? run_rows<1>(a, step) : run_rows<7>(a, step);
}

void launch_emulated_band(const BandArguments& a, BandForm form, bool staged) {
  switch (form) {
    case BandForm::dense:
      return staged ? run_band<BandForm::dense, true>(a) : run_band<BandForm::dense, false>(a);
    case BandForm::swapped:
      return staged ? run_band<BandForm::swapped, true>(a) : run_band<BandForm::swapped, false>(a);
    case BandForm::sparse:
      return staged ? run_band<BandForm::sparse, true>(a) : run_band<BandForm::sparse, false>(a);
  }
}

}  // namespace spsolve::cuda
