// SPDX-License-Identifier: Apache-2.0
#include "halo/loaded_libraries.hpp"

#include <link.h>

namespace spsolve {

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  const auto note = [](dl_phdr_info* library, std::size_t, void* noted) {
    static_cast<std::vector<std::string>*>(noted)->emplace_back(library->dlpi_name);
    return 0;
  };
  dl_iterate_phdr(note, &paths);
  return paths;
}

}  // namespace spsolve
