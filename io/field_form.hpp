// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "kernels/catalogue/presets.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// A dataset of an HDF5 file.
struct DatasetForm {
  std::filesystem::path file;  // absolute
  std::string dataset;

  friend bool operator==(const DatasetForm&, const DatasetForm&) = default;
};

/// A formula of x, y, z (those the grid has) and of constants, read by io/input/expression.hpp.
struct ExpressionForm {
  std::string expression;

  friend bool operator==(const ExpressionForm&, const ExpressionForm&) = default;
};

/// How an input gives one value per point of the grid, or per point of a face.
using FieldForm = std::variant<ExpressionForm, DatasetForm>;

/// A named stencil of kernels/catalogue/presets.hpp.
struct PresetForm {
  std::string preset;
  PresetValues parameters;

  friend bool operator==(const PresetForm&, const PresetForm&) = default;
};

/// Weights written into the input: x fastest, correlation form.
struct WeightsForm {
  Index3 extent{1, 1, 1};
  std::vector<double> weights;
  Index3 center{};

  friend bool operator==(const WeightsForm&, const WeightsForm&) = default;
};

/// How an input gives weights.
using StencilForm = std::variant<PresetForm, DatasetForm, WeightsForm>;

}  // namespace spsolve
