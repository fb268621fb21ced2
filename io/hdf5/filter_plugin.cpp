// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5/filter_plugin.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <map>
#include <memory>
#include <new>
#include <string>

#include "halo/loaded_libraries.hpp"
#include "io/hdf5/hdf5.hpp"

namespace spsolve {
namespace {

/// Returns the filter that a library holds as a plug-in of HDF5, or null if it holds none.
const H5Z_class2_t* filter_in(void* library) {
  const auto type = reinterpret_cast<decltype(&H5PLget_plugin_type)>(dlsym(library, "H5PLget_plugin_type"));
  const auto info = reinterpret_cast<decltype(&H5PLget_plugin_info)>(dlsym(library, "H5PLget_plugin_info"));
  if (!type || !info || type() != H5PL_TYPE_FILTER) return nullptr;
  return static_cast<const H5Z_class2_t*>(info());
}

/// Has HDF5 load a filter, and looks for it among the libraries that are loaded.
const H5Z_class2_t* loaded_filter(H5Z_filter_t id) {
  if (id < H5Z_FILTER_RESERVED || H5Zfilter_avail(id) <= 0) return nullptr;
  for (const std::string& library : loaded_libraries()) {
    void* const handle = dlopen(library.c_str(), RTLD_LAZY | RTLD_NOLOAD);
    if (!handle) continue;
    const H5Z_class2_t* const filter = filter_in(handle);
    dlclose(handle);  // HDF5 keeps it loaded
    if (filter && filter->id == id) return filter;
  }
  return nullptr;
}

}  // namespace

const H5Z_class2_t* filter_plugin(H5Z_filter_t id) {
  const auto lock = lock_hdf5();
  static std::map<H5Z_filter_t, const H5Z_class2_t*> known;
  if (const auto found = known.find(id); found != known.end()) return found->second;
  return known[id] = loaded_filter(id);
}

ChunkBytes apply_filter(const H5Z_class2_t& filter, unsigned flags, std::span<const unsigned> parameters,
                        std::span<const std::uint8_t> bytes) {
  std::size_t capacity = std::max<std::size_t>(bytes.size(), 1);
  void* buffer = H5allocate_memory(capacity, false);  // the filter replaces it
  if (!buffer) throw std::bad_alloc();
  std::ranges::copy(bytes, static_cast<std::uint8_t*>(buffer));
  const std::size_t made =
      filter.filter(flags, parameters.size(), parameters.data(), bytes.size(), &capacity, &buffer);
  const std::unique_ptr<void, decltype(&H5free_memory)> owner(buffer, H5free_memory);
  const auto* const begin = static_cast<const std::uint8_t*>(buffer);
  return {begin, begin + made};
}

}  // namespace spsolve
