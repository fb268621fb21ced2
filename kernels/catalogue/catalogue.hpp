// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/formula.hpp"

namespace spsolve {

/// coefficient d^(pz + py + px) u / dz^pz dy^py dx^px, in units of the grid spacing and one time step.
struct Derivative {
  double coefficient;
  Index3 powers;  // {pz, py, px}
};

/// What weights stand for: one step of du/dt = sum of derivatives (nothing: they smooth), or those
/// derivatives themselves.
enum class Role { step, derivative };

/// A named stencil with fixed weights from the literature. Applied again and again none of them grows.
struct CatalogueEntry {
  std::string name;
  std::string domain;  // of application
  int dimensions;
  std::string source;  // paper or book with section, equation or table
  Stencil stencil;
  std::vector<Derivative> equation;
  int error_power;  // symbol - exp(equation) (Role::derivative: - equation) = O(theta^error_power)
  Role role = Role::step;
};

/// sum coefficient (i theta)^powers: the growth rate of the wave exp(i theta . p) by an equation.
std::complex<double> exponent(const std::vector<Derivative>& equation, const std::array<double, 3>& theta);

/// "du/dt = 0.2 d2u/dx2 - 0.1 du/dx" of a step, "u' = ..." of derivatives, "a filter" where there is no
/// equation.
std::string equation_text(const CatalogueEntry& entry);

/// All entries, domain by domain.
const std::vector<CatalogueEntry>& catalogue();
/// Null if there is no such name.
const CatalogueEntry* find_in_catalogue(std::string_view name);

/// The parts of the catalogue, one per file.
std::vector<CatalogueEntry> transport_entries();  // diffusion, solvers, fluid dynamics, lattice Boltzmann
std::vector<CatalogueEntry> physics_entries();  // phase field, geophysics, weather, electromagnetics, physics
std::vector<CatalogueEntry> signal_entries();   // image processing, finance, biology

/// For the tables: weights that stand for one step of `equation`, for derivatives themselves, and weights
/// that smooth.
CatalogueEntry time_step(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, std::vector<Derivative> equation, int error_power);
CatalogueEntry derivative(std::string name, std::string domain, int dimensions, std::string source,
                          const Formula& weights, std::vector<Derivative> equation, int error_power);
CatalogueEntry smoothing(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, int error_power = 2);
/// A time step of `equation` by central differences of an order in space and a Runge-Kutta method
/// of an order in time (1: explicit Euler); a constant rate is integrated exactly.
CatalogueEntry finite_difference(std::string name, std::string domain, int dimensions, std::string source,
                                 std::vector<Derivative> equation, int space_order = 2, int time_order = 1);
/// Velocity v and diffusivity D, {z, y, x}, with -rate u.
std::vector<Derivative> transport_equation(const std::array<double, 3>& v, const std::array<double, 3>& D,
                                           double rate = 0.0);
/// Sum of second differences; order 2, 4, ...
Formula laplacian(int dimensions, int order = 2);
std::vector<Derivative> laplace_equation(int dimensions, double coefficient);

}  // namespace spsolve
