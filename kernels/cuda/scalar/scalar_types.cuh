// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda {

// Number types: computed with, read, written, and stored in fields.
using constants::Compute;
using constants::In;
using constants::Out;
using constants::Stored;

}  // namespace spsolve::cuda
