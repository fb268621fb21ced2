// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

#include "halo/communicator.hpp"
#include "io/grid.hpp"
#include "kernels/stencil.hpp"

/// Datasets that users give: grids, sources and weights, of any integer or floating-point type or booleans,
/// and of any byte order and storage layout. What is wrong with them throws Error(invalid_input) naming file
/// and dataset, what was found and wanted. Values are scaled and missing values refused as the attributes of
/// netCDF say (io/hdf5/number_dataset.hpp). Rows come in any order.
namespace spsolve {

/// Reads one box of a dataset that must have the shape of the domain, in bounded memory. Values must be
/// finite.
void read_box(const std::filesystem::path& file, const std::string& dataset, const Domain& domain,
              const Box& box, const ValueSink& sink);

/// Reads the boxes of all ranks, as read_box() does. A compressed chunk that several boxes share is decoded
/// by one of their ranks only. Collective. All ranks throw the same Error.
void read_boxes(const Communicator& communicator, const std::filesystem::path& file,
                const std::string& dataset, const Domain& domain, const Box& box, const ValueSink& sink);

/// Reads weights of any extents in correlation form: one axis per dimension of the grid; the optional
/// attribute "center" holds the index of the point itself, default extent / 2.
Stencil read_weights(const std::filesystem::path& file, const std::string& dataset, int dimensions);

}  // namespace spsolve
