// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spsolve {

/// Is a hash of the sources of kernels, of the model that plans with them and of its coefficients, made when
/// the program is built. Timings of one build do not apply to another build with other kernels.
extern const char* const kernels_hash;

}  // namespace spsolve
