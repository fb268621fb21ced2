// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "halo/communicator.hpp"
#include "io/grid.hpp"
#include "kernels/stencil.hpp"

/// The functions below read datasets that users give: grids, sources and weights, of any integer,
/// floating-point or boolean type, byte order and storage layout. A faulty dataset throws
/// Error(invalid_input) with file and dataset, what was found and what was wanted. Values are scaled and
/// missing values refused by the attributes of netCDF (io/hdf5/number_dataset.hpp). Rows come in any order.
namespace spsolve {

/// Reads a box on each rank of a dataset that must have the shape of the domain, in bounded memory. Values
/// must be finite. A compressed chunk that several boxes share is decoded by one of their ranks only.
/// Collective. All ranks throw the same Error.
void read_boxes(const Communicator& communicator, const std::filesystem::path& file,
                const std::string& dataset, const Domain& domain, const Box& box, const ValueSink& sink);

/// Reads weights of any extents in correlation form: one axis per dimension of the grid; the optional
/// attribute "center" holds the index of the point itself, default extent / 2.
Stencil read_weights(const std::filesystem::path& file, const std::string& dataset, int dimensions);

}  // namespace spsolve
