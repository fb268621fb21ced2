// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/linked_files.hpp"

#include <cstdlib>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/hdf5/trial_reading.hpp"
#include "io/text_file.hpp"

namespace spsolve {
namespace {

namespace fs = std::filesystem;

/// Lists the places of linked_file() in their order.
std::vector<fs::path> places_of(const fs::path& name, const fs::path& file, const char* prefixes) {
  std::vector<fs::path> places;
  if (name.is_absolute()) places.push_back(name);
  const auto relative = name.is_absolute() ? name.filename() : name;
  const auto directory = file.parent_path();
  if (const char* const directories = std::getenv(prefixes)) {
    std::istringstream list(directories);
    for (std::string prefix; std::getline(list, prefix, ':');)
      places.push_back(directory_of(prefix, file) / relative);
  }
  std::error_code none;
  places.insert(places.end(),
                {directory / relative, relative, canonical(file, none).parent_path() / relative});
  return places;
}

/// HDF5 calls this before it opens the file `target` of a link in `file`; -1 refuses.
herr_t refuse_unsafe(const char* file, const char*, const char* target, const char*, unsigned*, hid_t,
                     void*) {
  return linked_file(target, file, link_prefixes).refusal.empty() ? 0 : -1;
}

}  // namespace

fs::path directory_of(const std::string& prefix, const fs::path& file) {
  constexpr std::string_view origin = "${ORIGIN}";
  return prefix.starts_with(origin) ? file.parent_path().string() + prefix.substr(origin.size()) : prefix;
}

LinkedFile linked_file(const fs::path& name, const fs::path& file, const char* prefixes) {
  for (const fs::path& place : places_of(name, file, prefixes)) {
    std::string refusal = is_stream(place) ? refusal_of_stream : failure_of_trial(place);
    if (!refusal.empty()) return {place, std::move(refusal), {}};
    if (const hid_t id = H5Fopen(place.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT); id >= 0)
      return {place, "", Hdf5Id(id, H5Fclose)};
  }
  return {};
}

void refuse_unsafe_links() {
  for (const hid_t defaults : {H5P_LINK_ACCESS_DEFAULT, H5P_GROUP_ACCESS_DEFAULT, H5P_DATASET_ACCESS_DEFAULT})
    check_hdf5(H5Pset_elink_cb(defaults, refuse_unsafe, nullptr));
}

}  // namespace spsolve
