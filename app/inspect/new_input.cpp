// SPDX-License-Identifier: Apache-2.0
#include "app/inspect/new_input.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdio>
#include <utility>

#include "halo/collectively.hpp"
#include "io/text_file.hpp"
#include "kernels/error.hpp"

namespace spsolve {
namespace {

constexpr std::string_view heat =
    R"toml(# Heat spreads in a plate that is warm at one edge, cold at the opposite one and insulated at the others.
#
#   u_t = D laplace(u)

[grid]
shape  = [80, 120]                  # points: [y, x]
extent = [0.2, 0.3]                 # m, between the walls, which begin at 0

[boundary]
x = { low = { value = 80.0 }, high = { value = 20.0 } }   # degrees Celsius
y = "neumann"                       # insulated

[stencil]
preset      = "heat"
diffusivity = 3.4e-5                # m^2/s
dt          = 0.04                  # s; stable up to h^2 / (4 D) = 0.046

[initial]
expression = "20 + 40*exp(-((x - 0.15)^2 + (y - 0.1)^2) / 0.03^2)"

[time]
end = 20.0                          # s

[output]
every = 100                         # steps

[diagnostics]
every = 50                          # steps

[[images]]                          # pictures heat_<step>.png
name     = "heat"
value    = "u"
every    = 100                      # steps
range    = [20.0, 80.0]
colormap = "magma"
)toml";

constexpr std::string_view waves =
    R"toml(# A source sends waves through two layers, and receivers record them.
#
#   p_tt = c^2 laplace(p)

[grid]
shape  = [200, 300]                 # points: [y, x]
extent = [2000.0, 3000.0]           # m, between the walls, which begin at 0

[boundary]
x = { dirichlet = 0.0 }             # waves are reflected
y = { dirichlet = 0.0 }

[constants]
f0 = 10.0                           # Hz, of the source

[coefficients]
c = "y < 1000 ? 1500 : 2500"        # m/s, speed of waves; or { file = "model.h5", dataset = "/c" }

[fields.p]
initial = 0.0

[equations]
step = """
  p.next = 2*p - p.previous + (c*dt)^2 * laplace(p, order=4)
"""

[[point_sources]]
at    = [500.0, 1500.0]             # m: [y, x]
value = "(c*dt)^2 * ricker(t - 0.12, f0)"

[[probes]]                          # probes.h5
name = "receivers"
at   = [[100.0, 1000.0], [100.0, 2000.0]]

[time]
dt  = 2.0e-3                        # s; stable up to about 0.6 h / c = 2.4e-3
end = 1.0

[diagnostics]
every = 50                          # steps

[[images]]                          # pictures waves_<step>.png
name     = "waves"
value    = "p"
every    = 100                      # steps
colormap = "blue-red"
)toml";

constexpr std::string_view reaction = R"toml(# Two chemicals react, spread and form stripes (Gray and Scott).
#
#   u_t = Du laplace(u) - u v^2 + F (1 - u)
#   v_t = Dv laplace(v) + u v^2 - (F + k) v

[grid]
shape  = [128, 128]                 # points: [y, x]
extent = [1.28, 1.28]               # the walls begin at 0

[boundary]
x = "periodic"
y = "periodic"

[constants]
Du = 2.0e-5
Dv = 1.0e-5
F  = 0.037                          # u is fed at this rate
k  = 0.06

[fields.u]
initial = "1 - 0.5*exp(-((x - 0.64)^2 + (y - 0.6)^2) / 0.01)"

[fields.v]
initial = "0.25*exp(-((x - 0.64)^2 + (y - 0.6)^2) / 0.01) * (1 + 0.3*sin(30*x + 20*y))"

[equations]
step = """
  rate   = u*v^2                    # a shorthand: any name that is no field
  u.next = u + dt*(Du*laplace(u) - rate + F*(1 - u))
  v.next = v + dt*(Dv*laplace(v) + rate - (F + k)*v)
"""

[time]
dt    = 1.0                         # stable up to h^2 / (4 Du) = 1.25
steps = 2000

[diagnostics]
every = 200                         # steps

[[images]]                          # pictures stripes_<step>.png
name  = "stripes"
value = "v"
every = 500                         # steps
)toml";

constexpr std::string_view advection = R"toml(# A wind carries a cloud, which spreads meanwhile.
#
#   u_t = D laplace(u) - v grad(u) + s

[grid]
shape  = [200, 200]                 # points: [y, x]
extent = [1.0, 1.0]                 # m; the walls begin at 0

[boundary]
x = "periodic"
y = "periodic"

[stencil]
preset      = "advection-diffusion"
velocity    = [0.2, 1.0]            # m/s: [y, x]
diffusivity = 2.0e-3                # m^2/s
dt          = 2.0e-3                # s; stable up to min(h^2 / (4 D), 2 D / |v|^2) = 3.1e-3

[initial]
expression = "exp(-((x - 0.3)^2 + (y - 0.3)^2) / 0.05^2)"

[source]                            # what is added, here per second
expression = "0.2*exp(-((x - 0.7)^2 + (y - 0.6)^2) / 0.03^2)"
rate       = true

[time]
end = 1.0                           # s

[output]
every = 100                         # steps

[diagnostics]
every = 50                          # steps

[[images]]                          # pictures cloud_<step>.png
name  = "cloud"
value = "u"
every = 100                         # steps
)toml";

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> inputs{
    {{"heat", heat}, {"waves", waves}, {"reaction", reaction}, {"advection", advection}}};

}  // namespace

std::vector<std::string> kinds_of_inputs() {
  std::vector<std::string> kinds;
  for (const auto& [kind, text] : inputs) kinds.emplace_back(kind);
  return kinds;
}

std::string_view text_of_input(std::string_view kind) {
  for (const auto& [known, text] : inputs)
    if (known == kind) return text;
  throw Error(Status::invalid_input, fmt::format("there is no input of the kind '{}'", kind));
}

void write_input(const Communicator& communicator, std::string_view kind, const std::filesystem::path& file) {
  const std::string text(text_of_input(kind));
  on_root(communicator, [&] {
    if (is_stream(file)) return write_text(file, text);
    std::error_code none;
    if (std::filesystem::exists(std::filesystem::symlink_status(file, none)))
      throw Error(Status::invalid_input, fmt::format("{}: there is a file of this name", file.string()));
    write_text(file, text);
    std::printf("%s: an input to begin with; run it by\n  spsolve %s\n", file.c_str(), file.c_str());
  });
}

}  // namespace spsolve
