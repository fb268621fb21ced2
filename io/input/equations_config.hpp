// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/field_form.hpp"
#include "io/language/resolve.hpp"
#include "io/walls_config.hpp"
#include "kernels/domain.hpp"
#include "kernels/operator/system.hpp"

namespace spsolve {

struct Grid;

/// Describes one unknown: a section [fields.<name>] with its walls from [boundary] and [boundary.<name>].
struct FieldConfig {
  std::string name;
  std::optional<FieldForm> initial;            // nothing: 0
  std::optional<FieldForm> previous;           // one step before the first; nothing: as `initial`
  std::array<std::array<Face, 2>, 3> faces{};  // {z, y, x} by {low, high}
  WallsConfig walls{};                         // the values of faces that are filled

  FieldForm initial_or_zero() const { return initial.value_or(ExpressionForm{"0"}); }

  friend bool operator==(const FieldConfig&, const FieldConfig&) = default;
};

/// Describes one value per point of the grid that does not change: a key of [coefficients].
struct CoefficientConfig {
  std::string name;
  FieldForm values;  // an expression may use the coefficients that stand above it

  friend bool operator==(const CoefficientConfig&, const CoefficientConfig&) = default;
};

/// Holds the equations of a step and the meaning of their names: [equations], [fields], [coefficients],
/// [constants] and [stencils]. Fields and coefficients are in the order of the text.
struct EquationsConfig {
  std::string step;  // statements (io/language/parser.hpp)
  std::vector<FieldConfig> fields;
  std::vector<CoefficientConfig> coefficients;
  std::map<std::string, double, std::less<>> constants;
  std::map<std::string, StencilForm, std::less<>> stencils;  // weights for correlate()
  /// Is true if the equations replace [stencil], [initial] and [source] because these cannot express
  /// everything that the input asks for.
  bool of_stencil = false;

  friend bool operator==(const EquationsConfig&, const EquationsConfig&) = default;
};

/// Returns the grid with the walls of each field. If one wall of a field is filled, all its walls are.
std::vector<Domain> domains_of(const EquationsConfig& equations, const Grid& grid);

/// Holds weights by the names of [stencils].
using Stencils = std::map<std::string, Stencil, std::less<>>;

/// Returns the names that statements may use. `stencils` holds the weights of [stencils].
StepNames names_of(const EquationsConfig& equations, const Grid& grid, double dt, Stencils stencils);

/// Returns the statements with every name replaced by its meaning (names_of()). Throws SyntaxError.
System system_of(const EquationsConfig& equations, const Grid& grid, double dt, Stencils stencils);

/// Returns the constants and `dt`, the length of a step; initial values, sources and coefficients may use
/// both.
std::map<std::string, double, std::less<>> with_dt(std::map<std::string, double, std::less<>> constants,
                                                   double dt);

/// Return true if statements, or an expression alone, use one of the names.
bool uses_any(const Syntax& syntax, std::initializer_list<std::string_view> names);
bool uses_any(const std::string& expression, std::initializer_list<std::string_view> names);

}  // namespace spsolve
