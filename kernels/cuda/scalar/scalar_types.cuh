// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "constants.cuh"
#include "kernels/cuda/ptx/precision.cuh"
#include "kernels/cuda/scalar/scalar_arguments.hpp"

namespace spsolve::cuda {

// What kernels of the scalar unit read, compute with and write, and what fields hold.
using constants::Compute;
using constants::In;
using constants::Out;
using constants::Stored;

}  // namespace spsolve::cuda
