// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "io/field_form.hpp"

namespace spsolve {

/// Holds coordinates of points, {z, y, x} in the unit of the spacing, or a dataset of shape [points, axes],
/// slowest axis first.
using PointsForm = std::variant<std::vector<std::array<double, 3>>, DatasetForm>;

/// Names how the value of a source is spread over grid points around it.
enum class Interpolation { linear, nearest };
inline constexpr std::array<std::string_view, 2> interpolation_names{"linear", "nearest"};

/// Describes an amount that is added to a field at points in every step, after the statements: a table of
/// [[point_sources]].
struct PointSourceConfig {
  std::string field;
  PointsForm at;
  /// `value` is a formula of t, dt, step, constants, and of coordinates and coefficients at the point; or a
  /// dataset of shape [steps] or [steps, points].
  FieldForm value;
  Interpolation interpolation = Interpolation::linear;

  friend bool operator==(const PointSourceConfig&, const PointSourceConfig&) = default;
};

/// Describes values of fields at points over time, which go to probes.h5: a table of [[probes]].
struct ProbesConfig {
  std::string name;
  std::vector<std::string> fields;
  PointsForm at;
  std::int64_t every = 1;  // steps between rows

  friend bool operator==(const ProbesConfig&, const ProbesConfig&) = default;
};

}  // namespace spsolve
