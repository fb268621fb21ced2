// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace spsolve {

/// Describes a system of equations that benchmarks measure. Grids have spacing 1. A step of length `dt` is
/// stable if fields begin between 0 and 1 and coefficients lie between 0.5 and 1.
struct CatalogueSystem {
  std::string name;  // ends in its number of dimensions
  int dimensions;
  std::vector<std::string> fields, coefficients;
  std::string step;  // equations, in the language of inputs
  double dt;
};

/// Returns the systems: waves with a speed that varies (acoustic) and a constant one (wave), of second and
/// eighth order in space; reactions and diffusion (Gray and Scott; FitzHugh and Nagumo; Fisher);
/// Schroedinger's equation in a potential; heat conduction in flux form, in two materials, and diffusion with
/// a mask; sound, elastic waves (P and SV) and Maxwell's equations on staggered grids; upwind advection, by a
/// rotating wind too; the lattice Boltzmann method.
std::vector<CatalogueSystem> catalogue_systems();

}  // namespace spsolve
