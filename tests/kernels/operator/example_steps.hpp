// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <random>
#include <string>
#include <vector>

#include "io/language/parser.hpp"
#include "io/language/resolve.hpp"
#include "tests/support/step_context.hpp"

namespace spsolve::testing {

/// Holds a step as text with the names that it uses.
struct ExampleStep {
  std::string name;
  StepNames names;
  std::string step;
  bool two_levels = false;  // reads values of the step before
};

inline System system_of(const ExampleStep& example) {
  return resolve_step(parse_step(example.step), example.names);
}

/// Returns the systems that inputs/ has, with time steps that are stable where coefficients are between 0.1
/// and 1.
inline std::vector<ExampleStep> example_steps() {
  const auto names = [](int dimensions, std::vector<std::string> fields,
                        std::vector<std::string> coefficients = {}) {
    StepNames given;
    given.dimensions = dimensions;
    given.spacing = {1.25, 0.75, 1.0};
    given.dt = 0.125;
    given.fields = std::move(fields);
    given.coefficients = std::move(coefficients);
    return given;
  };
  std::vector<ExampleStep> examples;
  for (const int dimensions : {2, 3})
    examples.push_back({"acoustic waves with a sponge in " + std::to_string(dimensions) + "D",
                        names(dimensions, {"p"}, {"c", "damp"}),
                        R"(
      lap    = laplace(p, order=8)    # a shorthand
      p.next = damp*(2*p - damp*p.previous + (c*dt)^2 * lap)
    )",
                        true});
  examples.push_back(
      {"standing wave", names(2, {"u"}), "c = 0.8; u.next = 2*u - u.previous + (c*dt)^2*laplace(u)", true});
  {
    ExampleStep gray_scott{"Gray-Scott", names(2, {"u", "v"}), R"(
      r = u*v^2
      u.next = u + dt*(Du*laplace(u) - r + F*(1 - u))
      v.next = v + dt*(Dv*laplace(v) + r - (F + k)*v)
    )"};
    gray_scott.names.constants = {{"Du", 0.16}, {"Dv", 0.08}, {"F", 0.035}, {"k", 0.065}};
    examples.push_back(gray_scott);
  }
  examples.push_back({"heat in two materials", names(3, {"T"}, {"k", "capacity"}), R"(
      kx = mean(k, x, at=0.5); ky = mean(k, y, at=0.5)
      kz = mean(k, z, at=0.5)
      T.next = T + dt/capacity*( d(kx*d(T, x, at=0.5), x, at=-0.5)
                               + d(ky*d(T, y, at=0.5), y, at=-0.5)
                               + d(kz*d(T, z, at=0.5), z, at=-0.5) )
    )"});
  examples.push_back(
      {"flux form in 1D", names(1, {"T"}, {"k"}), "T.next = T + dt*d(k*d(T, x, at=0.5), x, at=-0.5)"});
  examples.push_back({"Yee in 2D", names(2, {"ex", "ey", "hz"}, {"eps"}), R"(
      hz.next = hz + dt*(d(ex, y, at=0.5) - d(ey, x, at=0.5))
      ex.next = ex + dt/eps*d(hz.next, y, at=-0.5)
      ey.next = ey - dt/eps*d(hz.next, x, at=-0.5)
    )"});
  examples.push_back({"Yee in 3D", names(3, {"ex", "ey", "ez", "hx", "hy", "hz"}, {"eps"}), R"(
      hx.next = hx - dt*(d(ez, y, at=0.5) - d(ey, z, at=0.5))
      hy.next = hy - dt*(d(ex, z, at=0.5) - d(ez, x, at=0.5))
      hz.next = hz - dt*(d(ey, x, at=0.5) - d(ex, y, at=0.5))
      ex.next = ex + dt/eps*(d(hz.next, y, at=-0.5) - d(hy.next, z, at=-0.5))
      ey.next = ey + dt/eps*(d(hx.next, z, at=-0.5) - d(hz.next, x, at=-0.5))
      ez.next = ez + dt/eps*(d(hy.next, x, at=-0.5) - d(hx.next, y, at=-0.5))
    )"});
  examples.push_back(
      {"elastic P-SV waves", names(2, {"vx", "vy", "sxx", "syy", "sxy"}, {"rho", "lambda", "mu"}), R"(
      vx.next = vx + dt/rho*(d(sxx, x, at=0.5, order=4) + d(sxy, y, at=-0.5, order=4))
      vy.next = vy + dt/mean(rho, y, at=0.5)*(d(sxy, x, at=-0.5, order=4) + d(syy, y, at=0.5, order=4))
      exx = d(vx.next, x, at=-0.5, order=4)
      eyy = d(vy.next, y, at=-0.5, order=4)
      sxx.next = sxx + dt*((lambda + 2*mu)*exx + lambda*eyy)
      syy.next = syy + dt*(lambda*exx + (lambda + 2*mu)*eyy)
      sxy.next = sxy + dt*mu*(d(vx.next, y, at=0.5, order=4) + d(vy.next, x, at=0.5, order=4))
    )"});
  examples.push_back({"Schroedinger", names(1, {"re", "im"}, {"V"}), R"(
      re.next = re + dt*(-0.5*laplace(im) + V*im)
      im.next = im - dt*(-0.5*laplace(re.next) + V*re.next)
    )"});
  examples.push_back({"upwind advection", names(2, {"u"}, {"wx", "wy"}), R"(
      back_x = u - u[0, -1]; ahead_x = u[0, 1] - u
      back_y = u - u[-1, 0]; ahead_y = u[1, 0] - u
      u.next = u - dt*( max(wx - 0.5, 0)*back_x + min(wx - 0.5, 0)*ahead_x
                      + max(wy - 0.5, 0)*back_y + min(wy - 0.5, 0)*ahead_y )
    )"});
  examples.push_back({"Fisher-KPP", names(2, {"u"}), "u.next = u + dt*(0.1*laplace(u) + u*(1 - u))"});
  examples.push_back({"FitzHugh-Nagumo", names(2, {"v", "w"}), R"(
      v.next = v + dt*(laplace(v)*0.2 + v - v^3/3 - w + 0.5)
      w.next = w + dt*0.08*(v + 0.7 - 0.8*w)
    )"});
  examples.push_back({"masked domain", names(2, {"u"}, {"mask"}), R"(
      inside = mask > 0.4
      u.next = inside ? u + dt*0.2*( (mask[0, 1] > 0.4 ? u[0, 1] - u : 0) + (mask[0, -1] > 0.4 ? u[0, -1] - u : 0)
                                   + (mask[1, 0] > 0.4 ? u[1, 0] - u : 0) + (mask[-1, 0] > 0.4 ? u[-1, 0] - u : 0) ) : 0
    )"});
  examples.push_back({"sources of time and place", names(2, {"u", "v"}, {"g"}), R"(
      u.next = u + dt*(0.3*laplace(u) + g*x)  # a constant one
      v.next = 0.5*v + dt*ricker(t - 0.3, 2)*exp(-x^2 - y^2)*g + step*sin(t)/100 + mean(u.next^2, x, at=0.5)[0, 1]
    )"});
  examples.push_back({"coordinates in coefficients", names(2, {"u", "v"}), R"(
      v.next = v/2 + x*u/64
      u.next = u + dt*(1 + (x + 3*y)/64)*laplace(u) + v.next/8
    )"});
  examples.push_back({"sound on a staggered grid", names(3, {"p", "vx", "vy", "vz"}, {"rho"}), R"(
      vx.next = vx - dt/rho*d(p, x, at=0.5)
      vy.next = vy - dt/rho*d(p, y, at=0.5)
      vz.next = vz - dt/rho*d(p, z, at=0.5)
      p.next = p - dt*(d(vx.next, x, at=-0.5) + d(vy.next, y, at=-0.5) + d(vz.next, z, at=-0.5))
    )"});
  examples.push_back({"cellular patterns", names(2, {"u"}), R"(
      corners = u[-1, -1] + u[-1, 1] + u[1, -1] + u[1, 1]
      u.next = u + dt*(0.1*corners + 0.2*(u[-1, 0] + u[1, 0] + u[0, -1] + u[0, 1]) - 1.2*u + u*(1 - u^2))
    )"});
  examples.push_back({"cubic patterns", names(3, {"u"}), R"(
      edges = mean(mean(u, x, at=0.5), y, at=0.5) + mean(mean(u, y, at=0.5), z, at=-0.5) + mean(mean(u, z, at=0.5), x, at=-0.5)
      corners = u[-1, -1, -1] + u[1, -1, 1] + u[-1, 1, 1] + u[1, 1, 1]
      u.next = u + dt*(0.1*corners + 0.2*edges + 0.1*laplace(u) - u*edges + u*(1 - u^2))
    )"});
  examples.push_back({"crystal that grows by its slope", names(3, {"u"}, {"k"}), R"(
      flux_z = (k + d(u, y)^2 + d(u, x)^2)*d(u, z, at=0.5)
      flux_y = (k + mean(d(u, x)^2, y, at=0.5))*d(u, y, at=0.5)
      u.next = u + dt*0.2*(d(flux_z, z, at=-0.5) + d(flux_y, y, at=-0.5))
    )"});
  examples.push_back({"heat in two materials, fourth order", names(2, {"T"}, {"k"}), R"(
      T.next = T + 0.5*dt*( d(k*d(T, x, at=0.5, order=4), x, at=-0.5, order=4)
                          + d(k*d(T, y, at=0.5, order=4), y, at=-0.5, order=4) )
    )"});
  examples.push_back({"drift by a coordinate", names(2, {"u", "v"}), R"(
      u.next = u + dt*(d(0.25*x*mean(u, x, at=0.5), x, at=-0.5) - 0.2*d(y*u, y))
      v.next = v + dt*(laplace(u.next)/8 + 0.1*d((x + y)*u.next, x))
    )"});
  return examples;
}

/// Holds a small grid of odd extents with walls of any kind, and coefficients and fields between 0.1 and 1.
struct RandomProblem {
  RandomProblem(const ExampleStep& example, std::mt19937& random, std::int64_t longest = 7) {
    const int dimensions = example.names.dimensions;
    const auto below = [&](int n) { return std::uniform_int_distribution<int>(0, n - 1)(random); };
    std::uniform_real_distribution<double> value(0.1, 1.0);
    Domain domain;
    domain.dimensions = dimensions;
    for (int axis = axis_count - dimensions; axis < axis_count; ++axis)
      domain.shape[axis] = 1 + below(static_cast<int>(longest));
    context.spacing = example.names.spacing;
    context.origin = {-0.5, 0.25, 0.125};
    context.dt = example.names.dt;
    context.fields.assign(example.names.fields.size(), domain);
    for (int axis = axis_count - dimensions; axis < axis_count; ++axis) {
      if (below(3) == 0) continue;  // periodic for all
      for (Domain& field : context.fields) {
        const bool is_zero = below(3) == 0;  // both walls of the axis have the value 0
        for (Face& face : field.faces[axis])
          face = is_zero    ? Face{BoundaryKind::dirichlet, 0.0}
                 : below(2) ? Face{BoundaryKind::neumann}
                            : Face{BoundaryKind::dirichlet, value(random)};
      }
    }
    const auto array = [&] {
      std::vector<double> values(volume(domain.shape));
      for (double& v : values) v = value(random);
      return values;
    };
    for (std::size_t i = 0; i < example.names.coefficients.size(); ++i)
      context.coefficients.push_back(array());
    for (std::size_t i = 0; i < example.names.fields.size(); ++i) {
      state.now.push_back(array());
      state.previous.push_back(array());
    }
    state.step = below(5);
  }

  /// Gives all arrays another shape, and random values from 0.1 to 1.
  void resize(const Index3& shape, std::mt19937& random) {
    std::uniform_real_distribution<double> value(0.1, 1.0);
    for (Domain& domain : context.fields) domain.shape = shape;
    for (auto* arrays : {&context.coefficients, &state.now, &state.previous})
      for (auto& array : *arrays) {
        array.resize(static_cast<std::size_t>(volume(shape)));
        for (double& element : array) element = value(random);
      }
  }

  StepContext context;
  SystemState<double> state;
};

}  // namespace spsolve::testing
