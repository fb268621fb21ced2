// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "halo/communicator.hpp"
#include "io/input/config.hpp"
#include "io/input/expression.hpp"

namespace spsolve {

/// Describes a part of an input that gives one value per point of the grid: [initial] and [source], or
/// fields.<name>.initial, fields.<name>.previous and coefficients.<name>.
struct ValueSection {
  std::string name;
  FieldForm form;
  double factor = 1;  // factor of all values: dt for a source that is a rate
};

/// Returns the names of the parts that give the initial values of a field, and a coefficient.
std::string initial_section(const RunConfig& config, const std::string& field);
std::string coefficient_section(const RunConfig& config, const std::string& name);

/// Returns the parts of an input that give values, coefficients first.
std::vector<ValueSection> value_sections(const RunConfig& config);

/// Passes the values on `box` to `sink`, which several threads may call at once. `given` holds the names that
/// formulas may use besides coordinates and constants. Collective. All ranks throw if one finds an error.
void read_values(const Communicator& communicator, const RunConfig& config, const ValueSection& section,
                 const std::vector<GivenValues>& given, const Box& box, const ValueSink& sink);

}  // namespace spsolve
