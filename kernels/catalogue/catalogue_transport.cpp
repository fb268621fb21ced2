// SPDX-License-Identifier: Apache-2.0
// These stencils are from diffusion, relaxation of elliptic problems, fluid dynamics and lattice Boltzmann
// methods.
#include <algorithm>

#include "kernels/catalogue/axis_letters.hpp"
#include "kernels/catalogue/catalogue.hpp"

namespace spsolve {
namespace {

using namespace axis_letters;

/// Returns the Laplacian on 3 x 3 points whose leading error is isotropic.
Formula nine_point_laplacian() { return laplacian(2) + 1.0 / 6 * central(y, 2, 2) * central(x, 2, 2); }

/// Returns the Laplacian on 3 x 3 x 3 points whose leading error is isotropic: faces 14/30, edges 3/30,
/// corners 1/30.
Formula twenty_seven_point_laplacian() {
  const Formula dx = central(x, 2, 2), dy = central(y, 2, 2), dz = central(z, 2, 2);
  return dx + dy + dz + 1.0 / 6 * (dx * dy + dy * dz + dz * dx) + 1.0 / 30 * dx * dy * dz;
}

/// Returns damped Jacobi relaxation for Laplace's equation: u + omega / (2 d) Laplacian.
Formula jacobi(int dimensions, double omega) {
  return 1.0 + omega / (2.0 * dimensions) * laplacian(dimensions);
}

const Formula half_weights_x = symmetric(x, {0.5, 0.25}), half_weights_y = symmetric(y, {0.5, 0.25}),
              half_weights_z = symmetric(z, {0.5, 0.25});

/// Returns the value at the point that the flow comes from, `courant` cells to the left, by Lagrange
/// interpolation through the points `first` to `last`.
Formula advect(int axis, double courant, int first, int last) {
  return interpolate(axis, -courant, first, last);
}

/// Returns the streaming of equilibria for advection and diffusion at relaxation time 1. The weight of p - c
/// is w (1 + c.u / s2 + (c.u)^2 / (2 s2^2) - u^2 / (2 s2)); the last two terms are included if `quadratic`.
Formula stream(int dimensions, const std::vector<double>& weight_of_square, double s2,
               const std::array<double, 3>& u = {}, bool quadratic = false) {
  Formula sum;
  Index3 reach{};
  std::fill(reach.end() - dimensions, reach.end(), 1);
  for_each_point({-1 * reach, reach + Index3{1, 1, 1}}, [&](const Index3& c) {
    const auto square = static_cast<std::size_t>(c[0] * c[0] + c[1] * c[1] + c[2] * c[2]);
    if (square >= weight_of_square.size()) return;
    double along = 0.0, speed2 = 0.0;
    for (int axis = 0; axis < axis_count; ++axis) {
      along += static_cast<double>(c[axis]) * u[axis];
      speed2 += u[axis] * u[axis];
    }
    double equilibrium = 1.0 + along / s2;
    if (quadratic) equilibrium += along * along / (2 * s2 * s2) - speed2 / (2 * s2);
    sum += weight_of_square[square] * equilibrium * Formula::at(-1 * c);
  });
  return sum;
}

std::vector<CatalogueEntry> diffusion_entries() {
  const char* d = "diffusion";
  return {
      finite_difference("heat1d", d, 1,
                        "LeVeque, Finite Difference Methods for ODEs and PDEs (2007), section 9.1",
                        laplace_equation(1, 0.25)),
      time_step(
          "heat1d-sixth", d, 1,
          "Richtmyer and Morton, Difference Methods for Initial-Value Problems (1967), section 8.2: D dt / "
          "h^2 = 1/6",
          1.0 + 1.0 / 6 * laplacian(1), laplace_equation(1, 1.0 / 6), 6),
      finite_difference("heat1d-order4", d, 1, "Fornberg, Math. Comp. 51 (1988) 699, table 1",
                        laplace_equation(1, 0.3), 4),
      finite_difference("heat2d", d, 2, "LeVeque (2007), section 9.7", laplace_equation(2, 0.2)),
      finite_difference("heat2d-order6", d, 2, "Fornberg (1988), table 1", laplace_equation(2, 0.15), 6),
      time_step("heat2d-9point", d, 2,
                "Patra and Karttunen, Numer. Methods PDE 22 (2006) 936: isotropic stencils",
                1.0 + 0.2 * nine_point_laplacian(), laplace_equation(2, 0.2), 4),
      finite_difference(
          "heat2d-anisotropic", d, 2,
          "Günter et al., J. Comput. Phys. 209 (2005) 354: tensor diffusivity, asymmetric differences",
          {{0.2, {0, 0, 2}}, {0.1, {0, 2, 0}}, {0.1, {0, 1, 1}}}),
      finite_difference("heat2d-rk4", d, 2, "LeVeque (2007), sections 5.7 and 9.2", laplace_equation(2, 0.25),
                        4, 4),
      finite_difference("heat3d", d, 3, "LeVeque (2007), section 9.7", laplace_equation(3, 0.15)),
      finite_difference("heat3d-order4", d, 3, "Fornberg (1988), table 1", laplace_equation(3, 0.1), 4),
      finite_difference("heat3d-order8", d, 3, "Fornberg (1988), table 1", laplace_equation(3, 0.08), 8),
      time_step("heat3d-27point", d, 3, "Patra and Karttunen (2006): isotropic stencils",
                1.0 + 0.15 * twenty_seven_point_laplacian(), laplace_equation(3, 0.15), 4),
  };
}

std::vector<CatalogueEntry> solver_entries() {
  const char* d = "linear solvers";
  return {
      smoothing("jacobi1d-damped", d, 1,
                "Briggs, Henson and McCormick, A Multigrid Tutorial (2000), chapter 2: 2/3",
                jacobi(1, 2.0 / 3)),
      smoothing("jacobi2d", d, 2, "Trottenberg, Oosterlee and Schüller, Multigrid (2001), section 2.1",
                jacobi(2, 1.0)),
      smoothing("jacobi2d-damped", d, 2, "Trottenberg, Oosterlee and Schüller (2001), section 2.1: 4/5",
                jacobi(2, 0.8)),
      smoothing("jacobi2d-mehrstellen", d, 2,
                "Collatz, The Numerical Treatment of Differential Equations (1960), table VI",
                1.0 + 0.3 * nine_point_laplacian()),
      smoothing("jacobi3d-damped", d, 3, "Trottenberg, Oosterlee and Schüller (2001), section 2.9: 6/7",
                jacobi(3, 6.0 / 7)),
      smoothing("full-weighting2d", d, 2, "Briggs, Henson and McCormick (2000), chapter 3",
                half_weights_y * half_weights_x),
      smoothing("full-weighting3d", d, 3, "Trottenberg, Oosterlee and Schüller (2001), section 2.9",
                half_weights_z * half_weights_y * half_weights_x),
  };
}

std::vector<CatalogueEntry> fluid_entries() {
  const char* d = "fluid dynamics";
  // These differences are antisymmetric. They and the filter stand in the tables of Tam and Webb and of Bogey
  // and Bailly.
  const Formula drp = symmetric(x, {0, 0.770882380518, -0.166705904415, 0.020843142770}, true);
  const Formula fdo11 = symmetric(
      x, {0, 0.872756993962, -0.286511173973, 0.090320001280, -0.020779405824, 0.002484594688}, true);
  const Formula sfo11 = symmetric(
      x, {0.215044884112, -0.187772883589, 0.123755948787, -0.059227575576, 0.018721609157, -0.002999540835});
  const auto carried = [](double vx, double vy = 0, double vz = 0) {
    return transport_equation({vz, vy, vx}, {});
  };
  return {
      time_step("upwind1d", d, 1, "LeVeque (2007), section 10.4", advect(x, 0.5, -1, 0), carried(0.5), 2),
      time_step("lax-friedrichs1d", d, 1, "LeVeque (2007), section 10.2.3", line(x, -1, {0.9, 0, 0.1}),
                carried(0.8), 2),
      time_step("lax-wendroff1d", d, 1,
                "Lax and Wendroff, Comm. Pure Appl. Math. 13 (1960) 217; LeVeque (2007), section 10.3",
                advect(x, 0.6, -1, 1), carried(0.6), 3),
      time_step("beam-warming1d", d, 1,
                "Warming and Beam, AIAA J. 14 (1976) 1241; LeVeque (2007), section 10.4.2",
                advect(x, 0.6, -2, 0), carried(0.6), 3),
      time_step("fromm1d", d, 1, "Fromm, J. Comput. Phys. 3 (1968) 176",
                0.5 * advect(x, 0.6, -1, 1) + 0.5 * advect(x, 0.6, -2, 0), carried(0.6), 3),
      time_step("quickest1d", d, 1, "Leonard, Comput. Methods Appl. Mech. Eng. 19 (1979) 59",
                advect(x, 0.4, -2, 1), carried(0.4), 4),
      time_step("lax-wendroff2d", d, 2, "Strang, SIAM J. Numer. Anal. 5 (1968) 506: split by axes",
                advect(y, 0.3, -1, 1) * advect(x, 0.4, -1, 1), carried(0.4, 0.3), 3),
      time_step("corner-transport-upwind2d", d, 2, "Colella, J. Comput. Phys. 87 (1990) 171, section 2",
                advect(y, 0.3, -1, 0) * advect(x, 0.4, -1, 0), carried(0.4, 0.3), 2),
      time_step("donor-cell3d", d, 3,
                "LeVeque, Finite Volume Methods for Hyperbolic Problems (2002), section 20.1",
                advect(z, 0.2, -1, 0) + advect(y, 0.3, -1, 0) + advect(x, 0.25, -1, 0) - 2.0,
                carried(0.25, 0.3, 0.2), 2),
      finite_difference("advection-diffusion2d", d, 2,
                        "Hundsdorfer and Verwer, Numerical Solution of Time-Dependent "
                        "Advection-Diffusion-Reaction Equations (2003), section I.3",
                        transport_equation({0, 0.05, 0.1}, {0, 0.2, 0.2})),
      finite_difference("advection-diffusion3d-order4", d, 3, "Hundsdorfer and Verwer (2003), section I.3",
                        transport_equation({0.02, 0.05, 0.1}, {0.1, 0.1, 0.1}), 4),
      time_step("drp-rk4", d, 1,
                "Tam and Webb, J. Comput. Phys. 107 (1993) 262: dispersion-relation-preserving, 7 points",
                runge_kutta(-0.5 * drp, 4), carried(0.5), 5),
      time_step("fdo11-rk4", d, 1, "Bogey and Bailly, J. Comput. Phys. 194 (2004) 194: 11 points",
                runge_kutta(-0.5 * fdo11, 4), carried(0.5), 5),
      smoothing("sfo11-filter", d, 1, "Bogey and Bailly (2004): selective filter of 11 points", 1.0 - sfo11),
      smoothing("les-filter3d", d, 3,
                "Vasilyev, Lund and Moin, J. Comput. Phys. 146 (1998) 82: test filter of large-eddy "
                "simulation, 5 points an axis",
                symmetric(z, {0.625, 0.25, -0.0625}) * symmetric(y, {0.625, 0.25, -0.0625}) *
                    symmetric(x, {0.625, 0.25, -0.0625}),
                4),
  };
}

/// Returns diffusion and advection-diffusion with the weights of velocity sets of lattices. They equal the
/// lattice Boltzmann method at relaxation time 1, where distributions are at equilibrium after every step and
/// a step depends on their sum alone.
std::vector<CatalogueEntry> lattice_entries() {
  const char* d = "transport with lattice weights";
  const std::string
      qian = "Qian, d'Humières and Lallemand, Europhys. Lett. 17 (1992) 479; ",
      kruger =
          "Krüger et al., The Lattice Boltzmann Method (2017), chapter 8: its limit at relaxation time 1";
  const double third = 1.0 / 3;
  const std::vector<double> d2q9{4.0 / 9, 1.0 / 9, 1.0 / 36}, d3q19{1.0 / 3, 1.0 / 18, 1.0 / 36},
      d3q7{0.25, 0.125};
  return {
      time_step("diffusion1d-q3", d, 1, qian + kruger, stream(1, {2.0 / 3, 1.0 / 6}, third),
                laplace_equation(1, third / 2), 6),  // equal to the weights of D dt / h^2 = 1/6
      time_step("diffusion2d-q5", d, 2, kruger, stream(2, {1.0 / 3, 1.0 / 6}, third),
                laplace_equation(2, third / 2), 4),
      time_step("diffusion2d-q9", d, 2, qian + kruger, stream(2, d2q9, third), laplace_equation(2, third / 2),
                6),
      time_step("diffusion3d-q7", d, 3, kruger, stream(3, d3q7, 0.25), laplace_equation(3, 0.125), 4),
      time_step("diffusion3d-q15", d, 3, qian + kruger, stream(3, {2.0 / 9, 1.0 / 9, 0, 1.0 / 72}, third),
                laplace_equation(3, third / 2), 6),
      time_step("diffusion3d-q19", d, 3, qian + kruger, stream(3, d3q19, third),
                laplace_equation(3, third / 2), 6),
      time_step("diffusion3d-q27", d, 3, kruger, stream(3, {8.0 / 27, 2.0 / 27, 1.0 / 54, 1.0 / 216}, third),
                laplace_equation(3, third / 2), 6),
      time_step("advection2d-q5", d, 2, kruger, stream(2, {1.0 / 3, 1.0 / 6}, third, {0, 0.05, 0.1}),
                transport_equation({0, 0.05, 0.1}, {0, third / 2, third / 2}), 2),
      time_step("advection2d-q9", d, 2, qian + kruger, stream(2, d2q9, third, {0, 0.05, 0.1}, true),
                transport_equation({0, 0.05, 0.1}, {0, third / 2, third / 2}), 3),
      time_step("advection3d-q7", d, 3, kruger, stream(3, d3q7, 0.25, {0.03, 0.05, 0.1}),
                transport_equation({0.03, 0.05, 0.1}, {0.125, 0.125, 0.125}), 2),
      time_step("advection3d-q19", d, 3, qian + kruger, stream(3, d3q19, third, {0.03, 0.05, 0.1}, true),
                transport_equation({0.03, 0.05, 0.1}, {third / 2, third / 2, third / 2}), 3),
  };
}

}  // namespace

std::vector<CatalogueEntry> transport_entries() {
  std::vector<CatalogueEntry> all;
  for (const auto& part : {diffusion_entries(), solver_entries(), fluid_entries(), lattice_entries()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

}  // namespace spsolve
