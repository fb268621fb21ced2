// SPDX-License-Identifier: Apache-2.0
#pragma once

// The emulation calls the templates of row_layouts.cuh and band_staging.cuh for every step; only the kernels
// around them, which it does not launch, take these constants.

namespace spsolve::cuda {
enum class RowStep;
enum class BandForm;
namespace constants {
constexpr int kernel_rows = 7;
constexpr auto step = static_cast<RowStep>(0);
constexpr auto form = static_cast<BandForm>(0);
constexpr bool staged = true;
}  // namespace constants
}  // namespace spsolve::cuda
