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

/// Returns the lattice Boltzmann method with nine velocities in 2D: populations f0 at rest and f1 to f8,
/// which move on to a neighbour and relax there towards their equilibrium, for densities about 5.
CatalogueSystem lattice_boltzmann() {
  constexpr int x[]{0, 1, 0, -1, 0, 1, -1, -1, 1}, y[]{0, 0, 1, 0, -1, 1, 1, -1, -1};
  CatalogueSystem system{"lattice_boltzmann", 2, {}, {}, "", 1};
  std::string arriving, density, along_x, along_y, collisions;
  for (int i = 0; i < 9; ++i) {
    const std::string f = "f" + std::to_string(i), a = "a" + std::to_string(i);
    const auto times = [](int v, const std::string& u) { return v == 0 ? "" : (v > 0 ? " + " : " - ") + u; };
    system.fields.push_back(f);
    arriving += a + " = " + f + "[" + std::to_string(-y[i]) + ", " + std::to_string(-x[i]) + "]\n";
    density += " + " + a;
    along_x += times(x[i], a);
    along_y += times(y[i], a);
    const std::string speed = times(x[i], "ux") + times(y[i], "uy");
    const std::string weight = i == 0 ? "4/9" : i < 5 ? "1/9" : "1/36";
    collisions += f + ".next = " + a + " + (" + weight + "*(rest" +
                  (i == 0 ? "" : " + 3*(" + speed + ") + 0.9*(" + speed + ")^2") + ") - " + a + ")/0.8\n";
  }
  system.step = arriving + "ux = " + along_x + "\nuy = " + along_y + "\nrest = " + density +
                " - 0.3*(ux^2 + uy^2)\n" + collisions;
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
  systems.push_back(
      {"fisher_kpp", dimensions, {"u"}, {}, "u.next = u + dt*(0.2*laplace(u) + u*(1 - u))", 0.3});
  systems.push_back({"schroedinger",
                     dimensions,
                     {"re", "im"},
                     {"V"},
                     "re.next = re + dt*(V*im - 0.5*laplace(im))\n"
                     "im.next = im - dt*(V*re.next - 0.5*laplace(re.next))",
                     0.2});
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
  systems.push_back({"rotating_wind",
                     2,
                     {"s"},
                     {},
                     "psi = 8*sin((x + 0.5)/16)*sin((y + 0.5)/16)\n"
                     "east = d(psi, y, at=-0.5)\n"
                     "north = -d(psi, x, at=-0.5)\n"
                     "fx = max(east, 0)*s + min(east, 0)*s[0, 1]\n"
                     "fy = max(north, 0)*s + min(north, 0)*s[1, 0]\n"
                     "s.next = s - dt*(d(fx, x, at=-0.5) + d(fy, y, at=-0.5))",
                     0.5});
  systems.push_back({"masked_diffusion",
                     2,
                     {"u"},
                     {"open"},
                     "fx = open*open[0, 1]*d(u, x, at=0.5)\n"
                     "fy = open*open[1, 0]*d(u, y, at=0.5)\n"
                     "u.next = u + dt*(d(fx, x, at=-0.5) + d(fy, y, at=-0.5))",
                     0.2});
  systems.push_back({"two_materials",
                     2,
                     {"T"},
                     {"k", "capacity"},
                     "qx = -d(T, x, at=0.5)/mean(1/k, x, at=0.5)\n"
                     "qy = -d(T, y, at=0.5)/mean(1/k, y, at=0.5)\n"
                     "T.next = T - dt/capacity*(d(qx, x, at=-0.5) + d(qy, y, at=-0.5))",
                     0.1});
  systems.push_back(lattice_boltzmann());
  for (CatalogueSystem& system : systems) system.name += "_" + std::to_string(system.dimensions) + "d";
  return systems;
}

}  // namespace spsolve
