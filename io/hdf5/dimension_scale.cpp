// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/dimension_scale.hpp"

#include <hdf5_hl.h>

namespace spsolve {

Hdf5Id create_dimension_scale(hid_t file, const std::string& name, const std::vector<double>& coordinates) {
  const hsize_t points = coordinates.size();
  const Hdf5Id space(H5Screate_simple(1, &points, nullptr), H5Sclose);
  Hdf5Id scale(H5Dcreate2(file, name.c_str(), H5T_IEEE_F64LE, space, H5P_DEFAULT,
                          timeless_properties(H5P_DATASET_CREATE), H5P_DEFAULT),
               H5Dclose);
  check_hdf5(H5Dwrite(scale, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, coordinates.data()));
  check_hdf5(H5DSset_scale(scale, name.c_str()));
  return scale;
}

void attach_dimension_scale(hid_t file, const std::string& dataset, hid_t scale, int axis) {
  const Hdf5Id values(H5Dopen2(file, dataset.c_str(), H5P_DEFAULT), H5Dclose);
  check_hdf5(H5DSattach_scale(values, scale, static_cast<unsigned>(axis)));
}

}  // namespace spsolve
