# SPDX-License-Identifier: Apache-2.0
"""Models the examples of inputs/ that state equations, each as a step in numpy that was written from its header, not its text:
discrete operators as sums over neighbours, fluxes as differences between cells. They share no code with the program."""
import copy
import tomllib

import numpy as np

import spsolve
from rounding_model import displaced

EIGHTH = [-205 / 72, 8 / 5, -1 / 5, 8 / 315, -1 / 560]  # second derivative: the point, then its neighbours
PI = np.pi


class Model:
    """Holds one example with changed settings. `fields` are the unknowns; those in `two_levels` have a previous value, which
    follows all fields in the state. Subclasses define initial() and step(state, n)."""
    name = ""
    fields = ["u"]
    two_levels = []
    is_linear = True
    changes = {}    # settings: a small grid that shows all of the problem
    steps = 12

    def __init__(self, **changes):
        self.changes = {**self.changes, **{key.replace("__", "."): value for key, value in changes.items()}}
        sections = copy.deepcopy(tomllib.loads((spsolve.SOURCE / "inputs" / f"{self.name}.toml").read_text()))
        for key, value in self.changes.items():
            *path, last = key.split(".")
            table = sections
            for part in path:
                table = table.setdefault(part, {})
            table[last] = value
        grid = sections["grid"]
        self.shape, self.h = tuple(grid["shape"]), grid["spacing"]
        origin = grid.get("origin", [0.0] * len(self.shape))
        self.at = np.meshgrid(*[o + h * np.arange(n) for o, h, n in zip(origin, self.h, self.shape)], indexing="ij")
        self.x, self.y, self.z = [*reversed(self.at), None, None][:3]
        self.dt, self.constants = sections["time"]["dt"], sections.get("constants", {})
        self.zero = np.zeros(self.shape)
        self.prepare()

    def __getitem__(self, name):
        return self.constants[name]

    def prepare(self):
        """Computes coefficients."""

    def settings(self):
        return [word for key, value in self.changes.items() for word in ("--set", f"{key}={spsolve.toml(value)}")]

    def trajectory(self, steps=None):
        states = [self.initial()]
        for n in range(self.steps if steps is None else steps):
            states.append(self.step(states[-1], n))
        return states


def laplace(f, h, faces, weights=(-2.0, 1.0)):
    """Returns the sum of second differences; faces[axis] are the walls."""
    result = 0.0 * f
    for axis in range(len(h)):
        total = weights[0] * f
        for k in range(1, len(weights)):
            total = total + weights[k] * (displaced(f, axis, k, faces[axis]) + displaced(f, axis, -k, faces[axis]))
        result = result + total / h[axis] ** 2
    return result


def forward(f, axis, h, faces):
    """Returns the difference between the next point and this one."""
    return (displaced(f, axis, 1, faces) - f) / h[axis]


def backward(f, axis, h, faces):
    return (f - displaced(f, axis, -1, faces)) / h[axis]


def between(c, axis):
    """Returns the mean of a coefficient at this point and the next, mirrored at the ends."""
    return (c + displaced(c, axis, 1, "neumann")) / 2


def divergence_of_fluxes(u, conductance, h):
    """Returns div(k grad u) from fluxes through faces; conductance(axis, low) is that of the face at the high or at the low
    side."""
    result = 0.0 * u
    for axis in range(len(h)):
        faces = conductance.faces[axis]
        inflow = conductance(axis, True) * (u - displaced(u, axis, -1, faces)) / h[axis]
        outflow = conductance(axis, False) * (displaced(u, axis, 1, faces) - u) / h[axis]
        result = result + (outflow - inflow) / h[axis]
    return result


class Acoustic(Model):
    fields = two_levels = ["p"]

    def initial(self):
        return [self.zero, self.zero]

    def step(self, state, n):
        p, previous = state
        a = (PI * self["f0"] * (n * self.dt - self["delay"])) ** 2
        shot = 1.0e6 * (1 - 2 * a) * np.exp(-a)
        faces = [(0.0, "neumann")] + ["neumann"] * (len(self.h) - 1)
        return [self.damp * (2 * p - self.damp * previous + (self.c * self.dt) ** 2 * laplace(p, self.h, faces, EIGHTH)
                             + self.dt**2 * shot * self.source), p]


class Acoustic2D(Acoustic):
    name = "acoustic2d"
    changes = {"grid.shape": [14, 11], "grid.spacing": [230.0, 400.0], "time.dt": 0.03, "constants.f0": 3.0, "constants.rs": 300.0}

    def prepare(self):
        x, y = self.x, self.y
        self.c = np.where(y < 1000, 1500.0, np.where(y < 1800 + 0.1 * (x - 2000), 2200.0, 3200.0))
        outside = np.maximum.reduce([0 * x, 400 - x, x - 3600, y - 2600])
        self.damp = np.exp(-self["weak"] * (outside / self["width"]) ** 2)
        self.source = np.exp(-((x - self["xs"]) ** 2 + (y - self["ys"]) ** 2) / (2 * self["rs"] ** 2))


class AcousticFromFile(Acoustic):
    name = "acoustic2d_from_hdf5"
    changes = {"grid.shape": [13, 10], "grid.spacing": [250.0, 400.0], "time.dt": 0.025, "constants.f0": 3.0, "constants.rs": 300.0}

    def prepare(self):
        random = np.random.default_rng(5)
        self.datasets = {"velocity": random.uniform(1500, 4500, self.shape), "damp": random.uniform(0.9, 1.0, self.shape)}
        self.c, self.damp = self.datasets["velocity"], self.datasets["damp"]
        self.source = np.exp(-((self.x - self["xs"]) ** 2 + (self.y - self["ys"]) ** 2) / (2 * self["rs"] ** 2))


class Acoustic3D(Acoustic):
    name = "acoustic3d"
    changes = {"grid.shape": [6, 5, 7], "grid.spacing": [300.0, 390.0, 260.0], "time.dt": 0.03, "constants.f0": 3.0,
               "constants.rs": 250.0}

    def prepare(self):
        x, y, z = self.x, self.y, self.z
        self.c = np.where(z < 600 + 0.2 * (x - 800), 1500.0, np.where(z < 1100 - 0.1 * (y - 800), 2200.0, 3000.0))
        inner = self["edge"] - self["width"]
        outside = np.maximum.reduce([0 * x, z - inner, self["width"] - x, x - inner, self["width"] - y, y - inner])
        self.damp = np.exp(-self["weak"] * (outside / self["width"]) ** 2)
        self.source = np.exp(-((x - 800) ** 2 + (y - 800) ** 2 + (z - self["depth"]) ** 2) / (2 * self["rs"] ** 2))


class StandingWave(Model):
    name = "standing_wave2d"
    fields = two_levels = ["p"]
    changes = {"grid.shape": [7, 11], "constants.width": 0.12, "constants.height": 0.08}

    def cosine(self):
        """Returns cos(omega dt): 2 cos(omega dt) - 2 is the eigenvalue of the discrete (c dt)^2 laplace."""
        ratio = self["c"] * self.dt / self.h[0]
        half = [PI * m / (2 * (n + 1)) for m, n in ((self["mx"], self.shape[1]), (self["my"], self.shape[0]))]
        return 1 - 2 * ratio**2 * sum(np.sin(angle) ** 2 for angle in half)

    def mode(self):
        j, i = np.indices(self.shape) + 1
        return 0.001 * np.sin(PI * self["mx"] * i / (self.shape[1] + 1)) * np.sin(PI * self["my"] * j / (self.shape[0] + 1))

    def initial(self):
        return [self.mode(), self.cosine() * self.mode()]

    def step(self, state, n):
        p, previous = state
        return [2 * p - previous + (self["c"] * self.dt) ** 2 * laplace(p, self.h, [0.0, 0.0]), p]

    def exact(self, steps):
        omega = np.arccos(self.cosine())
        return [[np.cos(omega * n) * self.mode(), np.cos(omega * (n - 1)) * self.mode()] for n in range(steps + 1)]


class GrayScott(Model):
    name = "gray_scott"
    fields = ["u", "v"]
    is_linear = False
    changes = {"grid.shape": [9, 11], "grid.origin": [0.55, 0.58]}

    def initial(self):
        blob = np.exp(-((self.x - 0.64) ** 2 + (self.y - 0.6) ** 2) / 0.01)
        return [1 - 0.5 * blob, 0.25 * blob * (1 + 0.3 * np.sin(30 * self.x + 20 * self.y))]

    def step(self, state, n):
        u, v = state
        rate, faces = u * v * v, ["periodic"] * 2
        return [u + self.dt * (self["Du"] * laplace(u, self.h, faces) - rate + self["F"] * (1 - u)),
                v + self.dt * (self["Dv"] * laplace(v, self.h, faces) + rate - (self["F"] + self["k"]) * v)]


class HeatTwoMaterials(Model):
    name = "heat_two_materials"
    fields = ["T"]
    changes = {"grid.shape": [9, 11], "grid.spacing": [0.09, 0.06], "time.dt": 200.0}

    def prepare(self):
        concrete = (self.x < 0.3) | (np.abs(self.y - 0.4) < self["slab"] / 2)
        self.k = np.where(concrete, self["concrete"], self["wool"])
        self.capacity = np.where(concrete, 2400.0 * 900, 50.0 * 1000)
        self.faces = ["neumann", (20.0, -10.0)]

    def initial(self):
        return [self.zero + 20.0]

    def __call__(self, axis, low):
        """Returns the harmonic mean of the conductivities on both sides of a face."""
        neighbour = displaced(self.k, axis, -1 if low else 1, "neumann")
        return 2 * self.k * neighbour / (self.k + neighbour)

    def step(self, state, n):
        T, = state
        return [T + self.dt / self.capacity * divergence_of_fluxes(T, self, self.h)]


class MaskedDiffusion(Model):
    name = "masked_diffusion"
    changes = {"grid.shape": [12, 13], "grid.spacing": [0.0105, 0.0125], "time.dt": 0.9,
               "fields.u.initial": "x < 0.03 || (x > 0.1 && y < 0.03) ? 10 : 0"}  # beside solids along both axes
    faces = ["neumann", "neumann"]

    def prepare(self):
        x, y = self.x, self.y
        solid = (np.abs(x - 0.05) < 0.004) & (y < 0.09) | (np.abs(x - 0.09) < 0.004) & (y > 0.03)
        solid |= np.hypot(x - 0.125, y - 0.06) < 0.018
        self.open = 1.0 - solid

    def initial(self):
        return [np.where((self.x < 0.03) | (self.x > 0.1) & (self.y < 0.03), 10.0, 0.0)]

    def __call__(self, axis, low):
        return self.open * displaced(self.open, axis, -1 if low else 1, "neumann")

    def step(self, state, n):
        u, = state
        return [u + self["D"] * self.dt * divergence_of_fluxes(u, self, self.h)]


class Maxwell2D(Model):
    """Hz lies in the middle of cells, Ex on their upper and Ey on their right faces: axis 0 is y, axis 1 is x."""
    name = "maxwell2d"
    fields = ["Hz", "Ex", "Ey"]
    changes = {"grid.shape": [6, 9], "grid.spacing": [0.02, 0.022], "grid.origin": [0.01, 0.011], "time.dt": 4.0e-11,
               "fields.Hz.initial": "exp(-((x - 0.06)^2 + (y - 0.05)^2) / (2*0.03^2))"}

    def prepare(self):
        self.eps = self["eps0"] * np.where(self.x < 0.1, 1.0, 4.0)

    def initial(self):
        return [np.exp(-((self.x - 0.06) ** 2 + (self.y - 0.05) ** 2) / (2 * 0.03**2)), self.zero, self.zero]

    def step(self, state, n):
        Hz, Ex, Ey = state
        wall = (0.0, "neumann")  # below the lowest face lies the wall; nothing is read above the highest
        Hz = Hz + self.dt / self["mu0"] * (backward(Ex, 0, self.h, wall) - backward(Ey, 1, self.h, wall))
        Ex = Ex + self.dt / between(self.eps, 0) * forward(Hz, 0, self.h, "neumann")
        Ey = Ey - self.dt / between(self.eps, 1) * forward(Hz, 1, self.h, "neumann")
        return [Hz, Ex, Ey]


class Maxwell3D(Model):
    name = "maxwell3d"
    fields = ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"]
    changes = {"grid.shape": [5, 3, 5], "grid.spacing": [0.008, 0.007, 0.008], "grid.origin": [0.004, 0.0035, 0.004],
               "constants.h": 0.008, "time.dt": 1.2e-11, "coefficients.eps": "eps0 * (1 + 5*(x > 0.02) + 3*(y > 0.01) + 2*(z > 0.02))"}
    steps = 8

    def prepare(self):
        self.eps = self["eps0"] * (1 + 5 * (self.x > 0.02) + 3 * (self.y > 0.01) + 2 * (self.z > 0.02))

    def initial(self):
        h, size = self["h"], self["size"]
        mode = np.sin(PI * (self.x + h / 2) / size) * np.sin(PI * (self.z + h / 2) / size)
        mode[:, :, -1] = mode[-1] = 0.0  # points on the high walls
        return [self.zero, mode, *[self.zero] * 4]

    def step(self, state, n):
        E, H = list(state[:3]), list(state[3:])  # components x, y, z along axes 2, 1, 0
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            eps = between(between(self.eps, 2 - b), 2 - c)
            curl = forward(H[c], 2 - b, self.h, "neumann") - forward(H[b], 2 - c, self.h, "neumann")
            E[a] = E[a] + self.dt / eps * curl
        wall = (0.0, "neumann")
        for a, b, c in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            curl = backward(E[c], 2 - b, self.h, wall) - backward(E[b], 2 - c, self.h, wall)
            H[a] = H[a] - self.dt / self["mu0"] * curl
        return E + H


class Elastic(Model):
    name = "elastic2d"
    fields = ["vx", "vy", "sxx", "syy", "sxy"]
    changes = {"grid.shape": [10, 9], "grid.spacing": [190.0, 250.0], "time.dt": 0.03, "constants.f0": 3.0, "constants.rs": 200.0}

    def prepare(self):
        x, y = self.x, self.y
        deep = y > 900 + 0.15 * (x - 1000)
        self.rho, vp, vs = np.where(deep, 2400.0, 2000.0), np.where(deep, 3000.0, 1500.0), np.where(deep, 1730.0, 870.0)
        self.mu = self.rho * vs**2
        self.lame = self.rho * vp**2 - 2 * self.mu
        width = self["width"]
        outside = np.maximum.reduce([0 * x, width - x, x - 2190 + width, width - y, y - 1790 + width])
        self.damp = np.exp(-0.05 * (outside / width) ** 2)
        self.source = np.exp(-((x - 1000) ** 2 + (y - 600) ** 2) / (2 * self["rs"] ** 2))

    def initial(self):
        return [self.zero] * 5

    def slope(self, f, axis, first):
        """Returns the derivative of fourth order between two points: this one and the one below if first is -1, or the next if
        it is 0."""
        near = displaced(f, axis, first + 1, 0.0) - displaced(f, axis, first, 0.0)
        far = displaced(f, axis, first + 2, 0.0) - displaced(f, axis, first - 1, 0.0)
        return (9 / 8 * near - 1 / 24 * far) / self.h[axis]

    def step(self, state, n):
        vx, vy, sxx, syy, sxy = state
        dt, damp, down, along = self.dt, self.damp, 0, 1
        a = (PI * self["f0"] * (n * dt - self["delay"])) ** 2
        explosion = 1.0e9 * (1 - 2 * a) * np.exp(-a) * self.source
        vx = damp * (vx + dt / between(self.rho, along) * (self.slope(sxx, along, 0) + self.slope(sxy, down, -1)))
        vy = damp * (vy + dt / between(self.rho, down) * (self.slope(sxy, along, -1) + self.slope(syy, down, 0)))
        stretch_x, stretch_y = self.slope(vx, along, -1), self.slope(vy, down, -1)
        stiff = self.lame + 2 * self.mu
        sxx = damp * (sxx + dt * (stiff * stretch_x + self.lame * stretch_y + explosion))
        syy = damp * (syy + dt * (self.lame * stretch_x + stiff * stretch_y + explosion))
        soft = 1 / between(between(1 / self.mu, along), down)
        sxy = damp * (sxy + dt * soft * (self.slope(vx, down, 0) + self.slope(vy, along, 0)))
        return [vx, vy, sxx, syy, sxy]


class Schroedinger(Model):
    name = "schroedinger2d"
    fields = ["re", "im"]
    changes = {"grid.shape": [11, 9], "grid.origin": [13.4, 18.0], "constants.xp": 18.5}

    def prepare(self):
        is_wall = (np.abs(self.x - 19) < 0.5) & (np.abs(np.abs(self.y - self["yp"]) - 2) > 0.7)
        self.V = np.where(is_wall, self["wall"], 0.0)

    def initial(self):
        packet = np.exp(-((self.x - self["xp"]) ** 2 + (self.y - self["yp"]) ** 2) / (2 * self["width"] ** 2))
        phase = self["k"] * (self.x - self["xp"])
        return [packet * np.cos(phase), packet * np.sin(phase)]

    def hamiltonian(self, f):
        return self.V * f - 0.5 * laplace(f, self.h, [0.0, 0.0])

    def step(self, state, n):
        re, im = state
        re = re + self.dt * self.hamiltonian(im)
        return [re, im - self.dt * self.hamiltonian(re)]


class RotatingWind(Model):
    name = "rotating_wind"
    fields = ["s"]
    changes = {"grid.shape": [12, 12], "grid.spacing": [1000 / 12] * 2, "grid.origin": [500 / 12] * 2, "constants.h": 1000 / 12,
               "time.dt": 5.0}

    def prepare(self):
        """Returns winds through all faces, those of the walls included: differences of psi between the corners of cells."""
        n, size = self.shape[0], self["size"]
        corner = np.sin(PI * np.arange(n + 1) / n)
        psi = self["speed"] * size / PI * np.outer(corner, corner)  # [y, x]
        self.across, self.up = np.diff(psi, axis=0) / self.h[0], -np.diff(psi, axis=1) / self.h[1]

    def initial(self):
        return [np.exp(-((self.x - 500) ** 2 + (self.y - 700) ** 2) / (2 * 60.0**2))]

    def step(self, state, n):
        s, = state
        out = 0.0 * s
        for axis, low, high in ((1, self.across[:, :-1], self.across[:, 1:]), (0, self.up[:-1], self.up[1:])):
            before, after = displaced(s, axis, -1, "neumann"), displaced(s, axis, 1, "neumann")
            out = out + (np.maximum(high, 0) * s + np.minimum(high, 0) * after
                         - np.maximum(low, 0) * before - np.minimum(low, 0) * s) / self.h[axis]
        return [s - self.dt * out]


class FisherKpp(Model):
    name = "fisher_kpp"
    is_linear = False
    changes = {"grid.shape": [37], "grid.origin": [2.0]}

    def initial(self):
        return [np.where(self.x < 10, 1.0, 0.0)]

    def step(self, state, n):
        u, = state
        return [u + self.dt * (self["D"] * laplace(u, self.h, ["neumann"]) + self["r"] * u * (1 - u))]


class FitzHughNagumo(Model):
    name = "fitzhugh_nagumo"
    fields = ["u", "v"]
    is_linear = False
    changes = {"grid.shape": [9, 11], "grid.origin": [71.0, 70.0]}

    def initial(self):
        return [np.where((self.x < 75) & (self.y < 75), 1.0, 0.0), np.where(self.y < 75, 0.0, 0.1)]

    def step(self, state, n):
        u, v = state
        growth = u * (1 - u) * (u - self["a"])
        return [u + self.dt * (self["D"] * laplace(u, self.h, ["neumann"] * 2) + growth - v),
                v + self.dt * self["epsilon"] * (self["b"] * u - v)]


class LatticeBoltzmann(Model):
    """Populations of particles that go by one of nine velocities (along y, along x), each with its weight at rest."""
    name = "lattice_boltzmann2d"
    velocities = [(0, 0), (0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1)]
    weights = [4 / 9] + [1 / 9] * 4 + [1 / 36] * 4
    fields = [f"f{i}" for i in range(9)]
    is_linear = False
    changes = {"grid.shape": [5, 6], "constants.U": 0.3, "constants.K": 1.1}

    def prepare(self):
        self.wave_y, self.wave_x = np.sin(self["K"] * self.y), np.sin(self["K"] * self.x)

    def initial(self):
        return [w * (1 + 3 * self["U"] * (cx * self.wave_y + cy * self.wave_x)) for w, (cy, cx) in zip(self.weights, self.velocities)]

    def velocity(self, state):
        """Returns the velocity along y and x."""
        return [sum(c[axis] * f for c, f in zip(self.velocities, state)) for axis in range(2)]

    def step(self, state, n):
        moved = [displaced(displaced(f, 0, -cy, "periodic"), 1, -cx, "periodic") for f, (cy, cx) in zip(state, self.velocities)]
        uy, ux = self.velocity(moved)
        rest, relaxed = sum(moved) - 1.5 * (ux * ux + uy * uy), []
        for f, w, (cy, cx) in zip(moved, self.weights, self.velocities):
            along = cy * uy + cx * ux
            relaxed.append(f + (w * (rest + 3 * along + 4.5 * along * along) - f) / self["tau"])
        return relaxed


MODELS = [Acoustic2D, AcousticFromFile, Acoustic3D, StandingWave, GrayScott, HeatTwoMaterials, MaskedDiffusion, Maxwell2D, Maxwell3D,
          Elastic, Schroedinger, RotatingWind, FisherKpp, FitzHughNagumo, LatticeBoltzmann]
