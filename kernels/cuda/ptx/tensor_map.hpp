// SPDX-License-Identifier: Apache-2.0
#pragma once

// Read by the host compiler and by NVRTC: no includes, no library types.

namespace spsolve::cuda {

/// A view as the copy engine of sm_90 wants it (CUtensorMap): tiles of it are fetched by their coordinates
/// relative to View::begin, and what lies outside reads as zero.
struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

}  // namespace spsolve::cuda
