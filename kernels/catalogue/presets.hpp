// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/stencil.hpp"

namespace spsolve {

/// What a preset takes: one number, or one per axis.
struct PresetParameter {
  std::string_view name;
  bool required;
  std::string_view meaning;  // unit, range and default
};

/// A named family of stencils, one benchmark shape, or an entry of the catalogue.
struct Preset {
  std::string name;
  std::string meaning;
  std::vector<PresetParameter> parameters;
};

/// Parameter values by name: one number, or one per axis, slowest first.
using PresetValues = std::map<std::string, std::vector<double>>;

/// A parameter that is missing, or whose value does not do; `parameter` is empty where the preset itself does
/// not fit.
class PresetError : public std::invalid_argument {
 public:
  PresetError(std::string parameter_name, const std::string& message)
      : std::invalid_argument(message), parameter(std::move(parameter_name)) {}
  std::string parameter;
};

/// heat, advection-diffusion and box-filter, in this order, with what they take.
const std::vector<Preset>& parameter_presets();

/// A preset by name: one of parameter_presets(), or a benchmark shape: (star|box|random)<d>d<r>r of any
/// dimension and radius, 1d<r>r; or a name of the catalogue (kernels/catalogue.hpp). Nothing if there is no
/// such name.
std::optional<Preset> find_preset(std::string_view name);

/// Names to show to a user, benchmark shapes by their best known examples.
std::vector<std::string> preset_names();

/// The dimension a benchmark shape or an entry of the catalogue is made for; nothing for presets of any
/// dimension.
std::optional<int> preset_dimensions(std::string_view name);

/// Weights of one time step on a grid of `dimensions` with `spacing` {z, y, x}.
///
/// heat:                 u' = u + dt sum_a D_a d2u/da2
/// advection-diffusion:  u' = u + dt sum_a (D_a d2u/da2 - v_a du/da)
/// by explicit Euler and the central differences of order 2 or 4 (B. Fornberg, Math. Comp. 51 (1988) 699,
/// table 1):
///   d2u/da2  [1 -2 1] / h^2       or  [-1/12 4/3 -5/2 4/3 -1/12] / h^2
///   du/da    [-1/2 0 1/2] / h     or  [1/12 -2/3 0 2/3 -1/12] / h
/// Ghost points of dirichlet walls hold the constant in both layers, so order 4 is of first order beside
/// them.
///
/// box-filter: the mean over the points within `radius` on each axis.
/// Benchmark shapes: weights in proportion to 1 / (1 + |offset|^2) over the star or box, or to random numbers
/// in [0.1, 1) over a box, always the same; sum 1, all positive, so the growth factor is 1. A box of them is
/// not separable, and a random one has full rank.
///
/// Throws PresetError.
Stencil make_preset(std::string_view name, int dimensions, const std::array<double, 3>& spacing,
                    const PresetValues& values);

/// The largest time step for which explicit Euler amplifies no wave of the grid, from a step of size dt:
/// the smallest -2 Re(lambda) / |lambda|^2, lambda = (symbol - 1) / dt. 0 if no step is stable, infinite if
/// all are. By a shape alone: on a periodic grid.
double largest_stable_dt(const Stencil& step, double dt, const Domain& domain);
double largest_stable_dt(const Stencil& step, double dt, const Index3& shape);

}  // namespace spsolve
