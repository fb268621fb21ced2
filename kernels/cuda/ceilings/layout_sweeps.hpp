// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/cuda/ceilings/layout_arguments.hpp"
#include "kernels/cuda/runtime/device_memory.hpp"
#include "kernels/cuda/runtime/program.hpp"
#include "kernels/cuda/runtime/stream.hpp"
#include "kernels/stencil.hpp"

namespace spsolve::cuda {

/// Returns the weights {z, y, x} of a stencil of one plane, row by row: `rows` rows of 7 points, filled up
/// with zeros. Throws std::invalid_argument for other stencils, or more than 7 rows.
std::vector<double> row_weights(const Stencil& stencil);

/// Returns fp64 weights in the order of lanes (see RowArguments): dual tessellation, or windows of 16 points.
std::vector<double> row_fragments(const Stencil& stencil, RowStep step);

/// Returns the table of places of stencil2row for a tile: in A, then in B.
std::vector<int> row_places(int kernel_rows);

/// Returns the bytes of shared memory of a block.
std::size_t row_shared_bytes(int kernel_rows, RowStep step);

/// Holds the weights of a 2D stencil in fp16 in the order of lanes (see BandArguments); `metadata` is empty
/// unless they are sparse.
struct BandWeights {
  int kernel_rows;
  std::vector<std::uint32_t> weights, metadata;
};
/// Throws std::invalid_argument for stencils of more than one plane or rows of more than 15 points.
BandWeights band_weights(const Stencil& stencil, BandForm form);

std::size_t band_shared_bytes(int kernel_rows, bool staged);

/// Returns the stencil with its weights rounded to fp16.
Stencil rounded_to_fp16(const Stencil& stencil);

/// Holds the exact value of an output.
struct ExactOutput {
  double value, magnitudes;  // sum of the products, and of their magnitudes
};
/// Returns output (y, x) where element i of the input is layout_value(i), rows `in_pitch` apart.
ExactOutput exact_output(const Stencil& stencil, long long in_pitch, long long y, long long x);
/// Return how much an output may differ from the exact one. fp64: every product and sum is rounded once, on
/// both sides. fp16: tensor cores may truncate fp32 sums, and the result is rounded to fp16.
double row_tolerance(const Stencil& stencil, const ExactOutput& exact);
double band_tolerance(const Stencil& stencil, const ExactOutput& exact);

/// Return the text of constants.cuh.
std::string row_constants(int kernel_rows, RowStep step);
std::string band_constants(int kernel_rows, BandForm form, bool staged);

/// Applies a stencil of one plane with rows of up to 7 points, in fp64, to a grid of rows x columns points in
/// one of the steps of row_layouts.cuh. The input has a halo. For a stencil of one row, the rows of the grid
/// are one line of memory.
class RowSweep {
 public:
  /// Rows are a multiple of 16, columns of 128. Throws Error(device_failure) if the device has too little
  /// memory.
  RowSweep(const Stencil& stencil, RowStep step, int rows, int columns, const KernelCompiler& compiler,
           const Stream& stream);
  void launch() const;
  /// Returns how many of `samples` outputs, spread over the grid, differ from sums on the host by more than
  /// rounding.
  int wrong_outputs(int samples) const;

 private:
  Stencil stencil_;
  RowStep step_;
  int kernel_rows_;
  const Stream* stream_;
  Kernel sweep_, write_, fill_;
  DeviceBuffer in_, out_, matrix_, fragments_, places_;
  RowArguments arguments_{};
};

/// Applies a 2D stencil with rows of up to 15 points in fp16, with the loop of band_staging.cuh.
class BandSweep {
 public:
  /// Rows are a multiple of 32, columns of 128.
  BandSweep(const Stencil& stencil, BandForm form, bool staged, int rows, int columns,
            const KernelCompiler& compiler, const Stream& stream);
  void launch() const;
  int wrong_outputs(int samples) const;

 private:
  Stencil stencil_;  // with weights in fp16
  bool staged_;
  int kernel_rows_;
  const Stream* stream_;
  Kernel sweep_, fill_;
  DeviceBuffer in_, out_, weights_, metadata_;
  BandArguments arguments_{};
};

}  // namespace spsolve::cuda
