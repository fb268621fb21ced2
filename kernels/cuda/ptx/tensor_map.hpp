// SPDX-License-Identifier: Apache-2.0
#pragma once

// Both the host compiler and NVRTC read this file: it has no includes and no library types.

namespace spsolve::cuda {

/// Describes a View to the tensor copy engine of sm_90 (CUtensorMap). Boxes are addressed by their
/// coordinates relative to View::begin; elements outside read as zero.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace spsolve::cuda
