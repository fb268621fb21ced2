// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "io/hdf5/hdf5.hpp"

namespace spsolve {

/// Creates a dataset /`name` of float64 that holds the coordinates of an axis and is an HDF5 dimension scale:
/// https://support.hdfgroup.org/documentation/hdf5/latest/_h5_d_s__u_g.html
Hdf5Id create_dimension_scale(hid_t file, const std::string& name, const std::vector<double>& coordinates);

/// Makes `scale` the scale of an axis of a dataset, counted from the slowest.
void attach_dimension_scale(hid_t file, const std::string& dataset, hid_t scale, int axis);

}  // namespace spsolve
