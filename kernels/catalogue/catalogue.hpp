// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <complex>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/formula.hpp"

namespace spsolve {

/// Represents the term coefficient d^(pz + py + px) u / dz^pz dy^py dx^px, in units of the grid spacing and
/// of one time step.
struct Derivative {
  double coefficient;
  Index3 powers;  // {pz, py, px}
};

/// Names the meaning of weights: one step of du/dt = sum of derivatives (without derivatives: a smoothing
/// filter), or the derivatives themselves.
enum class Role { step, derivative };

/// Describes a named stencil with fixed weights from the literature, whose repeated application is von
/// Neumann stable.
struct CatalogueEntry {
  std::string name;
  std::string domain;  // field of application
  int dimensions;
  std::string source;  // paper or book with section, equation or table
  Stencil stencil;
  std::vector<Derivative> equation;
  int error_power;  // symbol - exp(equation), or symbol - equation for Role::derivative, is
                    // O(theta^error_power)
  Role role = Role::step;
};

/// Returns sum coefficient (i theta)^powers: the growth rate of the wave exp(i theta . p) in the equation.
std::complex<double> exponent(const std::vector<Derivative>& equation, const std::array<double, 3>& theta);

/// Returns "du/dt = 0.2 d2u/dx2 - 0.1 du/dx" for a step, "u' = ..." for derivatives, and "a filter" if there
/// is no equation.
std::string equation_text(const CatalogueEntry& entry);

/// Returns all entries, ordered by field of application.
const std::vector<CatalogueEntry>& catalogue();
/// Returns the entry of that name, or null if there is none.
const CatalogueEntry* find_in_catalogue(std::string_view name);

/// Return the parts of the catalogue, one per file.
std::vector<CatalogueEntry> transport_entries();  // diffusion, solvers, fluid dynamics, lattice weights
std::vector<CatalogueEntry> physics_entries();  // phase field, geophysics, weather, electromagnetics, physics
std::vector<CatalogueEntry> signal_entries();   // image processing, finance, biology

/// Return entries of the catalogue: weights that take one step of `equation`, weights that compute the
/// derivatives, and weights that smooth.
CatalogueEntry time_step(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, std::vector<Derivative> equation, int error_power);
CatalogueEntry derivative(std::string name, std::string domain, int dimensions, std::string source,
                          const Formula& weights, std::vector<Derivative> equation, int error_power);
CatalogueEntry smoothing(std::string name, std::string domain, int dimensions, std::string source,
                         const Formula& weights, int error_power = 2);
/// Returns a time step of `equation` by central differences of order `space_order` and a Runge-Kutta method
/// of order `time_order` (1: explicit Euler). A constant rate is integrated exactly.
CatalogueEntry finite_difference(std::string name, std::string domain, int dimensions, std::string source,
                                 std::vector<Derivative> equation, int space_order = 2, int time_order = 1);
/// Returns advection by velocity v and diffusion by D, both {z, y, x}, with decay -rate u.
std::vector<Derivative> transport_equation(const std::array<double, 3>& v, const std::array<double, 3>& D,
                                           double rate = 0.0);
/// Returns the sum of second differences; `order` is 2, 4, ...
Formula laplacian(int dimensions, int order = 2);
/// Return equations: the sum of coefficients[n] times the n-th power of the Laplacian, and `coefficient`
/// times the Laplacian itself.
std::vector<Derivative> laplace_polynomial(int dimensions, std::initializer_list<double> coefficients);
std::vector<Derivative> laplace_equation(int dimensions, double coefficient);

}  // namespace spsolve
