// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <string>

namespace spsolve {

/// What of a dataset lies elsewhere and is not there: a source of a virtual dataset that is missing or too
/// small, points that no source has, a raw file that is missing or too short. HDF5 reads fill values for
/// them. Empty where nothing is missing, else "is virtual, and ...".
std::string what_is_missing(hid_t dataset);

}  // namespace spsolve
