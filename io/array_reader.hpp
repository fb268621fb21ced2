// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "kernels/domain.hpp"
#include "kernels/stencil.hpp"

/// Datasets that users give: grids, sources and weights, of any integer or floating-point type, byte order
/// and storage layout. What is wrong with them throws Error(invalid_input) naming file and dataset, what was
/// found and wanted.
namespace spsolve {

struct DatasetInfo {
  std::vector<std::int64_t> shape;  // slowest axis first
  std::string type;                 // as numpy names it: "float64", "int32", ...
};

DatasetInfo inspect_dataset(const std::filesystem::path& file, const std::string& dataset);

/// Takes `points` values from `begin` on along x.
using ValueSink = std::function<void(const Index3& begin, std::int64_t points, const double* values)>;

/// Reads one box of a dataset that must have the shape of the domain, in bounded memory. Values must be
/// finite.
void read_box(const std::filesystem::path& file, const std::string& dataset, const Domain& domain,
              const Box& box, const ValueSink& sink);
/// The same into one array, x fastest.
std::vector<double> read_box(const std::filesystem::path& file, const std::string& dataset,
                             const Domain& domain, const Box& box);

/// Reads weights of any extents in correlation form: one axis per dimension of the grid; the optional
/// attribute "center" holds the index of the point itself, default extent / 2.
Stencil read_weights(const std::filesystem::path& file, const std::string& dataset, int dimensions);

}  // namespace spsolve
