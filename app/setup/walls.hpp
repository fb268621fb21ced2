// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "app/setup/tables.hpp"
#include "io/input/config.hpp"
#include "kernels/operator/filled_face.hpp"

namespace spsolve {

/// Returns the faces of the fields of an input whose ghost points are filled before every step, with the
/// functions that compute their values. Either all walls of a field are filled faces, or none is. Collective;
/// every rank throws the same Error(invalid_input) if a dataset cannot be read or does not have the shape of
/// its face.
std::vector<FilledFace> filled_faces(Tables& tables, const RunConfig& config);

/// Holds the bytes that a rank takes for values of walls.
struct BytesOfWalls {
  std::size_t datasets = 0;  // in host memory: every rank holds whole datasets
  std::size_t device = 0;    // tables on a GPU, at most
  std::size_t staging = 0;   // in host memory, from which tables that change are uploaded
};
/// Returns the bytes of walls for blocks that have at most `extent` points with their halos.
BytesOfWalls bytes_of_walls(const RunConfig& config, const std::vector<FilledFace>& faces,
                            const Index3& extent);

}  // namespace spsolve
