// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "kernels/operator/canonical.hpp"
#include "kernels/operator/linear_form.hpp"

namespace spsolve {

enum class Linearity { constant_weights, varying_weights, nonlinear };

/// Describes how an equation depends on fields.
struct Dependence {
  Linearity linearity = Linearity::nonlinear;
  std::vector<int> nonlinear_in;          // fields
  bool has_terms_without_fields = false;  // sources
};

/// Returns how each equation of a system depends on fields, in the order of the statements.
std::vector<Dependence> dependences_of(const Canonical& canonical);

/// Returns the equation as weights per field and level if it is linear with constant weights, and nothing
/// otherwise. Terms without fields are left out. Throws as LinearForm does.
std::optional<std::map<LinearSource, std::vector<Tap>>> constant_weights(const Canonical& canonical,
                                                                         const Reading& equation);

/// Returns the weights of a system that consists of the single equation u.next = sum of weights times u, so
/// that a stencil computes the same bits. Returns nothing for any other system.
std::optional<Stencil> single_stencil(const Canonical& canonical);

}  // namespace spsolve
