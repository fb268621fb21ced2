// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "app/setup/setup.hpp"
#include "app/setup/terminal.hpp"
#include "kernels/sparse/layout_explorer.hpp"

namespace spsolve {

/// Holds the search for the tile of the morph layout, for the fastest candidate of a plan with that layout.
struct LayoutSearch {
  int fuse;           // steps per launch
  MmaShape mma;       // the widest instruction
  std::string rates;  // the device by whose rates tiles are ordered
  std::vector<LayoutCandidate> tiles;
};

/// Searches by the model of SparStencil (equations 6 to 9). Throws Error(invalid_input) if no candidate has
/// the morph layout.
LayoutSearch search_layouts(const Setup& setup, const DeviceModel& device);

/// Prints every tile.
void print_layouts(const LayoutSearch& search, const Terminal& terminal);

/// Returns the search as the text of a JSON file: the device, the steps per launch, and every tile with its
/// instructions of the widest k and of half of it, its density and its times in the model.
std::string layouts_json(const LayoutSearch& search, const Setup& setup);

}  // namespace spsolve
