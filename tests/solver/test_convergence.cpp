// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "kernels/catalogue/presets.hpp"
#include "solver/evolve.hpp"
#include "tests/support/backends.hpp"
#include "tests/support/blocks.hpp"

namespace spsolve {
namespace {

constexpr double pi = std::numbers::pi;

/// Advances a function of position on [0, 1)^2 (points at i * h) and returns the state.
std::vector<double> solve(Backend& backend, const Domain& domain, const Stencil& stencil, Precision precision,
                          int steps, int fuse, auto&& initial) {
  const Communicator world;
  Block block(world, {domain, stencil, precision, false}, Decomposition(domain.shape, {1, world.size(), 1}),
              fuse, backend);
  block.set_state([&](Field& field) {
    with_storage(precision, [&]<class Storage>() {
      for_each_point(field.owned(),
                     [&](const Index3& p) { *field.at<Storage>(p) = to_storage<Storage>(initial(p)); });
    });
  });
  for (int step = 0; step < steps; step += fuse) block.launch(std::min(fuse, steps - step));
  return testing::gathered(world, domain, block.state());
}

class Convergence : public testing::OnDevice {};
INSTANTIATE_TEST_SUITE_P(Devices, Convergence, testing::devices());

/// A sine is an eigenvector of the step: its amplitude is multiplied exactly by the symbol of the weights.
TEST_P(Convergence, SineModesDecayWithTheDiscreteFactor) {
  const std::int64_t n = 48;
  const double h = 1.0 / n, diffusivity = 0.7, dt = 0.1 * h * h / diffusivity;
  for (const double order : {2.0, 4.0})
    for (const Precision precision : {Precision::fp64, Precision::fp32}) {
      const Domain domain{2, {1, n, n}, {}};
      const Stencil stencil = make_preset("heat", 2, {1, h, h},
                                          {{"diffusivity", {diffusivity}}, {"dt", {dt}}, {"order", {order}}});
      const int ky = 3, kx = 5, steps = 60;
      const auto sine = [&](const Index3& p) {
        return std::sin(2 * pi * static_cast<double>(ky * p[1] + kx * p[2]) / static_cast<double>(n));
      };
      const auto second = [&](int k) {
        const double angle = 2 * pi * k / static_cast<double>(n);
        return (order == 2 ? 2 * std::cos(angle) - 2
                           : -std::cos(2 * angle) / 6 + 8 * std::cos(angle) / 3 - 2.5) /
               (h * h);
      };
      const double factor = 1 + dt * diffusivity * (second(ky) + second(kx));
      const auto found = solve(backend(), domain, stencil, precision, steps, 4, sine);
      const double roundoff = precision == Precision::fp64 ? 0x1p-53 : 0x1p-24;
      const double bound = testing::rounding_bound(stencil, roundoff, steps, 1.0) + steps * 32 * roundoff;
      std::size_t i = 0;
      for_each_point(domain.box(), [&](const Index3& p) {
        ASSERT_NEAR(found[i++], std::pow(factor, steps) * sine(p), bound);
      });
    }
}

struct Row {
  const char* equation;
  const char* walls;
  double order;
  int fuse;
};

constexpr Row rows[] = {{"heat", "periodic", 2, 1},
                        {"heat", "periodic", 4, 3},
                        {"heat", "neumann", 2, 4},
                        {"advection-diffusion", "periodic", 2, 5},
                        {"advection-diffusion", "periodic", 4, 2}};

/// The error against the exact solution must fall with the order of the differences. dt ~ h^order makes the
/// time error negligible.
TEST_P(Convergence, SpatialOrderIsReached) {
  for (const Row& row : rows) {
    SCOPED_TRACE(std::string(row.equation) + " " + row.walls);
    const double diffusivity = 0.05,
                 velocity = row.equation == std::string("advection-diffusion") ? 0.3 : 0.0, end = 0.02;
    const bool walls = row.walls == std::string("neumann");
    const auto error_on = [&](std::int64_t n) {
      const double h = 1.0 / static_cast<double>(n);
      // Explicit Euler is of first order in time, so dt must shrink as h^order for the spatial error to
      // dominate.
      const int steps =
          static_cast<int>(std::llround(row.order == 2 ? 20.0 * static_cast<double>(n * n) / 256
                                                       : 40.0 * static_cast<double>(n * n * n * n) / 65536));
      const double dt = end / steps;
      Domain domain{2, {1, n, n}, {}};
      if (walls)
        domain.faces[y_axis] =
            domain.faces[x_axis] = {Face{BoundaryKind::neumann}, Face{BoundaryKind::neumann}};
      PresetValues values{{"diffusivity", {diffusivity}}, {"dt", {dt}}, {"order", {row.order}}};
      if (velocity != 0) values["velocity"] = {velocity, velocity};
      const Stencil stencil = make_preset(row.equation, 2, {1, h, h}, values);
      // Reflection about faces half a point outside gives cos(pi (i + 1/2) / n); a periodic grid has sin(2 pi
      // (x + y)).
      const auto exact = [&](const Index3& p, double t) {
        const auto y = static_cast<double>(p[1]), x = static_cast<double>(p[2]);
        if (walls)
          return std::exp(-2 * pi * pi * diffusivity * t) * std::cos(pi * (y + 0.5) * h) *
                 std::cos(pi * (x + 0.5) * h);
        return std::exp(-8 * pi * pi * diffusivity * t) * std::sin(2 * pi * ((x + y) * h - 2 * velocity * t));
      };
      const auto found = solve(backend(), domain, stencil, Precision::fp64, steps, row.fuse,
                               [&](const Index3& p) { return exact(p, 0); });
      double squares = 0;
      std::size_t i = 0;
      for_each_point(domain.box(),
                     [&](const Index3& p) { squares += std::pow(found[i++] - exact(p, end), 2); });
      return std::sqrt(squares / static_cast<double>(n * n));
    };
    const double coarse = error_on(16), fine = error_on(32);
    // The asymptotic ratio is 2^order. A tenth of an order is allowed for the next term of the expansion at
    // 16 points.
    EXPECT_GT(std::log2(coarse / fine), row.order - 0.1) << coarse << " to " << fine;
    EXPECT_LT(fine, coarse);
  }
}

}  // namespace
}  // namespace spsolve
