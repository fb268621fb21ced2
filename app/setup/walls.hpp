// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "kernels/operator/filled_face.hpp"

namespace spsolve {

/// Returns the faces of the fields of an input whose ghost points are filled before every step, with the
/// functions that compute their values. If one wall of a field is such a face, all its walls are. Collective;
/// every rank throws the same Error(invalid_input) if a dataset cannot be read or does not have the shape of
/// its face.
std::vector<FilledFace> filled_faces(const Communicator& communicator, const RunConfig& config);

}  // namespace spsolve
