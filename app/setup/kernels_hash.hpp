// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace spsolve {

/// A hash over the sources of kernels, of the model that plans with them and of its coefficients, made when
/// the program is built: what was timed by one build says nothing of another with other kernels.
extern const char* const kernels_hash;

}  // namespace spsolve
