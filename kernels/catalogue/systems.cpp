// SPDX-License-Identifier: Apache-2.0
#include "kernels/catalogue/systems.hpp"

#include <algorithm>
#include <string>
#include <string_view>

namespace spsolve {
namespace {

/// Returns the names of the axes of a grid.
std::string_view axes_of(int dimensions) {
  return std::string_view("xyz").substr(0, static_cast<std::size_t>(dimensions));
}

/// Returns a text in which every "@" is replaced by the name of an axis.
std::string along(char axis, std::string text) {
  std::ranges::replace(text, '@', axis);
  return text;
}

/// Returns the sum of a term for all axes of a grid, which it names "@".
std::string sum_over_axes(int dimensions, const std::string& term) {
  std::string sum;
  for (const char axis : axes_of(dimensions)) sum += (sum.empty() ? "" : " + ") + along(axis, term);
  return sum;
}

/// Returns sound as pressure and velocities on a staggered grid.
CatalogueSystem sound(int dimensions) {
  CatalogueSystem system{"sound", dimensions, {"p"}, {"rho"}, "", 0.3};
  for (const char axis : axes_of(dimensions)) {
    system.fields.push_back(along(axis, "v@"));
    system.step += along(axis, "v@.next = v@ - dt/rho*d(p, @, at=0.5)\n");
  }
  system.step += "p.next = p - dt*(" + sum_over_axes(dimensions, "d(v@.next, @, at=-0.5)") + ")";
  return system;
}

/// Returns the systems that grids of any number of dimensions have.
std::vector<CatalogueSystem> systems_in(int dimensions) {
  std::vector<CatalogueSystem> systems;
  for (const std::string order : {"2", "8"}) {
    const std::string laplace = "laplace(p, order=" + order + ")";
    systems.push_back({"acoustic" + order,
                       dimensions,
                       {"p"},
                       {"c"},
                       "p.next = 2*p - p.previous + (c*dt)^2*" + laplace,
                       0.3});
    systems.push_back(
        {"wave" + order, dimensions, {"p"}, {}, "p.next = 2*p - p.previous + dt^2*" + laplace, 0.3});
  }
  systems.push_back({"gray_scott",
                     dimensions,
                     {"u", "v"},
                     {},
                     "r = u*v^2\n"
                     "u.next = u + dt*(0.16*laplace(u) - r + 0.035*(1 - u))\n"
                     "v.next = v + dt*(0.08*laplace(v) + r - 0.1*v)",
                     0.5});
  systems.push_back(
      {"heat_flux",
       dimensions,
       {"T"},
       {"k"},
       "T.next = T + dt*(" + sum_over_axes(dimensions, "d(k*d(T, @, at=0.5), @, at=-0.5)") + ")",
       0.1});
  systems.push_back({"fitzhugh_nagumo",
                     dimensions,
                     {"v", "w"},
                     {},
                     "v.next = v + dt*(laplace(v)*0.2 + v - v^3/3 - w + 0.5)\n"
                     "w.next = w + dt*0.08*(v + 0.7 - 0.8*w)",
                     0.1});
  systems.push_back(sound(dimensions));
  return systems;
}

}  // namespace

std::vector<CatalogueSystem> catalogue_systems() {
  std::vector<CatalogueSystem> systems = systems_in(3);
  for (const int dimensions : {2, 1})
    for (CatalogueSystem& system : systems_in(dimensions)) systems.push_back(std::move(system));
  systems.push_back({"yee",
                     3,
                     {"ex", "ey", "ez", "hx", "hy", "hz"},
                     {"eps"},
                     "hx.next = hx - dt*(d(ez, y, at=0.5) - d(ey, z, at=0.5))\n"
                     "hy.next = hy - dt*(d(ex, z, at=0.5) - d(ez, x, at=0.5))\n"
                     "hz.next = hz - dt*(d(ey, x, at=0.5) - d(ex, y, at=0.5))\n"
                     "ex.next = ex + dt/eps*(d(hz.next, y, at=-0.5) - d(hy.next, z, at=-0.5))\n"
                     "ey.next = ey + dt/eps*(d(hx.next, z, at=-0.5) - d(hz.next, x, at=-0.5))\n"
                     "ez.next = ez + dt/eps*(d(hy.next, x, at=-0.5) - d(hx.next, y, at=-0.5))",
                     0.3});
  systems.push_back({"yee",
                     2,
                     {"hz", "ex", "ey"},
                     {"eps"},
                     "hz.next = hz + dt*(d(ex, y, at=-0.5) - d(ey, x, at=-0.5))\n"
                     "ex.next = ex + dt/eps*d(hz.next, y, at=0.5)\n"
                     "ey.next = ey - dt/eps*d(hz.next, x, at=0.5)",
                     0.3});
  systems.push_back(
      {"elastic",
       2,
       {"vx", "vy", "sxx", "syy", "sxy"},
       {"rho", "lambda", "mu"},
       "vx.next = vx + dt/rho*(d(sxx, x, at=0.5, order=4) + d(sxy, y, at=-0.5, order=4))\n"
       "vy.next = vy + dt/rho*(d(sxy, x, at=-0.5, order=4) + d(syy, y, at=0.5, order=4))\n"
       "exx = d(vx.next, x, at=-0.5, order=4)\n"
       "eyy = d(vy.next, y, at=-0.5, order=4)\n"
       "sxx.next = sxx + dt*((lambda + 2*mu)*exx + lambda*eyy)\n"
       "syy.next = syy + dt*(lambda*exx + (lambda + 2*mu)*eyy)\n"
       "sxy.next = sxy + dt*mu*(d(vx.next, y, at=0.5, order=4) + d(vy.next, x, at=0.5, order=4))",
       0.1});
  systems.push_back({"upwind",
                     2,
                     {"u"},
                     {"wx", "wy"},
                     "u.next = u - dt*(max(wx, 0)*(u - u[0, -1]) + min(wx, 0)*(u[0, 1] - u)\n"
                     "               + max(wy, 0)*(u - u[-1, 0]) + min(wy, 0)*(u[1, 0] - u))",
                     0.3});
  for (CatalogueSystem& system : systems) system.name += "_" + std::to_string(system.dimensions) + "d";
  return systems;
}

}  // namespace spsolve
