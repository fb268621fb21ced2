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

/// Describes a parameter of a preset: one number, or one per axis.
struct PresetParameter {
  std::string_view name;
  bool required;
  std::string_view meaning;  // unit, range and default
};

/// Describes a named family of stencils, one benchmark shape, or one entry of the catalogue.
struct Preset {
  std::string name;
  std::string meaning;
  std::vector<PresetParameter> parameters;
};

/// Holds parameter values by name: one number, or one per axis, slowest first.
using PresetValues = std::map<std::string, std::vector<double>>;

/// Reports a parameter that is missing or has an invalid value. `parameter` is empty if the preset itself
/// does not fit the grid.
class PresetError : public std::invalid_argument {
 public:
  PresetError(std::string parameter_name, const std::string& message)
      : std::invalid_argument(message), parameter(std::move(parameter_name)) {}
  std::string parameter;
};

/// Returns heat, advection-diffusion and box-filter, in this order, with their parameters.
const std::vector<Preset>& parameter_presets();

/// Returns a preset by name, or nothing if there is none. The name is one of parameter_presets(), a benchmark
/// shape ((star|box|random)<d>d<r>r of any dimension and radius, or 1d<r>r), or a name of the catalogue
/// (kernels/catalogue/catalogue.hpp).
std::optional<Preset> find_preset(std::string_view name);

/// Returns names to show to a user. Benchmark shapes are represented by their best known examples.
std::vector<std::string> preset_names();

/// Returns the dimensions that a benchmark shape or a catalogue entry is made for, or nothing for presets of
/// any dimension.
std::optional<int> preset_dimensions(std::string_view name);

/// Returns the weights of one time step on a grid of `dimensions` with `spacing` {z, y, x}. Throws
/// PresetError.
///
/// heat:                 u' = u + dt sum_a D_a d2u/da2
/// advection-diffusion:  u' = u + dt sum_a (D_a d2u/da2 - v_a du/da)
/// by explicit Euler and central differences of order 2 or 4 (B. Fornberg, Math. Comp. 51 (1988) 699, table
/// 1):
///   d2u/da2  [1 -2 1] / h^2       or  [-1/12 4/3 -5/2 4/3 -1/12] / h^2
///   du/da    [-1/2 0 1/2] / h     or  [1/12 -2/3 0 2/3 -1/12] / h
/// Ghost points of dirichlet walls hold the constant in both layers, so order 4 is of first order beside
/// them.
///
/// box-filter is the mean over the points within `radius` on each axis.
///
/// Benchmark shapes have weights proportional to 1 / (1 + |offset|^2) over a star or box, or proportional to
/// random numbers in [0.1, 1) over a box (the same numbers in every run). The weights are positive and sum to
/// 1, so the growth factor is 1. A box of the first kind is not separable, and a random one has full rank.
Stencil make_preset(std::string_view name, int dimensions, const std::array<double, 3>& spacing,
                    const PresetValues& values);

/// Returns the largest time step for which explicit Euler is von Neumann stable, given a step of size
/// dt: the smallest -2 Re(lambda) / |lambda|^2, where lambda = (symbol - 1) / dt. Returns 0 if no time step
/// is stable and infinity if all are.
double largest_stable_dt(const Stencil& step, double dt, const Domain& domain);
/// Returns the largest stable time step on the periodic grid of `shape`.
double largest_stable_dt(const Stencil& step, double dt, const Index3& shape);

}  // namespace spsolve
