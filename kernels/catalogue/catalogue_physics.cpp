// SPDX-License-Identifier: Apache-2.0
// These stencils are from phase field models, geophysics, weather, electromagnetics and physics.

#include "kernels/catalogue/axis_letters.hpp"
#include "kernels/catalogue/catalogue.hpp"

namespace spsolve {
namespace {

using namespace axis_letters;

/// Returns 1 - (-delta^2 / 4)^n along an axis, a filter that removes the shortest wave.
Formula shapiro(int axis, int n) {
  Formula power = 1.0;
  for (int i = 0; i < n; ++i) power = -0.25 * central(axis, 2, 2) * power;
  return 1.0 - power;
}

/// Returns a differential operator, scaled so that its growth factor is at most 1.
CatalogueEntry scaled_operator(std::string name, std::string domain, int dimensions, std::string source,
                               const Formula& formula, std::vector<Derivative> equation, int error_power) {
  const double scale = 1.0 / formula.magnitude();
  for (Derivative& term : equation) term.coefficient *= scale;
  return derivative(std::move(name), std::move(domain), dimensions, std::move(source), scale * formula,
                    std::move(equation), error_power);
}

std::vector<CatalogueEntry> phase_field_entries() {
  const char* d = "phase field";
  const std::string provatas =
      "Provatas and Elder, Phase-Field Methods in Materials Science and Engineering (2010)";
  return {
      finite_difference("allen-cahn2d", d, 2,
                        "Allen and Cahn, Acta Metall. 27 (1979) 1085: linear about a pure phase",
                        transport_equation({}, {0, 0.2, 0.2}, 0.1)),
      finite_difference("allen-cahn3d-order4", d, 3, provatas + ": model A, linear about a pure phase",
                        transport_equation({}, {0.1, 0.1, 0.1}, 0.05), 4),
      finite_difference("cahn-hilliard2d", d, 2,
                        "Cahn and Hilliard, J. Chem. Phys. 28 (1958) 258; " + provatas +
                            ": model B, linear about a pure phase",
                        laplace_polynomial(2, {0, 0.05, -0.01})),
      finite_difference("cahn-hilliard3d", d, 3, provatas + ": model B, linear about a pure phase",
                        laplace_polynomial(3, {0, 0.04, -0.005})),
      finite_difference("swift-hohenberg2d", d, 2,
                        "Swift and Hohenberg, Phys. Rev. A 15 (1977) 319: below onset, epsilon = -1/2",
                        laplace_polynomial(2, {-0.015, -0.02, -0.01})),
      finite_difference("phase-field-crystal2d", d, 2,
                        "Elder and Grant, Phys. Rev. E 70 (2004) 051605: linear, r = 0.3",
                        laplace_polynomial(2, {0, 0.0026, 0.004, 0.002})),
      finite_difference("surface-diffusion1d", d, 1, "Mullins, J. Appl. Phys. 28 (1957) 333",
                        {{-0.05, {0, 0, 4}}}),
      finite_difference("surface-diffusion2d", d, 2, "Mullins (1957): biharmonic",
                        laplace_polynomial(2, {0, 0, -0.01})),
  };
}

std::vector<CatalogueEntry> geophysics_entries() {
  const char* d = "geophysics and seismics";
  return {
      finite_difference("groundwater2d", d, 2,
                        "Wang and Anderson, Introduction to Groundwater Modeling (1982): confined aquifer, "
                        "explicit, anisotropic",
                        transport_equation({}, {0, 0.1, 0.25})),
      finite_difference(
          "pore-pressure3d", d, 3,
          "Shapiro, Huenges and Borm, Geophys. J. Int. 131 (1997) F15: anisotropic hydraulic diffusivity",
          transport_equation({}, {0.05, 0.12, 0.16})),
      finite_difference("hillslope2d", d, 2, "Culling, J. Geol. 68 (1960) 336: soil creep",
                        laplace_equation(2, 0.18)),
      finite_difference("lithosphere1d", d, 1,
                        "Turcotte and Schubert, Geodynamics (2014), section 4.15: cooling half-space",
                        laplace_equation(1, 0.2), 6),
      finite_difference("kinematic-wave1d", d, 1,
                        "Nye, Proc. R. Soc. A 256 (1960) 559: waves on glaciers with diffusion",
                        transport_equation({0, 0, 0.2}, {0, 0, 0.2})),
      scaled_operator(
          "laplacian2d-order4", d, 2,
          "Alford, Kelly and Boore, Geophysics 39 (1974) 834: Laplacian in their acoustic wave equation",
          laplacian(2, 4), laplace_equation(2, 1.0), 6),
      scaled_operator("laplacian2d-order10", d, 2, "Dablain, Geophysics 51 (1986) 54: Laplacian of order 10",
                      laplacian(2, 10), laplace_equation(2, 1.0), 12),
      scaled_operator("laplacian3d-order8", d, 3, "Dablain (1986): Laplacian of order 8", laplacian(3, 8),
                      laplace_equation(3, 1.0), 10),
      finite_difference("one-way-wave1d", d, 1,
                        "Claerbout, Imaging the Earth's Interior (1985), chapter 2: waves of one direction; "
                        "differences of order 8",
                        transport_equation({0, 0, 0.4}, {}), 8, 4),
      smoothing("velocity-smoothing3d", d, 3,
                "Versteeg, Geophysics 58 (1993) 873: smoothed velocity models; Gaussian, 343 points",
                gaussian(z, 1.2, 3) * gaussian(y, 1.2, 3) * gaussian(x, 1.2, 3)),
  };
}

std::vector<CatalogueEntry> weather_entries() {
  const char* d = "weather and climate";
  const auto upwind = [](int axis, int order) {  // wind from the left
    return difference(axis, 1, -(order + 1) / 2, order / 2);
  };
  const auto semi_lagrangian = [](int axis, double courant) { return interpolate(axis, -courant, -2, 1); };
  const auto carried = [](double vx, double vy = 0, double vz = 0) {
    return transport_equation({vz, vy, vx}, {});
  };
  return {
      smoothing("shuman-smoother2d", d, 2, "Shuman, Mon. Weather Rev. 85 (1957) 357: nine points, nu = 1/4",
                (1.0 + 0.125 * central(y, 2, 2)) * (1.0 + 0.125 * central(x, 2, 2))),
      smoothing("shapiro1d-order4", d, 1, "Shapiro, Rev. Geophys. 8 (1970) 359", shapiro(x, 2), 4),
      smoothing("shapiro2d-order4", d, 2, "Shapiro (1970)", shapiro(y, 2) * shapiro(x, 2), 4),
      smoothing("shapiro2d-order8", d, 2, "Shapiro (1970)", shapiro(y, 4) * shapiro(x, 4), 8),
      finite_difference(
          "hyperdiffusion2d", d, 2,
          "Durran, Numerical Methods for Fluid Dynamics (2010), section 3.4: fourth derivatives",
          laplace_polynomial(2, {0, 0, -1.0 / 64})),
      finite_difference("hyperdiffusion2d-order6", d, 2,
                        "Xue, Mon. Weather Rev. 128 (2000) 2853: sixth derivatives",
                        {{0.01, {0, 0, 6}}, {0.01, {0, 6, 0}}}),
      time_step(
          "rk3-upwind5", d, 1,
          "Wicker and Skamarock, Mon. Weather Rev. 130 (2002) 2088: third order in time, fifth in space",
          runge_kutta(-0.6 * upwind(x, 5), 3), carried(0.6), 4),
      time_step("rk3-upwind3-2d", d, 2, "Wicker and Skamarock (2002): third order in time and space",
                runge_kutta(-0.3 * upwind(x, 3) - 0.2 * upwind(y, 3), 3), carried(0.3, 0.2), 4),
      time_step("upstream6", d, 1,
                "Tremback et al., Mon. Weather Rev. 115 (1987) 540: forward-upstream, order 6",
                interpolate(x, -0.4, -3, 3), carried(0.4), 7),
      time_step("semi-lagrangian2d", d, 2,
                "Staniforth and Côté, Mon. Weather Rev. 119 (1991) 2206: cubic interpolation",
                semi_lagrangian(y, 0.3) * semi_lagrangian(x, 0.4), carried(0.4, 0.3), 4),
      time_step("semi-lagrangian3d", d, 3, "Staniforth and Côté (1991): cubic interpolation",
                semi_lagrangian(z, 0.2) * semi_lagrangian(y, 0.3) * semi_lagrangian(x, 0.4),
                carried(0.4, 0.3, 0.2), 4),
      finite_difference("plume3d", d, 3,
                        "Seinfeld and Pandis, Atmospheric Chemistry and Physics (2016), chapter 18: "
                        "diffusion equation of a plume, with deposition",
                        transport_equation({0, 0.02, 0.15}, {0.05, 0.12, 0.12}, 0.001)),
  };
}

std::vector<CatalogueEntry> electromagnetics_entries() {
  const char* d = "electromagnetics";
  const Formula square = symmetric(y, {0, 0.5}) * symmetric(x, {0, 0.5});
  const Formula cross = 0.5 * (symmetric(y, {0, 0.5}) + symmetric(x, {0, 0.5}));
  return {
      finite_difference("magnetic-diffusion2d", d, 2,
                        "Jackson, Classical Electrodynamics (1999), section 5.18", laplace_equation(2, 0.22)),
      finite_difference("magnetic-diffusion3d", d, 3, "Jackson (1999), section 5.18; differences of order 6",
                        laplace_equation(3, 0.09), 6),
      smoothing("electrostatics2d", d, 2, "Jackson (1999), section 1.13: 4/5 cross + 1/5 square average",
                0.8 * cross + 0.2 * square),
      smoothing("electrostatics3d", d, 3,
                "Sadiku, Numerical Techniques in Electromagnetics (2000), chapter 3: six neighbours",
                1.0 + 1.0 / 6 * laplacian(3)),
      finite_difference("cable-rc1d", d, 1,
                        "Thomson (Kelvin), Proc. R. Soc. 7 (1855) 382: telegraph cable with leakage",
                        transport_equation({}, {0, 0, 0.3}, 0.01)),
      finite_difference("drift-diffusion2d", d, 2,
                        "Sze and Ng, Physics of Semiconductor Devices (2007), section 1.8: carriers in a "
                        "constant field, with recombination",
                        transport_equation({0, 0, 0.2}, {0, 0.15, 0.15}, 0.02)),
  };
}

std::vector<CatalogueEntry> particle_entries() {
  const char* d = "quantum and nuclear physics";
  return {
      finite_difference(
          "neutron-diffusion3d", d, 3,
          "Duderstadt and Hamilton, Nuclear Reactor Analysis (1976), chapter 5: one group, absorbing",
          transport_equation({}, {0.14, 0.14, 0.14}, 0.02)),
      finite_difference(
          "imaginary-time3d", d, 3,
          "Chelikowsky, Troullier and Saad, Phys. Rev. Lett. 72 (1994) 1240: kinetic energy of order 12",
          laplace_equation(3, 0.06), 12),
      finite_difference("imaginary-time1d", d, 1,
                        "Chelikowsky, Troullier and Saad (1994): kinetic energy of order 12",
                        laplace_equation(1, 0.2), 12),
  };
}

}  // namespace

std::vector<CatalogueEntry> physics_entries() {
  std::vector<CatalogueEntry> all;
  for (const auto& part : {phase_field_entries(), geophysics_entries(), weather_entries(),
                           electromagnetics_entries(), particle_entries()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace spsolve
