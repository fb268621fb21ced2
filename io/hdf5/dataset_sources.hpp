// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>

namespace spsolve {

/// Returns the path of the file that holds an object.
std::filesystem::path file_of(hid_t object);

/// Names a file from which a dataset takes values and that HDF5 must not open, and says why, as
/// LinkedFile::refusal does: its raw file, a source if it is virtual, or what its sources take values from.
/// Returns an empty text if there is none. HDF5 opens some sources as soon as it is asked for the extent of
/// the dataset. This function asks for none.
std::string unsafe_source(hid_t dataset);

/// Says which values of a dataset should be stored elsewhere but are missing: a source of a virtual dataset
/// that is missing or too small, points that no source covers, or a raw file that is missing or too short.
/// HDF5 reads fill values in their place. Virtual datasets that refer to each other in a circle, which crash
/// the HDF5 library, have no values either. Returns an empty text if nothing is missing, else a clause
/// that begins with "is virtual, and". unsafe_source() must have found none.
std::string what_is_missing(hid_t dataset);

/// Says how many chunks of a dataset were never written. Returns an empty text if all were, or if it has no
/// chunks. The dataset must have fewer than 2^64 points.
std::string unwritten_chunks(hid_t dataset);

/// Says that values of a dataset were never written, so that HDF5 would return zeros for them. Returns an
/// empty text if all were written or the dataset has a fill value of its own, which is then meant.
std::string unwritten_values(hid_t dataset);

}  // namespace spsolve
