// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "kernels/catalogue/presets.hpp"
#include "kernels/stencil.hpp"

namespace spsolve {

/// Says where an input states a value, for the start of a message: "heat.toml:12: [initial] ". The location
/// is no part of the value, so any two locations compare equal.
struct InputLocation {
  std::string text;

  friend bool operator==(const InputLocation&, const InputLocation&) { return true; }
};

/// Names a dataset of an HDF5 file.
struct DatasetForm {
  std::filesystem::path file;  // absolute
  std::string dataset;
  InputLocation at = {};  // the key `file`

  friend bool operator==(const DatasetForm&, const DatasetForm&) = default;
};

/// Holds a formula of x, y, z (those the grid has) and of constants, read by io/input/expression.hpp.
struct ExpressionForm {
  std::string expression;
  InputLocation at = {};  // the key whose text contains the formula

  friend bool operator==(const ExpressionForm&, const ExpressionForm&) = default;
};

/// Returns the start of a message about a dataset: the place where the input names the file, or else the key
/// of the dataset.
inline std::string error_prefix_of(const DatasetForm& form, const std::string& key) {
  return form.at.text.empty() ? key + ".file: " : form.at.text + "file: ";
}

/// Holds the way in which an input gives one value per point of the grid, or per point of a face.
using FieldForm = std::variant<ExpressionForm, DatasetForm>;

/// Names a stencil of kernels/catalogue/presets.hpp.
struct PresetForm {
  std::string preset;
  PresetValues parameters;

  friend bool operator==(const PresetForm&, const PresetForm&) = default;
};

/// Holds weights written into the input: x fastest, correlation form.
struct WeightsForm {
  Index3 extent{1, 1, 1};
  std::vector<double> weights;
  Index3 center{};

  friend bool operator==(const WeightsForm&, const WeightsForm&) = default;
};

/// Holds the way in which an input gives weights.
using StencilForm = std::variant<PresetForm, DatasetForm, WeightsForm>;

/// Returns true if the stencil has a time step of its own.
inline bool has_own_time_step(const StencilForm& stencil) {
  const auto* preset = std::get_if<PresetForm>(&stencil);
  return preset && preset->parameters.contains("dt");
}

}  // namespace spsolve
