// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/linked_files.hpp"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>

#include "io/hdf5/hdf5.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// HDF5 calls this before it opens the file `target` of a link in `file`; -1 refuses.
herr_t refuse_stream(const char* file, const char*, const char* target, const char*, unsigned*, hid_t,
                     void*) {
  return std::ranges::any_of(places_of(target, file, "HDF5_EXT_PREFIX"), is_stream) ? -1 : 0;
}

}  // namespace

std::vector<fs::path> places_of(const fs::path& name, const fs::path& file, const char* prefixes) {
  std::vector<fs::path> places;
  if (name.is_absolute()) places.push_back(name);
  const auto relative = name.is_absolute() ? name.filename() : name;
  const auto directory = file.parent_path();
  if (const char* const directories = std::getenv(prefixes)) {
    std::istringstream list(directories);
    for (std::string prefix; std::getline(list, prefix, ':');) {
      constexpr std::string_view origin = "${ORIGIN}";
      const bool beside = prefix.starts_with(origin);
      places.push_back(fs::path(beside ? directory.string() + prefix.substr(origin.size()) : prefix) /
                       relative);
    }
  }
  std::error_code none;
  places.insert(places.end(),
                {directory / relative, relative, canonical(file, none).parent_path() / relative});
  return places;
}

void refuse_links_to_streams() {
  for (const hid_t defaults : {H5P_LINK_ACCESS_DEFAULT, H5P_GROUP_ACCESS_DEFAULT, H5P_DATASET_ACCESS_DEFAULT})
    check_hdf5(H5Pset_elink_cb(defaults, refuse_stream, nullptr));
}

}  // namespace spsolve
