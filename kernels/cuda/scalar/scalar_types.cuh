// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda {

// These are the number types that kernels compute with, read, write, and store in fields.
using constants::Compute;
using constants::In;
using constants::Out;
using constants::Stored;

}  // namespace spsolve::cuda
